"""Every bad option is an error at the caller that names the option."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from tenure import JobFilter, OptionError, Tenure

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)

BAD: list[tuple[dict[str, Any], str]] = [
    ({"delay": -1}, "delay"),
    ({"delay": float("nan")}, "delay"),
    ({"delay": "5"}, "delay"),
    ({"delay": 1e12}, "delay"),
    ({"run_at": datetime(2030, 1, 1)}, "time zone"),
    ({"run_at": "tomorrow"}, "run_at"),
    ({"run_at": NOON, "delay": 5}, "not both"),
    ({"expires": -5}, "expires"),
    ({"priority": -1}, "priority"),
    ({"priority": 1001}, "priority"),
    ({"priority": True}, "priority"),
    ({"priority": "high"}, "priority"),
    ({"max_attempts": 0}, "max_attempts"),
    ({"queue": ""}, "queue"),
    ({"queue": "q" * 101}, "queue"),
    ({"queue": "a\nb"}, "control character"),
    ({"tenant": "t\x00"}, "control character"),
    ({"tenant": " padded"}, "space"),
    ({"tenant": 7}, "tenant"),
    ({"key": ""}, "key"),
    ({"key": "k" * 256}, "key"),
    ({"key": "\ud800"}, "surrogate"),
    ({"key_mode": "replace"}, "need a key"),
    ({"key": "k", "key_mode": "overwrite"}, "key_mode"),
    ({"key": "k", "key_window": -1}, "key_window"),
    ({"retries": 3}, "unknown option 'retries'"),
]


@pytest.mark.parametrize(("options", "problem"), BAD, ids=[str(o) for o, _ in BAD])
def test_a_bad_option_is_named_and_nothing_is_written(
    app: Tenure, options: dict[str, Any], problem: str
) -> None:
    with pytest.raises(OptionError, match=problem):
        app.enqueue("anything", {}, **options)

    assert app.insight.counts(JobFilter()) == {}


def test_good_options_arrive_on_the_row(app: Tenure) -> None:
    ref = app.enqueue(
        "mail",
        {"to": "a@example.org"},
        queue="mails",
        priority=0,
        tenant="acme",
        owner="ada",
        key="k",
        run_at=NOON,
        expires=NOON + timedelta(hours=1),
        max_attempts=3,
        correlation_id="c-1",
        trace="00-abc",
        enqueued_by="api",
    )

    job = app.get(ref)

    assert (job.queue, job.priority, job.tenant, job.owner, job.key) == (
        "mails", 0, "acme", "ada", "k",
    )  # fmt: skip
    assert (job.run_at, job.expires_at) == (NOON, NOON + timedelta(hours=1))
    assert (job.max_attempts, job.correlation_id, job.trace, job.enqueued_by) == (
        3, "c-1", "00-abc", "api",
    )  # fmt: skip
    assert job.payload == {"to": "a@example.org"}


@pytest.mark.parametrize("year", [1, 1969, 9999])
def test_a_moment_that_not_every_database_can_tell_again_is_refused(app: Tenure, year: int) -> None:
    ahead = timezone(timedelta(hours=14))
    with pytest.raises(OptionError, match="run_at must lie between the years 1970 and 9998"):
        app.enqueue("work", run_at=datetime(year, 6, 1, tzinfo=ahead))
