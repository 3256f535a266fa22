"""What features add to events as they are published, in the transaction of the publisher.

An event without a hook takes the usual way: nothing here is called for it but `matching`.
"""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from tenure.core.errors import OptionError
from tenure.core.job import NewJob
from tenure.feature import Feature, FeatureSql, PublishedEvent, PublishHook
from tenure.features.outbox.patterns import check_pattern, matches
from tenure.stores.sql.foreign.async_transaction import adopt_async
from tenure.stores.sql.statement import Plan

if TYPE_CHECKING:
    from tenure.app import Tenure
    from tenure.jobs.reference import JobRef
    from tenure.stores.sql.store import SqlStore

END = '"}}'


class Hook(NamedTuple):
    """A hook, the events that it is for, and the queries that it may use."""

    pattern: str
    call: PublishHook
    sql: FeatureSql | None


class Addition(NamedTuple):
    """What hooks add to one event: jobs, and plans with the queries that they use."""

    jobs: list[NewJob]
    plans: list[tuple[FeatureSql, Plan[None]]]


class PublishHooks:
    """The hooks of one outbox: its own, and those of the app's features."""

    def __init__(self, app: Tenure) -> None:
        self._app = app
        self._hooks: list[Hook] = []
        app.features.follow(self._take)

    def __bool__(self) -> bool:
        return bool(self._hooks)

    def add(self, pattern: str, call: PublishHook, sql: FeatureSql | None = None) -> None:
        """Call it for every event that matches."""
        check_pattern(pattern)
        if not callable(call):
            raise OptionError(f"on_publish takes a function of an event, not {call!r}")
        self._hooks.append(Hook(pattern, call, sql))

    def _take(self, feature: Feature) -> None:
        for pattern, call in feature.publish_hooks.items():
            self.add(pattern, call, feature.sql if feature.tables else None)

    def matching(self, events: Sequence[NewJob]) -> dict[int, Addition]:
        """What is added to which of these events. Raises what a hook raises: nothing is written."""
        found: dict[int, Addition] = {}
        for position, new in enumerate(events):
            type = type_of(new)
            hooks = [hook for hook in self._hooks if matches(hook.pattern, type)]
            if hooks:
                found[position] = _addition(hooks, _event(new))
        return found

    def publish(
        self, events: Sequence[NewJob], added: Mapping[int, Addition], tx: Any, notify: str | None
    ) -> list[JobRef]:
        """The events and what hooks add, together."""
        if tx is None:
            with self._app.transaction() as own:
                return self._publish(events, added, own, notify)
        with self._app.store.adopt(getattr(tx, "inner", tx)):
            return self._publish(events, added, tx, notify)

    async def publish_async(
        self, events: Sequence[NewJob], added: Mapping[int, Addition], tx: Any, notify: str | None
    ) -> list[JobRef]:
        """The same from a coroutine."""
        store, inner = self._app.store, getattr(tx, "inner", tx)
        if tx is None or (inner is not tx and not store.is_async(inner)):
            return await asyncio.to_thread(self.publish, events, added, tx, notify)
        async with adopt_async(cast("SqlStore", store).database, inner):
            refs = await self._app.enqueue_many_async(events, tx=tx, notify=notify)
            for addition in _wanted(added, refs):
                await self._app.enqueue_many_async(addition.jobs, tx=tx, notify=notify)
                for sql, plan in addition.plans:
                    await sql.plan_async(partial(_same, plan), tx=tx)
        return refs

    def _publish(
        self, events: Sequence[NewJob], added: Mapping[int, Addition], tx: Any, notify: str | None
    ) -> list[JobRef]:
        refs = self._app.enqueue_many(events, tx=tx, notify=notify)
        for addition in _wanted(added, refs):
            self._app.enqueue_many(addition.jobs, tx=tx, notify=notify)
            for sql, plan in addition.plans:
                sql.plan(partial(_same, plan), tx=tx)
        return refs


def _same(plan: Plan[None]) -> Plan[None]:
    return plan


def _wanted(added: Mapping[int, Addition], refs: Sequence[JobRef]) -> Iterable[Addition]:
    """Nothing is added to an event that was published before."""
    return (addition for position, addition in added.items() if refs[position].created)


def type_of(new: NewJob) -> str:
    """The type of an event. Payloads have their names in order, so it is the last one: to decode
    the data of an event that no hook is for would cost more than all else here.
    """
    # Quotes within a text are escaped: this can only be the name itself.
    _, found, end = new.payload.rpartition('"type":')
    return str(json.loads(end[:-2])) if found and end.endswith(END) else _event(new).type


def _event(new: NewJob) -> PublishedEvent:
    said = json.loads(new.payload)["event"]
    return PublishedEvent(
        id=said["id"],
        type=said["type"],
        aggregate_type=said.get("aggregate_type"),
        aggregate_id=said.get("aggregate_id"),
        data=said.get("data"),
        tenant=new.tenant,
        owner=new.owner,
        correlation_id=new.correlation_id,
    )


def _addition(hooks: Iterable[Hook], event: PublishedEvent) -> Addition:
    whole = Addition([], [])
    for hook in hooks:
        answer = hook.call(event)
        if inspect.isgenerator(answer):
            if hook.sql is None:
                raise OptionError(
                    f"the hook for {hook.pattern!r} yields statements, which needs a feature with "
                    "tables; return a list of jobs"
                )
            whole.plans.append((hook.sql, cast(Plan[None], answer)))
            continue
        jobs: list[Any] = list(answer or ())
        if wrong := [one for one in jobs if not isinstance(one, NewJob)]:
            raise OptionError(
                f"the hook for {hook.pattern!r} returned {wrong[0]!r}; return jobs made with new()"
            )
        whole.jobs.extend(jobs)
    return whole
