"""Log lines of a real run: JSON or console, with their job, without payloads and secrets."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from tenure import Delays, RunningJob, Tenure
from tenure.testing import run_until_idle
from tenure.watch.correlation import correlated
from tenure.watch.logs import configure_logs, log_signals
from tenure.watch.settings import LogFormat, LogLevel, WatchSettings


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:], root.level = handlers, level
    structlog.reset_defaults()


def lines_of(app: Tenure, **settings: Any) -> list[dict[str, Any]]:
    """What a run of everything that is due has written, a line each."""
    return [json.loads(line) for line in text_of(app, **settings).splitlines()]


def text_of(app: Tenure, format: LogFormat = LogFormat.JSON, **settings: Any) -> str:
    stream = io.StringIO()
    chosen = configure_logs(WatchSettings(log_format=format, **settings), stream)
    log_signals(app, chosen)
    run_until_idle(app)
    return stream.getvalue()


def test_a_line_knows_its_job(app: Tenure) -> None:
    app.enqueue("doomed", tenant="acme", correlation_id="order-42")

    failed, dead = [line for line in lines_of(app) if "job_id" in line]

    assert failed["event"] == (
        "job 1 (doomed) failed attempt 1, to be retried in 0.0 s: KeyError: 'never'"
    )
    assert (failed["level"], failed["attempt"], failed["signal"]) == ("warning", 1, "jobs.settled")
    assert (dead["level"], dead["attempt"], dead["state"]) == ("error", 2, "dead")
    for line in (failed, dead):
        assert (line["tenant"], line["correlation_id"]) == ("acme", "order-42")
        assert line["timestamp"].endswith("Z")


def test_lines_of_handlers_know_their_job_too(app: Tenure) -> None:
    @app.job("chatty")
    def chatty(job: RunningJob) -> None:
        structlog.get_logger("shop").info("charged", amount=3)
        logging.getLogger("shop").warning("slow %s", "card")

    chatty.using(correlation_id="order-42").enqueue()
    mine = [line for line in lines_of(app) if line["event"] in ("charged", "slow card")]

    assert [(line["job_id"], line["correlation_id"]) for line in mine] == [("1", "order-42")] * 2
    assert (mine[0]["kind"], mine[0]["attempt"], mine[0]["amount"]) == ("chatty", 1, 3)
    assert "tenant" not in mine[0]


def test_a_request_without_a_job_has_its_correlation_id_in_the_lines(app: Tenure) -> None:
    stream = io.StringIO()
    configure_logs(WatchSettings(log_format=LogFormat.JSON), stream)
    with correlated("order-42"):
        logging.getLogger("api").warning("odd")

    assert json.loads(stream.getvalue())["correlation_id"] == "order-42"


@pytest.mark.parametrize("format", [LogFormat.JSON, LogFormat.CONSOLE])
def test_payloads_are_not_logged_unless_asked_for(app: Tenure, format: LogFormat) -> None:
    @app.job("pay", retry=Delays())
    def pay(job: RunningJob, card: str, cents: int) -> None:
        raise ValueError("declined")

    pay.enqueue(card="4111-1111", cents=5)
    app.enqueue("pay", {"card": "4111-1111", "cents": "many"})

    text = text_of(app, format, log_level=LogLevel.DEBUG)
    assert "declined" in text
    assert "4111" not in text

    pay.enqueue(card="4111-1111", cents=5)
    assert "4111" in text_of(app, format, log_payloads=True)


@pytest.mark.parametrize("format", [LogFormat.JSON, LogFormat.CONSOLE])
def test_secrets_are_never_logged(app: Tenure, format: LogFormat) -> None:
    @app.job("leak", retry=Delays())
    def leak(job: RunningJob) -> None:
        log = structlog.get_logger("shop")
        log.info("calling", password="hunter2", headers={"Authorization": "Bearer hunter2"})
        log.info("at postgresql://me:hunter2@db/shop", nested=[{"api_key": "hunter2"}])
        try:
            raise ValueError("token=hunter2")
        except ValueError:
            log.exception("went wrong")
        raise ValueError("cannot reach postgresql://me:hunter2@db/shop")

    leak.enqueue()
    text = text_of(app, format, log_payloads=True)

    assert "hunter2" not in text
    assert text.count("***") >= 5


EVIL = ('\n{"event": "forged"}', "\r\nforged", "\x1b[2Jforged", "\u2028forged", "\x85forged")


@pytest.mark.parametrize("format", [LogFormat.JSON, LogFormat.CONSOLE])
@pytest.mark.parametrize("evil", EVIL)
def test_user_data_cannot_forge_a_line(app: Tenure, format: LogFormat, evil: str) -> None:
    @app.job("hostile", retry=Delays())
    def hostile(job: RunningJob) -> None:
        log = structlog.get_logger("shop")
        log.info(f"said {evil}", **{"said": evil, f"key{evil}": 1})
        logging.getLogger("shop").warning("said %s", evil)
        try:
            raise ValueError(evil)
        except ValueError:
            log.exception("went wrong")
        raise ValueError(evil)

    hostile.enqueue()
    lines = text_of(app, format).splitlines()

    assert len(lines) >= 5
    assert all(line.isprintable() for line in lines)
    if format is LogFormat.JSON:
        assert all(json.loads(line)["event"] != "forged" for line in lines)
    else:
        assert not [line for line in lines if line.lstrip().startswith(("forged", "{"))]


def test_the_level_decides_what_is_written(app: Tenure) -> None:
    app.enqueue("well")
    assert lines_of(app, log_level=LogLevel.ERROR) == []

    app.enqueue("well")
    said = [line["event"] for line in lines_of(app, log_level=LogLevel.DEBUG)]
    assert any(event.startswith("job 2 (well) succeeded at attempt 1 in ") for event in said)


def test_a_console_is_readable(app: Tenure) -> None:
    app.enqueue("doomed", tenant="acme")

    text = text_of(app, LogFormat.CONSOLE)

    assert "job 1 (doomed) is dead after attempt 2: KeyError: 'never'" in text
    assert "tenant=acme" in text
    assert "\x1b" not in text


def test_plain_changes_nothing(app: Tenure) -> None:
    handlers = logging.getLogger().handlers[:]

    configure_logs(WatchSettings())

    assert logging.getLogger().handlers == handlers


def test_a_level_may_be_written_in_capitals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENURE_LOG_LEVEL", "WARNING")
    monkeypatch.setenv("TENURE_LOG_FORMAT", "JSON")

    assert WatchSettings().log_level is LogLevel.WARNING
    assert WatchSettings().log_format is LogFormat.JSON
