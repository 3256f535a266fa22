"""What a store tells other processes, and what a claim costs that was told."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, LiteralString

import psycopg
import pytest
from psycopg.sql import SQL

from tenure.core.errors import UrlError
from tenure.core.filter import JobFilter
from tenure.core.job import NewJob
from tenure.core.signals import Signals
from tenure.stores import open_store
from tenure.stores.contract import Capability, Change, ClaimRequest, Move
from tenure.stores.postgres.listen import queues_in
from tenure.stores.postgres.notify import payload_of
from tenure.stores.sql.statement import Rows, Statement
from tenure.stores.sql.store import SqlStore, sql_store
from tenure.wakeups.due_jobs import WakeOptions, heed_cancel
from tenure.wakeups.sender_thread import SPACING_SECONDS
from tests.support.databases import ServerDatabases
from tests.support.until import until

PATIENCE = 20.0
PROGRAM = """
import sys
from tenure import Tenure
Tenure(sys.argv[1]).enqueue("note", queue="last words")
"""


class Ear:
    """Somebody who listens."""

    def __init__(self, url: str) -> None:
        self.connection = psycopg.connect(url, autocommit=True)
        self.connection.execute("LISTEN tenure")
        self.speaker = 0
        self._heard: deque[psycopg.Notify] = deque()

    def next(self) -> Any:
        if not self._heard:
            heard = self.connection.notifies(timeout=PATIENCE, stop_after=1)
            self._heard += heard
        last = self._heard.popleft()
        self.speaker = last.pid
        return json.loads(last.payload)

    def finds(self, condition: LiteralString, value: Any) -> list[Any]:
        """Sessions of the server."""
        query = SQL("SELECT query FROM pg_stat_activity WHERE {}").format(SQL(condition))
        return self.connection.execute(query, [value]).fetchall()

    def rest(self) -> list[Any]:
        """Everything that was said before this call, in order."""
        self.connection.execute("NOTIFY tenure, 'null'")
        heard: list[Any] = []
        while (said := self.next()) is not None:
            heard.append(said)
        return heard


@pytest.fixture
def url(postgres_databases: ServerDatabases) -> str:
    return postgres_databases.empty()


@pytest.fixture
def ear(url: str) -> Iterator[Ear]:
    made = Ear(url)
    yield made
    made.connection.close()


@pytest.fixture
def opened(url: str) -> Iterator[Callable[..., SqlStore]]:
    made: list[SqlStore] = []

    def open_one(**options: Any) -> SqlStore:
        made.append(sql_store(open_store(url, wake=WakeOptions(**options))))
        return made[-1]

    yield open_one
    for store in made:
        store.close()


def test_only_postgres_carries_wake_ups_between_processes(database_url: str, dialect: str) -> None:
    store = sql_store(open_store(database_url))

    assert (Capability.WAKE_UPS in store.capabilities) == (dialect == "postgres")
    assert frozenset(Capability) - {Capability.WAKE_UPS} <= store.capabilities


def test_what_is_due_is_told_after_the_commit_and_nothing_else(
    opened: Callable[..., SqlStore], ear: Ear
) -> None:
    store, tomorrow = opened(), datetime.now(UTC) + timedelta(days=1)
    store.jobs.add([NewJob(kind="a", queue="b"), NewJob(kind="a", queue="c")])
    store.jobs.add([NewJob(kind="a", queue="later", delay_seconds=5)])
    store.jobs.add([NewJob(kind="a", queue="later", run_at=tomorrow)])
    with pytest.raises(ZeroDivisionError), store.transaction() as tx:
        store.jobs.add([NewJob(kind="a", queue="never")], tx=tx)
        raise ZeroDivisionError
    with store.transaction() as tx:
        store.jobs.add([NewJob(kind="a", queue="committed")], tx=tx)
    store.close()

    assert ear.rest() == [["b", "c"], ["committed"]]


def test_who_is_set_free_by_an_operators_cancel_is_told_of(
    opened: Callable[..., SqlStore], ear: Ear
) -> None:
    store = opened()
    first, _ = store.jobs.add(
        [NewJob(kind="a", ordering_key="k"), NewJob(kind="a", ordering_key="k")]
    )
    store.close()
    ear.rest()
    store.jobs.change(JobFilter(ids=(first.id,)), Change(move=Move.CANCEL))
    store.close()

    assert len(ear.rest()) == 1


def test_many_enqueues_are_few_notifications(opened: Callable[..., SqlStore], ear: Ear) -> None:
    store, begun = opened(), time.monotonic()
    for _ in range(200):
        store.jobs.add([NewJob(kind="a")])
    store.jobs.add([NewJob(kind="a") for _ in range(1_000)])
    store.close()
    elapsed = time.monotonic() - begun

    said = ear.rest()

    assert {tuple(queues) for queues in said} == {("default",)}
    assert 1 <= len(said) <= 2 + elapsed / SPACING_SECONDS


def test_a_broken_connection_is_opened_again_and_nothing_is_lost(
    opened: Callable[..., SqlStore], ear: Ear
) -> None:
    signals, failed = Signals(), list[str]()
    signals.subscribe(lambda _, facts: failed.append(facts["step"]), "wake.failed")
    store = opened(signals=signals)
    store.jobs.add([NewJob(kind="a")])
    assert ear.next() == ["default"]
    for queue in ("b", "c"):
        ear.connection.execute("SELECT pg_terminate_backend(%s)", [ear.speaker])
        until(lambda: not ear.finds("pid = %s", ear.speaker))

        store.jobs.add([NewJob(kind="a", queue=queue)])

        assert ear.next() == [queue]
    assert failed == ["notify"]


def test_a_program_that_enqueues_and_ends_has_said_so(url: str, ear: Ear) -> None:
    subprocess.run([sys.executable, "-c", PROGRAM, url], check=True, timeout=60)

    assert ear.rest() == [["last words"]]


def test_a_store_that_only_reads_opens_no_line(url: str, ear: Ear) -> None:
    store = sql_store(open_store(f"{url}?application_name=reader"))
    store.jobs.get("1")
    assert len(ear.finds("application_name = %s", "reader")) == 1

    store.jobs.add([NewJob(kind="a")])
    assert ear.next() == ["default"]
    assert len(ear.finds("application_name = %s", "reader")) == 2
    store.close()


def test_a_wake_up_costs_one_statement_where_the_lane_is_known(
    opened: Callable[..., SqlStore],
) -> None:
    here, there = opened(), opened()
    request = ClaimRequest(
        owner="w", kinds=["a"], slots={"default": 5}, lease_seconds=60, woken=["default"]
    )
    there.jobs.add([NewJob(kind="a")])
    assert len(here.jobs.claim(request).jobs) == 1
    assert here.jobs.claim(request).jobs == []
    names = spied(here)

    there.jobs.add([NewJob(kind="a")])
    assert len(here.jobs.claim(request).jobs) == 1
    assert names == ["claim_take"]

    there.jobs.add([NewJob(kind="a", tenant="new")])
    assert len(here.jobs.claim(request).jobs) == 1
    assert names == ["claim_take", "claim_take", "claim_lanes", "claim_take"]


def spied(store: SqlStore) -> list[str]:
    names: list[str] = []
    execute = store.database.execute

    def noted(connection: Any, statement: Statement) -> Rows:
        names.append(statement.name)
        return execute(connection, statement)

    store.database.execute = noted  # type: ignore[method-assign]
    return names


def test_payloads_are_read_with_care() -> None:
    assert queues_in(payload_of(["a", "ü"]).encode()) == ["a", "ü"]
    assert queues_in(payload_of([f"{n:0100}" for n in range(100)]).encode()) == [""]
    assert queues_in(b'["a", 1, null]') == ["a"]
    for junk in (b"", b"x", b"{}", b"\xff", b"[" * 7_999):
        assert queues_in(junk) == []


def test_the_listener_may_have_an_address_of_its_own(url: str) -> None:
    with pytest.raises(UrlError, match="TENURE_LISTEN_URL"):
        sql_store(open_store(url, wake=WakeOptions(listen_url="sqlite:///a.db")))
    there = sql_store(open_store(url, wake=WakeOptions(listen_url=f"{url}?application_name=ear")))
    assert Capability.WAKE_UPS in there.capabilities


@pytest.mark.parametrize("turns", range(4))
def test_a_cancellation_that_a_library_swallows_is_heeded(turns: int) -> None:
    """As a driver does that connects: it may be so many turns from its end."""

    async def connect(connected: asyncio.Event) -> None:
        await asyncio.wait_for(connected.wait(), 60)
        heed_cancel()
        await asyncio.sleep(60)

    async def cancel() -> bool:
        connected = asyncio.Event()
        listening = asyncio.create_task(connect(connected))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        connected.set()
        for _ in range(turns):
            await asyncio.sleep(0)
        listening.cancel()
        await asyncio.wait({listening}, timeout=5)
        return listening.cancelled()

    assert asyncio.run(cancel())
