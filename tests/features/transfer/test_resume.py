"""Stopped anywhere, the same move goes on; nothing is doubled, nothing is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tenure import Tenure
from tenure.core.errors import DatabaseClosed, TransferStopped
from tenure.features.transfer import open_end
from tenure.stores.sql.tables import known_tables
from tests.features.transfer.conftest import MakeTransfer, OpenShop
from tests.features.transfer.shop import Shop
from tests.support.until import until

MANY = 12_000


class Stopped(BaseException):
    """As if the process were gone."""


class StopAfter:
    """Lets so many pages pass."""

    def __init__(self, pages: int) -> None:
        self.left = pages

    def __call__(self, phase: str, rows: int) -> None:
        if self.left == 0:
            raise Stopped
        self.left -= 1


def test_a_move_that_is_stopped_after_some_pages_goes_on(
    stocked: Shop, transfer: MakeTransfer, fresh_database_url: str, open_shop: OpenShop
) -> None:
    jobs, beside = stocked.jobs(), stocked.beside()
    for pages in range(0, 2 * len(known_tables()), 3):
        begun = transfer()
        begun.watch = StopAfter(pages)
        with pytest.raises(Stopped):
            begun.run()
        with pytest.raises(DatabaseClosed, match="tenure move is filling this database"):
            open_shop(fresh_database_url).app.enqueue("say", {"text": "too early"})

    report = transfer().run()

    assert report.resumed and report.written == 0
    moved = open_shop(fresh_database_url)
    assert (moved.jobs(), moved.beside()) == (jobs, beside)


def test_what_changed_in_the_source_since_the_stop_is_moved_as_it_is_now(
    stocked: Shop, transfer: MakeTransfer, fresh_database_url: str, open_shop: OpenShop
) -> None:
    begun = transfer()
    begun.watch = StopAfter(len(known_tables()))
    with pytest.raises(Stopped):
        begun.run()
    app = stocked.app
    gone, changed = (job.id for job in list(app.insight.stream())[:2])
    app.cancel(changed)
    with app.transaction() as tx:
        tx.execute("DELETE FROM tenure_jobs WHERE id = ?", (int(gone),))
    added = app.enqueue("say", {"text": "late"})

    jobs = transfer().run().tables[0]

    assert (jobs.added, jobs.replaced, jobs.removed) == (1, 1, 1)
    moved = open_shop(fresh_database_url)
    assert moved.jobs() == stocked.jobs()
    assert moved.jobs()[0][0].id == added.id


def test_a_key_that_changed_hands_since_the_stop_is_moved_as_it_is_now(
    source_url: str, transfer: MakeTransfer, fresh_database_url: str, open_shop: OpenShop
) -> None:
    source = open_shop(source_url)
    ids = []
    for _ in range(2):
        ids.append(source.app.enqueue("say", {"text": "once"}, key="k").id)
        source.app.cancel(ids[-1])
    source.app.retry(ids[1])
    begun = transfer()
    begun.watch = StopAfter(1)
    with pytest.raises(Stopped):
        begun.run()
    source.app.cancel(ids[1])
    source.app.retry(ids[0])

    assert transfer().run().tables[0].replaced == 2
    again = open_shop(fresh_database_url).app.enqueue("say", {"text": "once"}, key="k")
    assert (again.id, again.created) == (ids[0], False)


def test_a_stop_between_closing_the_source_and_opening_the_target_is_made_good(
    stocked: Shop, transfer: MakeTransfer, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = transfer()
    monkeypatch.setattr(begun, "_open_target", stop)
    with pytest.raises(Stopped):
        begun.run()
    assert begun.source.mark and begun.target.mark

    assert transfer().run().source_closed
    assert begun.source.mark and begun.target.mark is None


def stop() -> None:
    raise Stopped


@pytest.mark.parametrize("dialect", ["postgres", "mysql"], indirect=True)
def test_a_row_that_the_target_cannot_hold_is_named(stocked: Shop, transfer: MakeTransfer) -> None:
    with stocked.app.transaction() as tx:
        tx.execute("INSERT INTO tenure_queues (name, paused) VALUES ('big', 12345678901)")

    with pytest.raises(TransferStopped, match=r"tenure_queues: the target did not take .*'big'"):
        transfer().run()

    with stocked.app.transaction() as tx:
        tx.execute("UPDATE tenure_queues SET paused = 1 WHERE name = 'big'")
    assert transfer().run().verified


@pytest.mark.crash
@pytest.mark.parametrize("dialect", ["postgres", "mysql"], indirect=True)
def test_a_move_that_is_killed_goes_on(
    source_url: str, fresh_database_url: str, transfer: MakeTransfer, tmp_path: Path
) -> None:
    app = Tenure(source_url)
    app.enqueue_many([app.new("say", {"text": "x" * 150, "n": n}) for n in range(MANY)])
    app.close()

    killed = start_move(source_url, fresh_database_url, tmp_path)
    try:
        until(lambda: moved_so_far(fresh_database_url) > 0, seconds=60)
    finally:
        os.kill(killed.pid, signal.SIGKILL)
        assert killed.wait(30) == -signal.SIGKILL

    part = moved_so_far(fresh_database_url)
    report = transfer().run()
    jobs = report.tables[0]
    assert 0 < part <= jobs.same < MANY  # the last page may have been on its way
    assert (jobs.added, jobs.replaced, jobs.removed) == (MANY - jobs.same, 0, 0)
    assert moved_so_far(fresh_database_url) == MANY


def start_move(source: str, target: str, folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tenure", "move", "--from", source, "--to", target]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)


def moved_so_far(url: str) -> int:
    with open_end(url) as end:
        return end.counts().get("tenure_jobs", 0)
