"""The handlers of one app, by kind, and the slots of its queues."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tenure.core.errors import OptionError, UnknownKind
from tenure.core.rules.retry import RetryPolicy
from tenure.jobs.declared_jobs import DeclaredHandler, Jobs
from tenure.jobs.handler import Handler
from tenure.jobs.handler_options import QueueSlots

if TYPE_CHECKING:
    from tenure.jobs.app_protocol import App


class Registry:
    """`app.handlers`."""

    def __init__(self) -> None:
        self._handlers: dict[str, Handler[Any]] = {}
        self.slots: dict[str, QueueSlots] = {}

    def include(self, app: App, handlers: Iterable[Handler[Any] | DeclaredHandler[Any]]) -> None:
        """Take handlers, all or none. Those of a `Jobs` get the app's defaults."""
        given = list(handlers)
        for kind in (one.kind for one in given):
            self._check_free(kind)
        for one in given:
            self.add(one if isinstance(one, Handler) else one.bind(app))
        if isinstance(handlers, Jobs):
            handlers.joined(app)  # also where it is empty still: handlers may be declared later

    def check_free(self, parts: Iterable[Any]) -> None:
        """Before anything is taken: each part has handlers, and each kind only one."""
        kinds = [one.kind for part in parts for one in _handlers_of(part)]
        for at, kind in enumerate(kinds):
            if kind in kinds[:at]:
                raise OptionError(f"{kind!r} has a handler already")
            self._check_free(kind)

    def include_slots(self, slots: Mapping[str, QueueSlots]) -> None:
        """Take the slots of a feature's queues."""
        self.slots.update(slots)

    def give(self, queue: str, slots: int | None) -> None:
        """Set how many jobs of a queue each worker runs at a time; None leaves it as it is."""
        if slots is not None:
            if type(slots) is not int or slots < 1:
                raise OptionError(f"a queue needs at least one slot, not {slots!r}")
            known = self.slots.get(queue, QueueSlots(slots))
            self.slots[queue] = replace(known, slots=slots)

    def add(self, handler: Handler[Any]) -> None:
        """One handler per kind."""
        self._check_free(handler.kind)
        self._handlers[handler.kind] = handler

    def get(self, kind: str) -> Handler[Any] | None:
        """The handler of a kind, or None."""
        return self._handlers.get(kind)

    def policy(self, kind: str, otherwise: RetryPolicy) -> RetryPolicy:
        """The retry policy of a kind; `otherwise` where this app has no handler."""
        handler = self._handlers.get(kind)
        return otherwise if handler is None else handler.options.retry

    def require(self, kind: str) -> Handler[Any]:
        """The handler of a kind, or an error that lists the known kinds."""
        found = self._handlers.get(kind)
        if found is None:
            raise UnknownKind(kind, list(self._handlers))
        return found

    def __iter__(self) -> Iterator[Handler[Any]]:
        return iter(self._handlers.values())

    @property
    def kinds(self) -> list[str]:
        """The kinds that this app can run."""
        return list(self._handlers)

    @property
    def queues(self) -> list[str]:
        """The queues of its handlers."""
        return list(dict.fromkeys(handler.options.queue for handler in self))

    def _check_free(self, kind: str) -> None:
        if kind in self._handlers:
            raise OptionError(f"{kind!r} has a handler already")


def _handlers_of(part: Any) -> Iterable[Handler[Any] | DeclaredHandler[Any]]:
    handlers = part if isinstance(part, Jobs) else getattr(part, "handlers", None)
    if handlers is None:
        raise OptionError(f"include takes features and Jobs, not {part!r}")
    found: Iterable[Handler[Any] | DeclaredHandler[Any]] = handlers
    return found
