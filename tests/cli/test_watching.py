"""`tenure worker` watched: log lines, metrics at a port for each process."""

from __future__ import annotations

import json
import signal
import socket
import subprocess

import httpx
import pytest

from tests.cli.conftest import Shop
from tests.support.until import until


def free_ports(count: int) -> int:
    """The first of so many free ports in a row."""
    for _ in range(50):
        with socket.create_server(("127.0.0.1", 0)) as probe:
            first = int(probe.getsockname()[1])
        try:
            for port in range(first, first + count):
                socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        return first
    raise AssertionError("no free ports in a row")


def scraped(port: int) -> str:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/metrics").text
    except httpx.TransportError:
        return ""


def stop(worker: subprocess.Popen[str]) -> str:
    worker.send_signal(signal.SIGTERM)
    said, _ = worker.communicate(timeout=20)
    assert worker.returncode == 0, said
    return said


def test_each_process_has_a_port_of_its_own(shop: Shop) -> None:
    port = free_ports(2)
    worker = shop.start(
        "worker", "--app", "shop:app", "--processes", "2", "--metrics-port", str(port)
    )
    for at in (port, port + 1):
        until(lambda at=at: "poller_running 1.0" in scraped(at))  # type: ignore[misc]
    said = stop(worker)

    for at in (port, port + 1):
        assert f"metrics at http://127.0.0.1:{at}/metrics" in said


def test_a_port_that_is_taken_is_said_once(shop: Shop) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for processes in ("1", "2"):
            result = shop.run("worker", "--app", "shop:app", "--metrics-port", port,
                              "--processes", processes)  # fmt: skip

            assert (result.returncode, result.stderr.count("\n")) == (2, 1), result.stderr
            assert "Address already in use" in result.stderr


def test_metrics_for_everybody_need_a_token(shop: Shop) -> None:
    result = shop.run("worker", "--app", "shop:app", "--metrics-port", "0",
                      "--metrics-host", "0.0.0.0")  # noqa: S104 # fmt: skip

    assert result.returncode == 2
    assert "TENURE_METRICS_TOKEN" in result.stderr


def test_a_worker_writes_json_lines(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENURE_LOG_FORMAT", "json")
    worker = shop.start("worker", "--app", "shop:app", "--processes", "2", "--metrics-port", "0")
    shop.run("enqueue", "boom", "--tenant", "acme", "--app", "shop:app")
    engine = shop.engine
    until(lambda: engine.get("1").state.final)
    until(lambda: len(engine.insight.workers()) == 2)  # the slower one has said its line too
    lines = [json.loads(line) for line in stop(worker).splitlines()]

    told = [line for line in lines if line.get("job_id") == "1"]
    assert [line["level"] for line in told] == ["warning", "error"]
    assert all((line["kind"], line["tenant"]) == ("boom", "acme") for line in told)
    said = [line["event"] for line in lines]
    assert said[0].startswith("supervisor ")
    assert len([one for one in said if one.startswith("metrics at http://127.0.0.1:")]) == 2


def test_the_level_holds_for_plain_lines_too(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENURE_LOG_LEVEL", "error")
    worker = shop.start("worker", "--app", "shop:app")
    shop.run("enqueue", "boom", "--app", "shop:app")
    engine = shop.engine
    until(lambda: engine.get("1").state.final)
    said = stop(worker)

    assert [line[10:] for line in said.splitlines()] == [
        "job 1 (boom) is dead after attempt 2: ValueError: no luck"
    ]
