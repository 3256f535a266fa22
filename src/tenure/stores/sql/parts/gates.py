"""Rules of gates on a SQL database: limits of single keys, and holds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from tenure.core.rules.holds import KeyHold
from tenure.core.rules.limits import SEPARATOR, Limit, gate_of
from tenure.stores.contract.gates import KeyLimit
from tenure.stores.contract.parts import PAGE
from tenure.stores.sql.database import Database
from tenure.stores.sql.foreign.transaction import run_in
from tenure.stores.sql.ids import row_id
from tenure.stores.sql.statement import Statement
from tenure.stores.sql.write.gate_rules import (
    Rule,
    RuleRow,
    change_rule,
    held,
    limited,
    rule_rows,
)


class SqlGates:
    """See `tenure.stores.contract.GateStore`. `changed(frees)` is called after each change; with
    `frees` if parked jobs may go on.
    """

    def __init__(self, database: Database, changed: Callable[[bool], None]) -> None:
        self._database = database
        self._changed = changed
        self._here: tuple[Callable[[str], None], ...] = ()

    def limit(self, kind: str, key: str, limit: Limit | None, tx: Any = None) -> bool:
        """Limit one key, or remove its limit."""
        before = self._change(gate_of(kind, key), partial(limited, limit), tx)
        self._changed(before.limit is not None)
        return before.limit is not None

    def hold(self, hold: KeyHold, tx: Any = None) -> None:
        """Replace the hold of a key, or of a kind."""
        self._change(hold.gate, partial(held, hold), tx)
        self._changed(False)
        for heard in self._here:
            heard(hold.gate)

    def release(self, kind: str, key: str | None, tx: Any = None) -> bool:
        """End a hold. Most calls find none: a handler may call it after each success."""
        name = gate_of(kind, key)
        if tx is None and not self._is_held(name):
            return False
        before = self._change(name, partial(held, None), tx)
        if before.hold is not None:
            self._changed(True)
        return before.hold is not None

    def limits(self) -> Sequence[KeyLimit]:
        """The limits of single keys."""
        return [
            KeyLimit(*_split(row.name), limit)
            for row in self._rows()
            if (limit := row.limit) is not None
        ]

    def holds(self) -> Sequence[KeyHold]:
        """The holds that are not over."""
        return [hold for row in self._rows() if (hold := row.key_hold) is not None]

    def begins(self, kinds: Collection[str]) -> frozenset[str]:
        """Kinds that must not be claimed ahead."""
        found = self._database.read(Statement("rated_kinds", {"kinds": sorted(kinds)}))
        return frozenset(kind for (kind,) in found)

    def subscribe(self, heard: Callable[[str], None]) -> Callable[[], None]:
        """Tell of the holds that are set in this process."""
        self._here = (*self._here, heard)
        return lambda: self._remove(heard)

    def gates_of(self, job_ids: Collection[str]) -> Mapping[str, str | None]:
        """The gates under which jobs were added, or at which they were parked."""
        values = {"ids": [row_id(job_id) for job_id in job_ids]}
        found = self._database.read(Statement("gates_of_jobs", values))
        return {str(number): gate for number, gate in found}

    def _is_held(self, name: str) -> bool:
        found = self._database.read(Statement("named_rules", {"gates": [name]}))
        return any(row.key_hold is not None for row in rule_rows(found))

    def _remove(self, heard: Callable[[str], None]) -> None:
        self._here = tuple(one for one in self._here if one is not heard)

    def _change(self, name: str, change: Callable[[Rule], Rule], tx: Any) -> Rule:
        return run_in(self._database, tx, partial(change_rule, name, change))

    def _rows(self) -> Iterator[RuleRow]:
        after: str | None = ""
        while after is not None:
            values = {"after": after, "limit": PAGE}
            page = rule_rows(self._database.read(Statement("list_rules", values)))
            yield from page
            after = page[-1].name if len(page) == PAGE else None


def _split(name: str) -> tuple[str, str]:
    kind, _, key = name.partition(SEPARATOR)
    return kind, key
