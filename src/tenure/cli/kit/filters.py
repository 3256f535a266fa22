"""Filter options, passed to a command as one JobFilter in its parameter `where`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from tenure.cli.kit.options import (
    CorrelationId,
    CreatedAfter,
    CreatedBefore,
    ErrorGroup,
    Key,
    Kinds,
    Owner,
    Queues,
    States,
    Tenant,
    Words,
)
from tenure.core.filter import JobFilter
from tenure.core.search import both, search


def job_filter(
    *,
    state: States = None,
    kind: Kinds = None,
    queue: Queues = None,
    tenant: Tenant = None,
    owner: Owner = None,
    key: Key = None,
    correlation_id: CorrelationId = None,
    created_after: CreatedAfter = None,
    created_before: CreatedBefore = None,
    group: ErrorGroup = None,
    query: Words = None,
) -> JobFilter:
    """A filter from the options. An option that is not given matches everything."""
    given = JobFilter(
        states=tuple(state) if state else None,
        kinds=tuple(kind) if kind else None,
        queues=tuple(queue) if queue else None,
        tenant=tenant,
        owner=owner,
        key=key,
        correlation_id=correlation_id,
        created_after=created_after,
        created_before=created_before,
        error_group=group,
    )
    return given if query is None else both(given, search(query)) or JobFilter(ids=())


def with_filter(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the parameter `where` of a command by the filter options."""
    mine = list(inspect.signature(job_filter, eval_str=True).parameters.values())
    theirs = inspect.signature(command, eval_str=True).parameters.values()
    kept = [
        parameter.replace(kind=parameter.KEYWORD_ONLY)
        for parameter in theirs
        if parameter.name != "where"
    ]

    def filtered(**values: Any) -> None:
        wanted = {parameter.name: values.pop(parameter.name) for parameter in mine}
        command(where=job_filter(**wanted), **values)

    # Typer reads the signature and the annotations to build the options.
    filtered.__name__, filtered.__doc__ = command.__name__, command.__doc__
    filtered.__signature__ = inspect.Signature([*kept, *mine])  # type: ignore[attr-defined]
    filtered.__annotations__ = {one.name: one.annotation for one in [*kept, *mine]}
    return filtered
