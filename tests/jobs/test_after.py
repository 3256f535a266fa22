"""`after=[...]`: a job that waits for others. On every database."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from tenure import Delays, Fail, JobRef, OptionError, RunningJob, Settings, State, Tenure
from tenure.testing import run_until_idle


@pytest.fixture
def app(database_url: str) -> Iterator[Tenure]:
    made = Tenure(database_url, settings=Settings(lease_seconds=30))
    yield made
    made.close()


def shop(app: Tenure) -> list[str]:
    """Handlers that say what they do: PDFs, of which number 13 cannot be made, and mails."""
    done: list[str] = []

    @app.job("pdf", retry=Delays())
    def pdf(job: RunningJob, invoice: int) -> None:
        if invoice == 13:
            raise Fail("no such invoice")
        done.append(f"pdf {invoice}")

    @app.job("mail", retry=Delays())
    def mail(job: RunningJob, invoice: int) -> None:
        done.append(f"mail {invoice}")

    return done


def test_the_mail_goes_after_its_pdf(app: Tenure) -> None:
    done = shop(app)
    pdf = app.enqueue("pdf", {"invoice": 1}, priority=9)
    mail = app.enqueue("mail", {"invoice": 1}, after=pdf, priority=0)

    assert app.get(mail).waits_for == (pdf.id,)
    run_until_idle(app)
    assert done == ["pdf 1", "mail 1"]


def test_both_are_added_or_neither(app: Tenure) -> None:
    done = shop(app)
    pdf, mail = app.handlers.require("pdf"), app.handlers.require("mail")
    for ok in (False, True):
        try:
            with app.transaction() as tx:
                first = tx.enqueue("pdf", {"invoice": 1})
                mail.using(after=[first], tx=tx).enqueue(invoice=1)
                assert ok
        except AssertionError:
            continue
    several = [pdf.enqueue(invoice=n) for n in (2, 3)]
    asyncio.run(mail.using(after=[*several, several[0].id]).enqueue_async(invoice=2))

    run_until_idle(app)
    assert sorted(done) == ["mail 1", "mail 2", "pdf 1", "pdf 2", "pdf 3"]
    assert done.index("mail 2") > max(done.index("pdf 2"), done.index("pdf 3"))


def test_what_a_failure_means_is_the_callers_choice(app: Tenure) -> None:
    done = shop(app)
    pdf = app.enqueue("pdf", {"invoice": 13})
    called_off = app.enqueue("mail", {"invoice": 13}, after=[pdf])
    behind = app.enqueue("mail", {"invoice": 14}, after=[called_off])
    anyway = app.enqueue("mail", {"invoice": 15}, after=[pdf], after_failure="run")
    run_until_idle(app)

    assert [app.get(one).state for one in (called_off, behind, anyway)] == [
        State.CANCELED,
        State.CANCELED,
        State.SUCCEEDED,
    ]
    assert done == ["mail 15"]
    [line] = app.insight.history(app.get(behind))
    assert line.failure is not None
    assert line.failure["message"] == f"job {called_off.id}, which it waited for, ended canceled"


def test_a_job_may_wait_for_the_one_that_is_running(app: Tenure) -> None:
    done = shop(app)

    @app.job("order")
    def order(job: RunningJob) -> None:
        app.enqueue("mail", {"invoice": 1}, after=job)
        with job.settle() as tx:
            tx.enqueue("mail", {"invoice": 2}, after=[job])
        done.append("order")

    order.enqueue()
    run_until_idle(app)
    assert sorted(done[1:]) == ["mail 1", "mail 2"]


def test_a_long_chain_is_called_off_whole(app: Tenure) -> None:
    shop(app)
    last = pdf = app.enqueue("pdf", {"invoice": 13})
    with app.transaction() as tx:
        for _ in range(1_200):
            last = tx.enqueue("mail", {"invoice": 1}, after=[last])
    run_until_idle(app)

    assert app.get(last).reason == "dependency_failed"
    assert app.insight.counts() == {State.FAILED: 1, State.CANCELED: 1_200}
    assert pdf.id != last.id


BAD: list[tuple[Any, str]] = [
    ("x1", "after names job x1, which is not there"),
    (7, "after takes jobs or their ids, not 7"),
    (["1", None], "after takes jobs or their ids, not None"),
    ("9" * 19, "after names job 9999999999999999999, which is not there"),
    ("9" * 65, "after takes jobs or their ids"),
    ([str(n) for n in range(1, 1_002)], "1,000 others"),
    (JobRef("77"), "job 77, which is not there"),
]


@pytest.mark.parametrize(("after", "words"), BAD, ids=[words for _, words in BAD])
def test_a_bad_dependency_is_named(app: Tenure, after: Any, words: str) -> None:
    with pytest.raises(OptionError, match=words):
        app.enqueue("mail", after=after)

    assert app.insight.counts() == {}


def test_a_job_that_is_not_added_yet_is_no_dependency(app: Tenure) -> None:
    with pytest.raises(OptionError, match="enqueue it first"):
        app.new("mail", after=app.new("pdf"))
    with pytest.raises(OptionError, match="after_failure 'stop'"):
        app.new("mail", after="1", after_failure="stop")
    with pytest.raises(OptionError, match="after_failure needs after"):
        app.new("mail", after_failure="run")
