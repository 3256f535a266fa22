"""One table into another: what is missing is added, what is there already is left alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from tenure.core.errors import TenureError, TransferRefused, TransferStopped
from tenure.features.transfer.end import End
from tenure.features.transfer.merge import Pair, pairs
from tenure.features.transfer.pages import Watch, pages, row_bytes, rows
from tenure.features.transfer.report import TableReport
from tenure.stores.sql.statement import Row, chunks
from tenure.stores.sql.tables import Table

# Of a database in use these stay as they are: nobody holds a lock over both databases, and the
# tokens of a gate are those of its own fleet.
OWN_TABLES = frozenset({"tenure_locks", "tenure_order_locks", "tenure_gates"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """`merging`: the target has rows of its own, that stay; all is one transaction of the caller's.

    Else the target is to become what the source is, and every page commits by itself.
    """

    source: End
    target: End
    merging: bool
    watch: Watch

    def table(self, table: Table, report: TableReport) -> None:
        """Copy one table, in the order of its key."""
        if self.target.count(table) == 0:
            for page in pages(self.source, table):
                self._insert(table, page)
                report.added += len(page)
                self.watch(len(page))
            return
        if not self.merging:  # first of all, as a stale row may have the unique key of a new one
            for keys in chunks(self._stale(table, report), row_bytes):
                self._write(table, keys, self.target.ways.delete)
        for found in chunks(self._missing(table, report), row_bytes):
            self._insert(table, found)
        report.added -= report.replaced

    def _stale(self, table: Table, report: TableReport) -> Iterator[Row]:
        """Keys of target rows that the source does not have, or has with other values."""
        for ours, theirs in self._pairs(table):
            if theirs is None or ours == theirs:
                continue
            if ours is None:
                report.removed += 1
            else:
                report.replaced += 1
            yield table.key_of(theirs)

    def _missing(self, table: Table, report: TableReport) -> Iterator[Row]:
        """Rows that only the source has."""
        for ours, theirs in self._pairs(table, self.watch):
            if ours is None:
                continue
            if theirs is None:
                report.added += 1
                yield ours
            elif ours == theirs or table.name in OWN_TABLES:
                report.same += 1
            else:
                raise _collides(table, ours)

    def _pairs(self, table: Table, watch: Watch | None = None) -> Iterator[Pair]:
        return pairs(rows(self.source, table, watch), rows(self.target, table), table.key_of)

    def _insert(self, table: Table, found: Sequence[Row]) -> None:
        try:
            self._write(table, found, self.target.ways.insert)
        except TenureError:
            raise
        except Exception as error:
            raise _stopped(table, found, error, self.merging) from error

    def _write(
        self,
        table: Table,
        found: Sequence[Row],
        way: Callable[[object, Table, Sequence[Row]], None],
    ) -> None:
        with self._transaction():
            way(self.target.connection, table, found)

    def _transaction(self) -> AbstractContextManager[None]:
        return nullcontext() if self.merging else self.target.writing()


def _collides(table: Table, row: Row) -> TransferRefused:
    return TransferRefused(
        f"{table.name} has another row {table.key_of(row)} in the target: what the target has is "
        "never changed. Nothing was written; move into an empty database, or remove the row on "
        "one side"
    )


def _stopped(
    table: Table, found: Sequence[Row], error: Exception, merging: bool
) -> TransferStopped:
    refused = f"the rows {table.key_of(found[0])} to {table.key_of(found[-1])}"
    rest = "nothing was written" if merging else "what was written before them stays"
    told = str(error).partition("\n")[0]  # some drivers go on with what is in the row
    return TransferStopped(
        f"{table.name}: the target did not take {refused}: {told}; {rest}, and the source is as it "
        "was. Run tenure move again when the cause is gone"
    )
