"""A statement to run, as data, and the plans that yield them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

T = TypeVar("T")
Item = TypeVar("Item")
STATEMENT_BYTES = 4_000_000
WAITED = "waited"
Row = tuple[Any, ...]
Rows = list[Row]


@dataclass(frozen=True, slots=True)
class Batch:
    """Many rows as one parameter: arrays or JSON, as the dialect likes it; or one by one.

    Those that `take` a number each may have `room` for fewer: the last of them get less or nothing.
    """

    columns: tuple[str, ...]
    rows: Sequence[Row]
    room: int | None = None

    def each(self, found: Rows) -> Iterator[dict[str, Any]]:
        """The rows one by one, as long as there is room beside what was found."""
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
"""Statements out, rows in, an answer at the end."""


def chunks(items: Iterable[Item], key: Callable[[Item], int]) -> Iterator[list[Item]]:
    """Parts of a batch below a few megabytes each: servers limit the size of a packet."""
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
    """Runs one statement somewhere and gives its rows."""

    def run(self, statement: Statement) -> Rows:
        """All rows; an empty list where there are none."""
        ...

    def execute(self, sql: str, /) -> Any:
        """Words without values, and without rows."""
        ...


class AsyncExecutor(Protocol):
    """The same on an async driver."""

    async def run(self, statement: Statement) -> Rows:
        """All rows; an empty list where there are none."""
        ...

    async def execute(self, sql: str) -> Any:
        """Words without values, and without rows."""
        ...


def drive(plan: Plan[T], executor: Executor) -> T:
    """Run a plan to its answer. An error of the driver is raised inside the plan."""
    try:
        statement = next(plan)
        while True:
            try:
                rows = executor.run(statement)
            except Exception as error:  # the plan may know better
                statement = plan.throw(error)
            else:
                statement = plan.send(rows)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


async def drive_async(plan: Plan[T], executor: AsyncExecutor) -> T:
    """The same plan on an async driver."""
    try:
        statement = next(plan)
        while True:
            try:
                rows = await executor.run(statement)
            except Exception as error:  # the plan may know better
                statement = plan.throw(error)
            else:
                statement = plan.send(rows)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
