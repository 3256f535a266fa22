"""A statement to run, as data; plans, which yield statements; and `drive`, which runs a plan."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

T = TypeVar("T")
Item = TypeVar("Item")
# Well below the smallest usual limit of a packet, which is 16 MB, even if quoting doubles it.
STATEMENT_BYTES = 4_000_000
WAITED = "waited"
Row = tuple[Any, ...]
Rows = list[Row]


@dataclass(frozen=True, slots=True)
class Batch:
    """Many rows as one parameter: as arrays, as JSON or one by one, whatever the dialect prefers.

    If the rows have a column `take`, `room` bounds the sum: the last rows get less, or nothing.
    """

    columns: tuple[str, ...]
    rows: Sequence[Row]
    room: int | None = None

    def each(self, found: Rows) -> Iterator[dict[str, Any]]:
        """The rows one by one, as long as there is room."""
        for row in self.rows:
            own = dict(zip(self.columns, row, strict=True))
            if self.room is not None:
                own["take"] = min(own["take"], self.room - len(found))
                if own["take"] <= 0:
                    return
            yield own


@dataclass(frozen=True, slots=True)
class Statement:
    """The name of a query in the `.sql` files, its values, and the conditions put in `{where}`.

    A value called WAITED becomes the microseconds that its transaction waited to begin.
    """

    name: str
    values: Mapping[str, Any] = field(default_factory=dict)
    batch: Batch | None = None
    where: tuple[str, ...] = ()


Plan = Generator[Statement, Rows, T]
"""Yields statements, is sent their rows, and returns an answer. A plan neither knows the driver
nor whose transaction it runs in, so the same plan serves blocking and async connections.
"""


def one(statement: Statement) -> Plan[Rows]:
    """A plan of a single statement."""
    return (yield statement)


def chunks(items: Iterable[Item], key: Callable[[Item], int]) -> Iterator[list[Item]]:
    """Parts of a few megabytes each, because servers limit the size of a packet."""
    part: list[Item] = []
    size = 0
    for item in items:
        part.append(item)
        size += key(item)
        if size > STATEMENT_BYTES:
            yield part
            part, size = [], 0
    if part:
        yield part


class Executor(Protocol):
    """Runs statements on some connection."""

    def run(self, statement: Statement) -> Rows:
        """All rows of its answer."""
        ...

    def execute(self, sql: str, /) -> Any:
        """A statement without values and rows."""
        ...


def drive(plan: Plan[T], executor: Executor) -> T:
    """Run a plan to its answer. An error of the driver is raised inside the plan."""
    try:
        statement = next(plan)
        while True:
            try:
                rows = executor.run(statement)
            except Exception as error:  # the plan may handle it
                statement = plan.throw(error)
            else:
                statement = plan.send(rows)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
