"""Both sides read again and compared: row by row, counted, and summed up in the same way."""

from __future__ import annotations

from tenure.core.errors import TransferDiffers
from tenure.features.transfer.copy import OWN_TABLES
from tenure.features.transfer.end import End
from tenure.features.transfer.merge import Checksum, Pair, pairs
from tenure.features.transfer.pages import Watch, rows
from tenure.stores.sql.statement import Row
from tenure.stores.sql.tables import Table


def verify(source: End, target: End, *, merged: bool, watch: Watch) -> dict[str, str]:
    """The checksum of each table; an error that names the first row that is not the same."""
    found = {table.name: _table(source, target, table, merged, watch) for table in source.tables}
    for table in source.tables:
        if table.counted:
            _check_ids(source, target, table)
    return found


def _table(source: End, target: End, table: Table, merged: bool, watch: Watch) -> str:
    ours, theirs, first = Checksum(), Checksum(), None
    for pair in pairs(rows(source, table, watch), rows(target, table), table.key_of):
        left, right = pair
        if merged and _of_the_target(table, pair):
            continue
        if left is not None:
            ours.add(left)
        if right is not None:
            theirs.add(right)
        if first is None and left != right:
            first = table.key_of(left or right or ())
    if ours.digest != theirs.digest:
        raise TransferDiffers(_told(table, ours, theirs, first))
    return ours.digest


def _of_the_target(table: Table, pair: Pair) -> bool:
    """Whether a row was in the target before the move."""
    left, right = pair
    return left is None or (right is not None and table.name in OWN_TABLES)


def _told(table: Table, ours: Checksum, theirs: Checksum, first: Row | None) -> str:
    return (
        f"{table.name} is not the same on both sides: {ours.rows:,} rows with checksum "
        f"{ours.digest} in the source, {theirs.rows:,} with {theirs.digest} in the target; they "
        f"first differ at {first}. Run tenure move again: it replaces what differs"
    )


def _check_ids(source: End, target: End, table: Table) -> None:
    """An id that was given out before must not be given out again."""
    last = source.ways.last_id(source.connection, table)
    there = target.ways.last_id(target.connection, table)
    if there < last:
        raise TransferDiffers(
            f"{table.name} of the target would give out the id {there + 1} again; the last one of "
            f"the source was {last}"
        )
