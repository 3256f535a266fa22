"""What is refused, and that nothing was written then."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenure import Tenure
from tenure.core.errors import TransferRefused, TransferStopped
from tenure.features.transfer import End, open_end, reopen
from tenure.features.transfer.pages import pages
from tenure.stores.contract.parts import Record
from tenure.stores.sql.migrations import Migrations, load, parse
from tenure.stores.sql.tables import known_tables
from tests.features.transfer.conftest import MakeTransfer, OpenShop
from tests.features.transfer.shop import Shop
from tests.support.databases import migrate

LATEST = load("tenure.stores.sqlite")[-1].version
COLOUR = parse(
    LATEST + 1,
    "colour",
    f"-- serves: {LATEST}\nALTER TABLE tenure_jobs ADD COLUMN colour VARCHAR(20) NULL;",
)


@pytest.fixture
def target_url(fresh_database_url: str) -> str:
    """With our schema, and with nothing else."""
    migrate(fresh_database_url)
    return fresh_database_url


def counts(url: str) -> dict[str, int]:
    with open_end(url) as end:
        return end.counts()


def upgrade(end: End) -> None:
    Migrations(end.database, [*end.migrations.all, COLOUR]).apply()


def test_a_target_that_is_not_empty_is_refused(
    stocked: Shop, transfer: MakeTransfer, target_url: str, open_shop: OpenShop
) -> None:
    open_shop(target_url).app.enqueue("say", {"text": "mine"})

    with pytest.raises(TransferRefused, match=r"not empty \(tenure_jobs 1\).*--into-existing"):
        transfer().run()

    assert counts(target_url) == {"tenure_jobs": 1}
    assert stocked.app.enqueue("say", {"text": "still open"}).created


def test_a_target_that_has_only_our_schema_is_empty(
    stocked: Shop, transfer: MakeTransfer, target_url: str
) -> None:
    assert transfer().run().verified


def test_an_empty_target_with_an_older_schema_is_brought_up(
    stocked: Shop, transfer: MakeTransfer, fresh_database_url: str
) -> None:
    with open_end(fresh_database_url) as end:
        Migrations(end.database, end.migrations.all[:1]).apply()

    with pytest.raises(TransferRefused, match=r"the target is at version 1.*tenure migrate"):
        transfer(into_existing=True).run()
    assert transfer().look().rows == transfer().run().written


@pytest.mark.parametrize("newer", ["source", "target"])
@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
def test_a_schema_that_this_code_does_not_know_is_refused(
    stocked: Shop, transfer: MakeTransfer, target_url: str, newer: str
) -> None:
    begun = transfer()
    upgrade(getattr(begun, newer))

    with pytest.raises(TransferRefused, match=f"{newer} is at version {LATEST + 1}.*upgrade"):
        begun.run()
    assert counts(target_url) == {}


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
def test_a_source_with_an_older_schema_is_refused(tmp_path: Path, transfer: MakeTransfer) -> None:
    url = f"sqlite:///{tmp_path / 'old.db'}"
    with open_end(url) as end:
        Migrations(end.database, end.migrations.all[:1]).apply()

    with pytest.raises(TransferRefused, match="run: tenure migrate --database sqlite:///"):
        transfer(source=url).run()


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
def test_a_database_is_not_moved_into_itself(source_url: str, transfer: MakeTransfer) -> None:
    again = source_url.replace("/outgrown/", "/outgrown/../outgrown/")

    with pytest.raises(TransferRefused, match="the same database"):
        transfer(target=again).run()


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
def test_workers_that_are_alive_are_named(stocked: Shop, transfer: MakeTransfer) -> None:
    work(stocked.app)

    for begin in (transfer().run, transfer().look):
        with pytest.raises(TransferRefused, match=r"1 at work on the source: host:1.*--wait"):
            begin()

    assert stocked.app.enqueue("say", {"text": "nobody holds the file"}).created


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
def test_a_move_waits_for_workers_to_end(
    stocked: Shop, transfer: MakeTransfer, monkeypatch: pytest.MonkeyPatch
) -> None:
    work(stocked.app)

    def sign_out(seconds: float) -> None:
        stocked.app.store.records.remove("workers", "host:1")

    monkeypatch.setattr("tenure.features.transfer.transfer.time.sleep", sign_out)
    assert transfer(wait_seconds=30).run().verified


def work(app: Tenure) -> None:
    """A worker has signed in just now."""
    app.store.records.upsert(Record(collection="workers", name="host:1", data={}))


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
def test_a_source_is_moved_once(
    stocked: Shop, transfer: MakeTransfer, tmp_path: Path, source_url: str
) -> None:
    transfer().run()

    with pytest.raises(TransferRefused, match=r"the source was moved to .* already"):
        transfer(target=f"sqlite:///{tmp_path / 'other.db'}").run()
    with pytest.raises(TransferRefused, match="moved away itself"):
        transfer(source=f"sqlite:///{tmp_path / 'fresh.db'}", target=source_url).run()


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
def test_a_target_that_is_half_filled_is_neither_reopened_nor_filled_from_elsewhere(
    stocked: Shop, transfer: MakeTransfer, tmp_path: Path, fresh_database_url: str
) -> None:
    begun = transfer()
    begun.watch = raising
    with pytest.raises(KeyboardInterrupt):
        begun.run()
    other = f"sqlite:///{tmp_path / 'other.db'}"
    migrate(other)

    with pytest.raises(TransferRefused, match="a part of another database"):
        transfer(source=other).run()
    with pytest.raises(TransferRefused, match="a part of another database"):
        reopen(begun.target)


def raising(phase: str, rows: int) -> None:
    raise KeyboardInterrupt


def test_rows_are_added_to_those_of_a_target_in_use(
    source_url: str, transfer: MakeTransfer, target_url: str, open_shop: OpenShop
) -> None:
    source, target = open_shop(source_url), open_shop(target_url)
    theirs = [target.app.enqueue("say", {"text": f"theirs {n}"}).id for n in range(3)]
    skip_ids(source, 100)
    ours = source.app.enqueue("say", {"text": "ours"}, key="k").id
    for one in (source, target):
        assert one.app.store.locks.acquire("leader", "somebody", 60)

    report = transfer(into_existing=True).run()

    assert [job.id for job in target.app.insight.stream()] == [ours, *reversed(theirs)]
    assert report.verified and report.source_closed
    assert target.app.enqueue("say", {"text": "new"}).created


def test_a_target_in_use_keeps_its_rows_and_gets_none_where_one_collides(
    source_url: str, transfer: MakeTransfer, target_url: str, open_shop: OpenShop
) -> None:
    source, target = open_shop(source_url), open_shop(target_url)
    target.app.tenants.weigh("acme", 1)
    source.app.tenants.weigh("acme", 2)
    source.app.enqueue("say", {"text": "ours"})
    before = counts(target_url)

    with pytest.raises(TransferRefused, match=r"tenure_records has another row .*acme"):
        transfer(into_existing=True).run()

    assert counts(target_url) == before
    assert target.app.tenants.weights() == {"acme": 1}
    assert source.app.enqueue("say", {"text": "still open"}).created


def test_two_open_jobs_of_one_key_do_not_come_together(
    source_url: str, transfer: MakeTransfer, target_url: str, open_shop: OpenShop
) -> None:
    source, target = open_shop(source_url), open_shop(target_url)
    skip_ids(source, 100)
    for one in (source, target):
        one.app.enqueue("say", {"text": "once"}, key="k")

    with pytest.raises(TransferStopped, match=r"tenure_jobs: .*nothing was written"):
        transfer(into_existing=True).run()

    assert counts(target_url)["tenure_jobs"] == 1


def skip_ids(shop: Shop, count: int) -> None:
    """So that ids of the two do not meet."""
    with shop.app.transaction() as tx:
        tx.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('tenure_jobs', ?)", (count,))


@pytest.mark.parametrize("dialect", ["postgres", "mysql"], indirect=True)
def test_every_database_has_the_columns_that_are_moved_and_needs_no_others(
    transfer: MakeTransfer, target_url: str
) -> None:
    target = transfer().target
    for table in known_tables():
        assert list(pages(target, table)) == []
        sql = (
            "SELECT column_name FROM information_schema.columns WHERE table_name = :name "
            "AND table_schema NOT IN ('information_schema') AND is_nullable = 'NO' "
            "AND column_default IS NULL"
        )
        needed = {row[0] for row in target.select(sql, {"name": table.name})}
        assert needed <= set(table.columns), table.name
