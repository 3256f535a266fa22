"""Why a job is not running, asked of a real database."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tenure import NO_RETRY, Limit, RunningJob, Settings, Tenure, Worker
from tenure.core.errors import OptionError
from tenure.core.rules.shard import Shard
from tenure.testing import run_until_idle
from tenure.worker.settings import WorkerSettings


@pytest.fixture
def app(database_url: str) -> Iterator[Tenure]:
    made = Tenure(database_url, settings=Settings())
    yield made
    made.close()


def code(app: Tenure, ref: object) -> str:
    return app.insight.why(app.get(ref)).code  # type: ignore[arg-type]


def test_nobody_works_here(app: Tenure) -> None:
    assert code(app, app.enqueue("x")) == "no_worker"


def test_it_is_too_early(app: Tenure) -> None:
    assert code(app, app.enqueue("x", delay=60)) == "run_at"


def test_its_queue_is_paused(app: Tenure) -> None:
    app.operator.pause("default", "ada")

    assert app.insight.why(app.get(app.enqueue("x"))).text.endswith("was paused by ada")


def test_a_pause_has_a_reason_until_it_ends(app: Tenure) -> None:
    job = app.get(app.enqueue("x"))
    app.operator.pause("default", "ada", reason="the mail server moves")
    app.operator.pause("default", "bob")

    assert app.insight.why(job).text.endswith("was paused by ada: the mail server moves")
    assert app.insight.queues()[0].paused_reason == "the mail server moves"
    app.operator.pause("default", "bob", reason="it moves slowly")
    assert app.insight.why(job).text.endswith("was paused by ada: it moves slowly")

    app.store.queues.resume("default", "an older release, which leaves the reason")
    app.operator.pause("default", "eve")
    assert app.insight.why(job).text.endswith("was paused by eve")


@pytest.mark.parametrize("reason", ["", " ", "two\nlines", "x" * 501])
def test_a_reason_is_one_line(app: Tenure, reason: str) -> None:
    with pytest.raises(OptionError, match="one line of 1 to 500"):
        app.operator.pause("default", reason=reason)
    assert app.insight.queues() == []


def test_it_is_behind_others_and_blocked_by_one_that_failed(app: Tenure) -> None:
    @app.job("x", retry=NO_RETRY)
    def handler(job: RunningJob, bad: bool) -> None:
        if bad:
            raise ValueError

    first = handler.using(ordering_key="k").enqueue(bad=True)
    second = handler.using(ordering_key="k").enqueue(bad=False)

    assert app.insight.why(app.get(second)).text == (
        f"it is behind job {first.id} of its ordering key 'k'"
    )
    run_until_idle(app)
    assert code(app, second) == "order_blocked"
    app.retry(first)
    assert code(app, second) == "order"
    app.cancel(first)
    run_until_idle(app)
    assert code(app, second) == "ended"


def test_what_waits_at_a_limit_says_so_only_while_somebody_could_take_it(app: Tenure) -> None:
    @app.job("slow", limit=Limit(rate=1, per=3_600, burst=1))
    async def slow(job: RunningJob) -> None:
        return None

    [_, waiting] = [slow.enqueue() for _ in range(2)]
    run_until_idle(app)

    assert code(app, waiting) == "no_worker"
    with Worker(app):
        assert code(app, waiting) == "limit"
        app.operator.pause("default", "ada")
        assert code(app, waiting) == "paused"


def test_nobody_works_for_its_shard(app: Tenure) -> None:
    @app.job("x")
    async def handler(job: RunningJob) -> None:
        return None

    first = WorkerSettings(tick_shard_index=0, tick_shard_count=2)
    other = next(name for name in "abcdef" if Shard(1, 2).has(name))
    with Worker(app, settings=first):
        assert code(app, handler.using(tenant=other).enqueue()) == "other_shard"


def test_jobs_before_it_are_counted(app: Tenure) -> None:
    refs = app.enqueue_many([app.new("x", tenant=tenant) for tenant in ("a", "b", "a")])
    app.enqueue("x", priority=0, tenant="c")

    ahead = [app.store.queues.ahead(app.get(ref)) for ref in refs]
    assert ahead == [1, 1, 2]
