"""`tenure up` as a real process: it lets in, runs jobs, and stops without losing any."""

from __future__ import annotations

import re
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tenure import State, Tenure
from tests.cli.conftest import SHOP, Shop
from tests.support.until import until
from tests.support.up import Up, up

HELD = """
import pathlib, time
from tenure import Tenure

app = Tenure()

@app.job("hold")
def hold(job):
    job.log("at it")
    while not pathlib.Path("let-go").exists() and not job.canceled:
        time.sleep(0.01)
    return None if job.canceled else "let go"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Empty but for two apps."""
    (tmp_path / "shop.py").write_text(SHOP)
    (tmp_path / "held.py").write_text(HELD)
    monkeypatch.delenv("TENURE_DATABASE_URL", raising=False)
    return tmp_path


@pytest.fixture
def demo(folder: Path) -> Iterator[Up]:
    with up(folder, "--demo") as running:
        yield running


def state_of(client: httpx.Client, job_id: str) -> str:
    return str(client.get(f"/api/jobs/{job_id}").json()["state"])


def listed(client: httpx.Client) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get("/api/jobs").json()["items"]
    return found


def test_the_link_lets_in_once(demo: Up, folder: Path) -> None:
    with demo.client() as client:
        session = client.get("/session").json()

        assert session["permissions"] == ["read", "write", "admin"]
        assert client.get("/").headers["content-type"].startswith("text/html")
    again = httpx.get(demo.link)
    assert (again.status_code, "set-cookie" in again.headers) == (401, False)
    assert (folder / "tenure.db").exists()


def test_the_command_for_another_link_can_be_pasted(folder: Path) -> None:
    """Also where the database is not the one that commands take by themselves."""
    with up(folder, "--database", "sqlite:///other place.db") as running:
        assert running.process.stdout is not None
        pasted = next(running.process.stdout).partition("another: tenure ")[2]
        command = [sys.executable, "-m", "tenure", *shlex.split(pasted)]
        made = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
        assert httpx.get(made.stdout.strip()).status_code == 303

    assert not (folder / "tenure.db").exists()


def test_nobody_is_let_in_without_it(demo: Up) -> None:
    assert httpx.get(f"{demo.url}/api/jobs").status_code == 401
    assert httpx.post(f"{demo.url}/api/jobs", json={"kind": "demo.mail"}).status_code == 401


def test_a_session_changes_nothing_without_its_token(demo: Up) -> None:
    with demo.client() as client:
        del client.headers["x-csrf-token"]

        assert client.post("/api/jobs", json={"kind": "demo.mail"}).status_code == 403


def test_the_sample_jobs_show_every_ending(demo: Up) -> None:
    expected = ["queued", "running", "failed", "dead", *["succeeded"] * 4]
    with demo.client() as client:
        until(lambda: [job["state"] for job in listed(client)] == expected)
        running = next(job for job in listed(client) if job["state"] == "running")
        until(lambda: client.get(f"/api/jobs/{running['jobId']}").json()["progress"])
        later = client.get(f"/api/jobs/{listed(client)[0]['jobId']}").json()

    assert later["why"]["code"] == "run_at"


def test_jobs_over_http_run_in_the_same_process(folder: Path) -> None:
    with up(folder, "--app", "shop:app") as running, running.client() as client:
        added = client.post("/api/jobs", json={"kind": "add", "payload": {"a": 1}}).json()

        until(lambda: state_of(client, added["jobId"]) == "succeeded")
        [worker] = client.get("/api/workers").json()["items"]
        assert worker["pid"] == running.process.pid
        assert client.get(f"/api/jobs/{added['jobId']}").json()["result"] == 3


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_the_running_job_finish(folder: Path, number: signal.Signals) -> None:
    with up(folder, "--app", "held:app") as running:
        with running.client() as client:
            added = client.post("/api/jobs", json={"kind": "hold"}).json()
            until(lambda: state_of(client, added["jobId"]) == "running")
            with client.stream("GET", "/api/events") as events:
                lines = events.iter_lines()
                next(lines)
                running.process.send_signal(number)
                list(lines)  # ends: streams are closed first
        until(lambda: refused(running.url))
        (folder / "let-go").touch()

        assert running.stop() == 0, running.said
    job = Tenure(f"sqlite:///{folder / 'tenure.db'}").get(added["jobId"])
    assert (job.state, job.result, job.attempt) == (State.SUCCEEDED, "let go", 1)


def test_a_second_signal_gives_the_running_job_back(folder: Path) -> None:
    with up(folder, "--app", "held:app") as running:
        with running.client() as client:
            added = client.post("/api/jobs", json={"kind": "hold"}).json()
            until(lambda: state_of(client, added["jobId"]) == "running")
        running.process.send_signal(signal.SIGTERM)
        until(lambda: refused(running.url))

        assert running.stop(signal.SIGTERM) == 0, running.said
    job = Tenure(f"sqlite:///{folder / 'tenure.db'}").get(added["jobId"])
    assert (job.state, job.attempt, job.refunds) == (State.QUEUED, 0, 1)


def refused(url: str) -> bool:
    try:
        httpx.get(f"{url}/v1/health/live")
    except httpx.TransportError:
        return True
    return False


@pytest.mark.crash
def test_worker_processes_run_beside_the_api_and_are_replaced(folder: Path) -> None:
    with up(folder, "--app", "shop:app", "--workers", "2") as running:
        with running.client() as client:
            until(lambda: len(alive(client)) == 2)
            victim = alive(client)[0]
            signal_process(victim)
            until(lambda: any(pid != victim for pid in set(alive(client)) - {victim}))
            until(lambda: len(set(alive(client)) - {victim}) == 2)
            added = client.post("/api/jobs", json={"kind": "add", "payload": {"a": 1}}).json()
            until(lambda: state_of(client, added["jobId"]) == "succeeded")
            assert running.process.pid not in alive(client)
            pids = alive(client)

        assert running.stop(signal.SIGTERM) == 0, running.said
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))


@pytest.mark.crash
def test_worker_processes_die_with_a_killed_service(folder: Path) -> None:
    with up(folder, "--app", "shop:app", "--workers", "2") as running:
        with running.client() as client:
            until(lambda: len(alive(client)) == 2)
            pids = alive(client)
        running.process.kill()
        until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))


def alive(client: httpx.Client) -> list[int]:
    found = client.get("/api/workers").json()["items"]
    return [worker["pid"] for worker in found if worker["alive"]]


def signal_process(pid: int) -> None:
    subprocess.run(["kill", "-KILL", str(pid)], check=True)


def test_a_port_in_use_is_said_and_nothing_starts(empty_shop: Shop) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = empty_shop.call("up", "--port", str(port), "--no-open")

    assert result.exit_code == 2
    assert f"port {port} on 127.0.0.1 is in use" in result.output
    assert not (empty_shop.folder / "shop.db").exists()


def test_another_address_is_refused_without_identity(empty_shop: Shop) -> None:
    result = empty_shop.call("up", "--host", "0.0.0.0", "--port", "0", "--no-open")  # noqa: S104

    assert result.exit_code == 2
    assert "binding_refused" in result.output


def test_another_address_serves_who_has_a_key(shop: Shop) -> None:
    key = shop.read("keys", "create", "ci", "--permission", "read")["key"]
    command = [sys.executable, "-m", "tenure", "up", "--host", "0.0.0.0", "--port", "0"]  # noqa: S104
    process = subprocess.Popen(command, cwd=shop.folder, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        port = next(found[1] for line in process.stdout if (found := re.search(r":(\d+)/ ", line)))
        answer = httpx.get(f"http://127.0.0.1:{port}/api/jobs", headers={"x-api-key": key})
        assert answer.status_code == 200
        process.terminate()
        assert "login" not in process.communicate(timeout=20)[0]
        assert process.returncode == 0
    finally:
        process.kill()
        process.wait()


def test_sample_jobs_belong_to_the_sample_app(empty_shop: Shop) -> None:
    result = empty_shop.call("up", "--app", "shop:app", "--demo")

    assert result.exit_code == 2
    assert "no_sample" in result.output


@pytest.mark.parametrize("options", [(), ("--workers", "2")])
def test_an_app_that_cannot_be_imported_is_said(empty_shop: Shop, options: tuple[str, ...]) -> None:
    done = empty_shop.run("up", "--app", "nowhere:app", "--port", "0", *options)

    assert done.returncode == 2
    assert "no module 'nowhere'" in done.stderr
