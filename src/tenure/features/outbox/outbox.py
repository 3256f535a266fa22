"""`Outbox(app)`: publish events in your transaction, subscribe to them by type, see them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

from tenure.core.errors import OptionError
from tenure.core.job import NewJob
from tenure.core.outcome import check_delay
from tenure.core.page import Page
from tenure.core.rules.retry import RetryPolicy
from tenure.feature import PublishHook, read_settings
from tenure.features.outbox import publish as publishing
from tenure.features.outbox import view as viewing
from tenure.features.outbox.dispatch import NoHandler, dispatch_handler, dispatcher
from tenure.features.outbox.event import check_text
from tenure.features.outbox.feature import OutboxFeature
from tenure.features.outbox.metrics import OutboxMetrics
from tenure.features.outbox.patterns import check_known, check_pattern, check_single, is_pattern
from tenure.features.outbox.publish import EventOptions, EventRef
from tenure.features.outbox.publish_hooks import PublishHooks
from tenure.features.outbox.runner import OutboxRunner
from tenure.features.outbox.settings import OUTBOX_QUEUE, OutboxSettings
from tenure.features.outbox.subscribe import SubscriberOptions, subscribe
from tenure.features.outbox.subscription import Subscription
from tenure.features.outbox.subscriptions import Subscriptions
from tenure.features.outbox.view import OutboxEvent, ViewFilter
from tenure.jobs.blocking import check_off_loop
from tenure.jobs.handler import Handler
from tenure.jobs.options import tx_options
from tenure.jobs.transaction import check_inside

if TYPE_CHECKING:
    from tenure.app import Tenure

WEEK = 7 * 86_400.0
DEFAULT = "default"


class Outbox(OutboxFeature):
    """Events in your transaction. An app has one: construct it once, beside the app.

    >>> from tenure import RunningJob, Tenure
    >>> from tenure.features.outbox import Event
    >>> app = Tenure("sqlite:///tenure.db")
    >>> outbox = Outbox(app)
    >>> @outbox.on("invoice.created", subscriber="mailer", ordered=True)
    ... def mail(job: RunningJob, event: Event) -> None: ...
    """

    works: ClassVar[bool] = True
    """Whether its workers dispatch events. The installed one only shows them."""

    def __init__(
        self,
        app: Tenure,
        *,
        settings: OutboxSettings | None = None,
        no_handler: NoHandler | str = NoHandler.FAIL,
        window: float = WEEK,
        types: Iterable[str] | None = None,
    ) -> None:
        if no_handler not in list(NoHandler):
            raise OptionError(f"no_handler {no_handler!r} is not one of {', '.join(NoHandler)}")
        if not check_delay("window", window):
            raise OptionError("window must be greater than 0")
        super().__init__(app)
        self._app = app
        self._window = window
        if isinstance(types, str):
            raise OptionError(f"types takes a list of event types, not the text {types!r}")
        self._types = None if types is None else frozenset(types)
        for one in self._types or ():
            check_text("event type", one)
            check_single(one)
        self._hooks = PublishHooks(app)
        self.settings = settings or read_settings(OutboxSettings)
        self._subscriptions = Subscriptions(app)
        counts = OutboxMetrics(app, self._subscriptions)
        counts.listen(app.signals)
        self.metrics = (counts.events, counts.unhandled)
        if self.works:
            dispatch = dispatcher(app, self._subscriptions, no_handler)
            self.handlers = (dispatch_handler(app, dispatch),)
            self.runners = (OutboxRunner(self._subscriptions, self.settings),)
            self.slots = self.settings.slots
        app.include(self)

    def on(
        self,
        type: str,
        *,
        subscriber: str | None = None,
        queue: str = OUTBOX_QUEUE,
        retry: RetryPolicy | None = None,
        **options: Unpack[SubscriberOptions],
    ) -> Callable[[Callable[..., Any]], Handler[Any]]:
        """Subscribe a function to events of a type: `def mail(job: RunningJob, event: Event)`.

        A pattern subscribes it to several: `invoice.*`, or `*` for all. `subscriber` is "default";
        for a pattern it is the name of the function. A subscriber gets each event once, by its most
        specific subscription.

        With `ordered=True` the events of one aggregate come one at a time, in the order of their
        commits; when one fails for good, the others wait (`on_failure="block"`) or go on ("skip").
        """
        chosen = retry or self.settings.retry
        check_pattern(type)
        check_known(type, self._types)
        name = DEFAULT if subscriber is None and not is_pattern(type) else subscriber
        return subscribe(self._app, self._subscriptions, (type, name), queue, chosen, options)

    def on_publish(self, pattern: str, hook: PublishHook) -> None:
        """Call `hook(event)` for each event that matches, before it is written: the jobs that it
        returns are added in the publisher's transaction, and what it raises refuses the publish.
        """
        self._hooks.add(pattern, hook)

    def event(self, type: str, **said: Unpack[EventOptions]) -> NewJob:
        """An event to pass to `publish_many`."""
        if self._types is not None:
            check_known(type, self._types)
        return publishing.new_event(self._app, type, said, self._window)

    def publish(
        self, tx: Any, type: str, *, notify: str | None = None, **said: Unpack[EventOptions]
    ) -> EventRef:
        """An event that exists if and only if `tx` commits; with None it does when this returns.

        `outbox.publish(tx, "invoice.created", aggregate=("Invoice", 42), data={"total": 100})`
        """
        publishing.check_transaction(tx)
        return self.publish_many(tx, [self.event(type, **said)], notify=notify)[0]

    def publish_many(
        self, tx: Any, events: Iterable[NewJob], *, notify: str | None = None
    ) -> list[EventRef]:
        """All or none, their aggregates locked at once: two callers cannot wait for each other."""
        check_off_loop("publish()", "await publish_async()")
        check_inside(tx)
        events, place = list(events), tx_options({"tx": tx, "notify": notify})
        publishing.check_events(events)
        added = self._hooks.matching(events) if self._hooks else None
        with publishing.telling_conflicts():
            if added:
                refs = self._hooks.publish(events, added, tx, notify)
            else:
                refs = self._app.enqueue_many(events, **place)
        return publishing.refs(events, refs)

    async def publish_async(
        self, tx: Any, type: str, *, notify: str | None = None, **said: Unpack[EventOptions]
    ) -> EventRef:
        """The same from a coroutine: in `async with job.settle()`, or an async connection."""
        publishing.check_transaction(tx)
        return (await self.publish_many_async(tx, [self.event(type, **said)], notify=notify))[0]

    async def publish_many_async(
        self, tx: Any, events: Iterable[NewJob], *, notify: str | None = None
    ) -> list[EventRef]:
        """Many from a coroutine, all or none."""
        check_inside(tx)
        events, place = list(events), tx_options({"tx": tx, "notify": notify})
        publishing.check_events(events)
        added = self._hooks.matching(events) if self._hooks else None
        with publishing.telling_conflicts():
            if added:
                refs = await self._hooks.publish_async(events, added, tx, notify)
            else:
                refs = await self._app.enqueue_many_async(events, **place)
        return publishing.refs(events, refs)

    def view(
        self, where: ViewFilter | None = None, *, limit: int = 50, after: str | None = None
    ) -> Page[OutboxEvent]:
        """Events, newest first, one row for each subscriber; `after` goes on behind a page."""
        known = list(self._subscriptions.all())
        return viewing.view(self._app, known, where or ViewFilter(), limit, after)

    def events(
        self, where: ViewFilter | None = None, *, after: str | None = None
    ) -> Iterator[OutboxEvent]:
        """All rows that match, read page by page."""
        while True:
            page = self.view(where, limit=viewing.PAGE, after=after)
            yield from page.rows
            after = page.next
            if after is None:
                return

    def retry(self, id: str, actor: str = "operator") -> OutboxEvent:
        """Send it once more, to one subscriber; an event that nobody wanted is dispatched again."""
        self.get(id)  # JobNotFound where the job is none of the outbox
        self._app.retry(id, actor)
        return self.get(id)

    def get(self, id: str) -> OutboxEvent:
        """One row of the view, by its id (which is that of its job)."""
        return viewing.get(self._app, id)

    def find(self, event_id: str, *, tenant: str = "") -> list[OutboxEvent]:
        """The rows of one event."""
        return viewing.find(self._app, list(self._subscriptions.all()), event_id, tenant)

    def subscriptions(self) -> list[Subscription]:
        """All subscriptions, of any program on this database, including ended ones."""
        return list(self._subscriptions.all())

    def unsubscribe(self, type: str, subscriber: str) -> Subscription:
        """End a subscription. A worker whose code declares it subscribes it again."""
        ended = self._subscriptions.end(type, subscriber)
        self._app.signals.emit("outbox.unsubscribed", type=type, subscriber=subscriber)
        return ended


class InstalledOutbox(Outbox):
    """The outbox of an app whose code has none: it shows events and subscribers.

    It dispatches nothing. A worker that did would take events from the queues of every database,
    and know no subscriber of its own.
    """

    works = False


def installed(app: Tenure) -> Outbox:
    """The entry point. Settings matter to those who dispatch, so a wrong one stops nobody here."""
    return InstalledOutbox(app, settings=OutboxSettings.model_construct())
