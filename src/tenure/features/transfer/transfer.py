"""The steps of a transfer: hold the source still, fill, verify, close the one, open the other.

Killed anywhere, the same call goes on: rows that are there already are compared, not doubled.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from hashlib import blake2b

from tenure.core.errors import TransferRefused
from tenure.features.transfer import refusals
from tenure.features.transfer.copy import Copy
from tenure.features.transfer.end import End, check_apart
from tenure.features.transfer.report import Report, TableReport
from tenure.features.transfer.verify import verify
from tenure.stores.sql import closed_database as closing

Watch = Callable[[str, int], None]
LOOK_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """`into_existing`: the target has rows of its own, that stay. `leave_open`: the source may be
    used on, as after a rehearsal. `wait_seconds`: for the workers of the source to end.
    """

    into_existing: bool = False
    leave_open: bool = False
    wait_seconds: float = 0.0


class Transfer:
    """From one open end to another. `watch` is told of a phase and of rows done since the last."""

    def __init__(
        self, source: End, target: End, options: Options, watch: Watch = lambda phase, rows: None
    ) -> None:
        self.source = source
        self.target = target
        self.options = options
        self.watch = watch
        self.beside: Callable[[bool], list[str]] = lambda dry_run: []
        """Copies what rows refer to elsewhere, and says what it did; gets `dry_run`."""
        self._filling = f"{closing.FILLING}{_short(source.address)}"

    @property
    def merging(self) -> bool:
        """The target's own rows stay. One that a stopped move left half-filled has none."""
        return self.options.into_existing and self.target.mark is None

    @property
    def _full(self) -> bool:
        """The target may have rows, so its schema is its owner's business."""
        return self.options.into_existing and self.target.version > 0

    def look(self) -> Report:
        """Report what would be moved, or raise what refuses it. Changes nothing."""
        self._check()
        refusals.check_workers(self.source)
        report = self._report(dry_run=True)
        report.beside = self.beside(True)
        return report

    def run(self) -> Report:
        """Move everything."""
        self._check()
        with self._still():
            report = self._report()
            self._prepare()
            # Before the rows: none of them refers to something that is not there.
            report.beside = self.beside(False)
            with self.target.writing() if self.merging else nullcontext():
                self.copy(report)
                self.verify(report)
            self._close_source(report)
        self._open_target()
        return report

    def verify_only(self) -> Report:
        """Compare two databases that nobody writes to."""
        refusals.check_schemas(self.source, self.target, complete=True)
        report = self._report()
        self.verify(report)
        return report

    def copy(self, report: Report) -> None:
        """Copy table after table."""
        started = time.monotonic()
        copy = Copy(
            source=self.source,
            target=self.target,
            merging=self.merging,
            watch=lambda rows: self.watch("move", rows),
        )
        for table, told in zip(self.source.tables, report.tables, strict=True):
            copy.table(table, told)
        report.move_seconds = time.monotonic() - started

    def verify(self, report: Report) -> None:
        """Read both sides again and compare them."""
        started = time.monotonic()
        found = verify(
            self.source,
            self.target,
            merged=self.merging,
            watch=lambda rows: self.watch("verify", rows),
        )
        for table in report.tables:
            table.checksum = found[table.table]
        report.verified = True
        report.verify_seconds = time.monotonic() - started

    def _check(self) -> None:
        check_apart(self.source, self.target)
        refusals.check_schemas(self.source, self.target, complete=self._full)
        refusals.check_marks(self.source, self.target, self._filling)
        if self.target.mark is None and not self.merging:
            refusals.check_empty(self.target)

    @contextmanager
    def _still(self) -> Iterator[None]:
        """Hold the source while no worker is live. Checked while held, so that none can start."""
        deadline = time.monotonic() + self.options.wait_seconds
        while True:
            with self.source.held():
                alive = refusals.workers_alive(self.source)
                if not alive:
                    yield
                    return
            if time.monotonic() >= deadline:
                raise refusals.refused_for(alive)
            time.sleep(min(LOOK_SECONDS, max(0.0, deadline - time.monotonic())))

    def _prepare(self) -> None:
        """Migrate the target, mark it as being filled, and raise its id counters."""
        target = self.target
        self._migrate()
        if not self.merging and target.mark is None:
            closing.put_mark(target.database, target.connection, self._filling)
        for table in self.source.tables:
            if table.counted:
                last = self.source.ways.last_id(self.source.connection, table)
                target.ways.raise_id(target.connection, table, last)

    def _migrate(self) -> None:
        """The engine's tables, and those of the features that the source has."""
        features = self.source.features
        for migrations in self.target.schemas:
            if not migrations.feature or migrations.feature in features:
                migrations.apply()

    def _close_source(self, report: Report) -> None:
        """Before the target is opened: at no moment are both in use."""
        if self.options.leave_open:
            return
        source = self.source
        closing.shut(source.database, source.connection)
        mark = f"{closing.MOVED}{self.target.address}"
        closing.put_mark(source.database, source.connection, mark)
        report.source_closed = True

    def _open_target(self) -> None:
        target = self.target
        target.ways.refresh(target.connection, self.source.tables)
        closing.remove_mark(target.database, target.connection)

    def _report(self, *, dry_run: bool = False) -> Report:
        source = self.source
        tables = source.tables
        counted = [table for table in tables if table.counted]
        return Report(
            source=source.address,
            target=self.target.address,
            tables=[TableReport(table=t.name, rows=source.count(t)) for t in tables],
            dry_run=dry_run,
            resumed=self.target.mark is not None,
            last_ids={t.name: source.ways.last_id(source.connection, t) for t in counted},
        )


def reopen(end: End) -> None:
    """Let a database that was moved away be used again."""
    mark = end.mark
    if mark is None:
        raise TransferRefused(f"{end.address} is not closed")
    if not mark.startswith(closing.MOVED):
        raise TransferRefused(
            f"{end.address} holds a part of another database: run the same tenure move again to "
            "finish it, or drop it"
        )
    closing.unshut(end.database, end.connection)
    closing.remove_mark(end.database, end.connection)


def _short(address: str) -> str:
    """A short digest of an address."""
    return blake2b(address.encode(), digest_size=16).hexdigest()
