"""`tenure worker` and `tenure tick` as real programs."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path

import pytest

from tenure import State
from tests.cli.conftest import Shop
from tests.support.until import until

README = Path(__file__).parents[2] / "README.md"
UNREACHABLE = "postgresql://someone:secret@127.0.0.1:1/nowhere"


@pytest.mark.parametrize("processes", ["1", "2"])
def test_a_worker_runs_jobs_until_it_is_told_to_stop(shop: Shop, processes: str) -> None:
    worker = shop.start("worker", "--app", "shop:app", "--processes", processes)
    for kind in ("add", "boom", "refuse"):
        shop.run("enqueue", kind, "--payload", '{"a":1}' if kind == "add" else "{}",
                 "--app", "shop:app")  # fmt: skip
    engine = shop.engine

    until(lambda: all(job.state.final for job in engine.insight.stream()))
    worker.send_signal(signal.SIGTERM)
    said, _ = worker.communicate(timeout=20)

    assert worker.returncode == 0
    assert [engine.get(number).state for number in "123"] == ["succeeded", "dead", "failed"]
    assert "started; slots: default 10, long 10" in said
    assert "job 2 (boom) failed attempt 1, to be retried in 0.0 s: ValueError: no luck" in said
    assert "job 2 (boom) is dead after attempt 2: ValueError: no luck" in said
    assert "job 3 (refuse) failed for good at attempt 1: Fail: never" in said
    assert "worker stopping: nothing runs" in said
    assert "Traceback" not in said


def test_a_second_signal_gives_everything_back_at_once(shop: Shop) -> None:
    worker = shop.start("worker", "--app", "shop:app", "--queue", "long=1", "--lease-seconds", "30")
    shop.call("enqueue", "hang", "--queue", "long")
    until(lambda: shop.engine.get("1").state is State.RUNNING)

    worker.send_signal(signal.SIGINT)
    assert worker.stdout is not None
    until(lambda: "worker stopping: waiting for 1 running" in worker.stdout.readline())  # type: ignore[union-attr]
    worker.send_signal(signal.SIGINT)
    worker.communicate(timeout=20)

    assert worker.returncode == 0
    assert shop.engine.get("1").state is State.QUEUED


def test_a_quiet_worker_says_nothing_and_is_listed(shop: Shop) -> None:
    worker = shop.start("worker", "--app", "shop:app", "--quiet", "--queue", "default=3")
    (listed,) = until(lambda: shop.items("workers"))
    text = shop.call("workers").stdout
    worker.send_signal(signal.SIGTERM)
    said, _ = worker.communicate(timeout=20)

    assert (listed["pid"], listed["queues"]) == (worker.pid, {"default": 3})
    assert listed["workerId"] in text
    assert said == ""
    assert "no workers" in shop.call("workers").stdout


@pytest.mark.parametrize("processes", ["1", "2"])
@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("nowhere:app", "no module 'nowhere'"),
        ("shop", "must be MODULE:OBJECT"),
        ("shop:missing", "its apps: app, other"),
        ("shop:not_an_app", "is not a Tenure app but of type int"),
        ("broken:app", "ZeroDivisionError"),
    ],
)
def test_an_app_that_cannot_be_used_is_one_line(
    shop: Shop, name: str, problem: str, processes: str
) -> None:
    (shop.folder / "broken.py").write_text("1 / 0")

    result = shop.run("worker", "--app", name, "--processes", processes)

    assert result.returncode == 2
    assert problem in result.stderr
    assert result.stderr.count("\n") == 1
    assert "[bad_app]" in result.stderr


def test_an_outage_is_told_once_and_does_not_end_the_worker(shop: Shop) -> None:
    worker = shop.start("worker", "--app", "shop:app", "--quiet", "--database", UNREACHABLE)
    assert worker.stdout is not None
    first = worker.stdout.readline()
    still_there = worker.poll() is None
    worker.send_signal(signal.SIGTERM)
    rest, _ = worker.communicate(timeout=20)

    assert "database unavailable, trying again: " in first
    assert (still_there, worker.returncode, rest) == (True, 0, "")
    assert "secret" not in first


@pytest.mark.parametrize("command", ["worker", "tick", "enqueue"])
def test_a_wrong_setting_is_named_and_not_the_app(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("TENURE_LEASE_SECONDS", "soon")
    words = ["add"] if command == "enqueue" else []

    result = shop.run(command, *words, "--app", "shop:app")

    assert (result.returncode, result.stderr.count("\n")) == (2, 1)
    assert result.stderr.startswith("error: TENURE_LEASE_SECONDS: Input should be a valid number")
    assert result.stderr.endswith("[bad_settings]\n")


def test_a_wrong_setting_of_the_app_itself_is_the_apps(shop: Shop) -> None:
    code = "import pydantic\nclass Settings(pydantic.BaseModel):\n    colour: str\nSettings()\n"
    (shop.folder / "picky.py").write_text(code)

    result = shop.run("tick", "--app", "picky:app")

    assert result.returncode == 2
    assert result.stderr.startswith("error: importing 'picky' failed: ValidationError")
    assert "TENURE_COLOUR" not in result.stderr


def test_an_empty_url_is_the_urls_fault_and_not_the_apps(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_option = shop.run("tick", "--app", "shop:app", "--database", "")
    monkeypatch.setenv("TENURE_DATABASE_URL", "")
    by_variable = shop.run("tick", "--app", "shop:app")

    for result in (by_option, by_variable):
        assert (result.returncode, result.stderr.count("\n")) == (2, 1)
        assert result.stderr.endswith("[bad_url]\n")


def test_a_worker_of_the_readmes_app_enqueues_nothing(shop: Shop) -> None:
    code = re.search(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert code
    (shop.folder / "quick.py").write_text(code[1])

    tick = shop.run("tick", "--app", "quick:app", "--json")

    assert json.loads(tick.stdout)["processed"] == 0, tick.stderr
    database = f"sqlite:///{shop.folder / 'tenure.db'}"
    assert shop.read("jobs", "list", "--database", database)["items"] == []


def test_an_app_with_a_database_of_its_own_is_not_moved_to_another(shop: Shop) -> None:
    result = shop.run("worker", "--app", "shop:other", "--database", shop.url)

    assert result.returncode == 2
    assert "names a database of its own" in result.stderr


@pytest.mark.parametrize("slots", ["pdf=0", "pdf=x", "=2"])
def test_slots_are_a_name_and_a_number(shop: Shop, slots: str) -> None:
    assert shop.call("worker", "--app", "shop:app", "--queue", slots).exit_code == 2


def test_a_tick_reports_what_it_did(shop: Shop) -> None:
    shop.call("enqueue", "add", "--payload", '{"a": 1}')

    first = shop.run("tick", "--app", "shop:app", "--json")
    second = shop.run("tick", "--app", "shop:app")

    assert first.returncode == second.returncode == 0
    report = json.loads(first.stdout)
    assert (report["processed"], report["failed"]) == (1, False)
    assert second.stdout.splitlines()[2].split()[:2] == ["jobs", "0"]


def test_a_tick_with_a_runner_that_failed_is_exit_code_1(shop: Shop) -> None:
    code = "from shop import app\nclass R:\n    name = 'sweep'\n    def run(self, budget): 1 / 0\n"
    (shop.folder / "ticking.py").write_text(code + "app.runners.append(R())\n")

    result = shop.run("tick", "--app", "ticking:app")

    assert result.returncode == 1
    assert "ZeroDivisionError" in result.stdout
