"""Counts of jobs by state, and the relatives of a job, in answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from pydantic import Field

from tenure.api.kit.shapes.jobs import ListedJobShape
from tenure.api.kit.shapes.shape import Moment, Shape
from tenure.core.job import Job, State
from tenure.stores.contract.reading import Count, Counts, Precision, Relatives, Step

NONE = Count(0)


class CountShape(Shape):
    """A number of jobs, and how good it is."""

    count: int
    precision: Precision


class CountsShape(Shape):
    """Every state is there."""

    states: dict[State, CountShape]
    searched: int | None = Field(description="How many rows were read, if no index had the answer.")
    complete: bool


class StepShape(Shape):
    """A finished step of a job."""

    name: str
    at: Moment
    result: Any


class FamilyShape(Shape):
    """What a job has to do with others. At most 100 of each."""

    parent: ListedJobShape | None
    batch: ListedJobShape | None
    children: list[ListedJobShape]
    children_more: bool
    waits_for: list[ListedJobShape]
    dependents: list[ListedJobShape]
    dependents_more: bool
    steps: list[StepShape]


def counts_shape(found: Counts) -> CountsShape:
    """The shape of counts."""
    sure = Precision.EXACT if found.complete else Precision.AT_LEAST
    states = {state: found.states.get(state, Count(0, sure)) for state in State}
    return CountsShape(
        states={
            state: CountShape(count=count.jobs, precision=count.precision)
            for state, count in states.items()
        },
        searched=found.searched,
        complete=found.complete,
    )


def family_shape(
    found: Relatives, rows: Callable[[Sequence[Job]], list[ListedJobShape]], most: int
) -> FamilyShape:
    """The shape of relatives; `rows` makes rows of a list in one go."""
    single = [job for job in (found.parent, found.batch) if job is not None]
    lists = [found.children[:most], found.waits_for[:most], found.dependents[:most]]
    shown = {row.job_id: row for row in rows([*single, *(job for one in lists for job in one)])}
    children, waits_for, dependents = ([shown[job.id] for job in one] for one in lists)
    return FamilyShape(
        parent=None if found.parent is None else shown[found.parent.id],
        batch=None if found.batch is None else shown[found.batch.id],
        children=children,
        children_more=len(found.children) > most,
        waits_for=waits_for,
        dependents=dependents,
        dependents_more=len(found.dependents) > most,
        steps=[_step(one) for one in found.steps[:most]],
    )


def _step(one: Step) -> StepShape:
    result = None if one.result is None else json.loads(one.result)
    return StepShape(name=one.name, at=one.at, result=result)
