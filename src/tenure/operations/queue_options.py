"""Options of queues. Code declares them; operators override them in the database."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from tenure.core.errors import OptionError
from tenure.jobs.options import check_name
from tenure.stores.contract import Store
from tenure.stores.contract.parts import Record, every

if TYPE_CHECKING:
    from tenure.jobs.registry import Registry

QUEUE_OPTIONS = "queue_options"
LONGEST_AGEING = 30 * 86_400.0
MOST_PREFETCH = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueOptions:
    """`ageing` is in seconds; None is off. `prefetch` None: each worker decides by itself."""

    fair: bool = True
    ageing: float | None = None
    prefetch: int | None = None

    def __post_init__(self) -> None:
        """Refuse values that are out of bounds."""
        if not isinstance(self.fair, bool):
            raise OptionError(f"fair must be true or false, not {self.fair!r}")
        if self.ageing is not None:
            _check_seconds(self.ageing)
        if self.prefetch is not None and (
            type(self.prefetch) is not int or not 0 <= self.prefetch <= MOST_PREFETCH
        ):
            raise OptionError(
                f"prefetch must be a whole number of jobs from 0 (off) to {MOST_PREFETCH:,}, "
                f"not {self.prefetch!r}"
            )


NAMES = tuple(field.name for field in fields(QueueOptions))
AS_USUAL = QueueOptions()


class Queues:
    """`app.queues`. An operator's options replace those of the code within 15 s."""

    def __init__(self, store: Store, handlers: Registry) -> None:
        self._store = store
        self._handlers = handlers
        self.declared: dict[str, QueueOptions] = {}
        self.ageing: Mapping[str, float] = {}

    def on(self, store: Store) -> Queues:
        """The declared options, on another store."""
        moved = Queues(store, self._handlers)
        moved.declared = self.declared
        return moved

    def declare(
        self,
        name: str,
        *,
        slots: int | None = None,
        fair: bool = True,
        ageing: float | None = None,
        prefetch: int | None = None,
    ) -> None:
        """Declare the options of a queue: `app.queue("pdf", slots=2, fair=False, ageing=60)`.

        `slots`: jobs at a time in each worker. `fair=False`: within a priority the oldest job goes
        first, of any tenant. `ageing`: after so many seconds a job goes up one step of priority.
        `prefetch`: at most so many jobs are claimed ahead of free slots, 0 for none; None leaves it
        to each worker.
        """
        check_name("queue", name)
        self.declared[name] = QueueOptions(fair=fair, ageing=ageing, prefetch=prefetch)
        self._handlers.give(name, slots)

    def set(self, name: str, **changes: Any) -> QueueOptions:
        """Set options as an operator. Options that are not named stay as they are."""
        check_name("queue", name)
        if unknown := changes.keys() - set(NAMES):
            raise OptionError(f"a queue has no option {sorted(unknown)[0]!r}")
        found = self._store.records.find(QUEUE_OPTIONS, name)
        said = {**(_known(found.data) if found else {}), **changes}
        checked = QueueOptions(**{**asdict(self.declared.get(name, AS_USUAL)), **said})
        self._store.records.upsert(Record(collection=QUEUE_OPTIONS, name=name, data=said))
        return checked

    def forget(self, name: str) -> bool:
        """Remove an operator's options; returns whether there were any."""
        return self._store.records.remove(QUEUE_OPTIONS, name)

    def kept(self) -> dict[str, dict[str, Any]]:
        """The options that operators have set, by queue."""
        found = every(self._store.records, QUEUE_OPTIONS)
        return {record.name: _known(record.data) for record in found}

    def in_force(self) -> dict[str, QueueOptions]:
        """The options in force in this app, by queue. Other queues have the defaults."""
        kept = self.kept()
        found = {
            name: QueueOptions(
                **{**asdict(self.declared.get(name, AS_USUAL)), **kept.get(name, {})}
            )
            for name in sorted(self.declared.keys() | kept.keys())
        }
        self.ageing = {name: one.ageing for name, one in found.items() if one.ageing is not None}
        return found


def _known(data: Mapping[str, Any]) -> dict[str, Any]:
    """The stored options that this code knows. Newer code may have stored more."""
    return {name: data[name] for name in NAMES if name in data}


def _check_seconds(value: object) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or not 0 < value <= LONGEST_AGEING:  # type: ignore[arg-type,operator]
        raise OptionError(
            f"ageing must be a number of seconds above 0 and up to 30 days, not {value!r}; "
            "None switches it off"
        )
