"""What a feature brings to an app. Everything but its name is optional."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

from tenure.core.endings import EVERY_KIND, Event
from tenure.core.errors import InputError, TenureError
from tenure.feature.finding import Finding
from tenure.feature.metrics import Metric
from tenure.feature.published import PublishHook
from tenure.feature.sentence import Telling
from tenure.feature.sql import FeatureSql
from tenure.jobs.declared_jobs import DeclaredHandler
from tenure.jobs.handler import Handler
from tenure.jobs.handler_options import QueueSlots
from tenure.stores.contract import EndingPlan, Hook

if TYPE_CHECKING:
    from pydantic_settings import BaseSettings

# The name becomes a part of SQL, of URLs and of a command: keep it harmless in all three.
NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")


class FeatureError(InputError):
    """A feature cannot be used as it is."""

    code = "bad_feature"


class Runner(Protocol):
    """A named step of a tick: does what it can within the budget, says how much it did.

    It may have `due_in()`, seconds until it wants to run again, and `parts`, a mapping of runners
    that do one part of its work each and run only where WORKER_TICK_RUNNERS names them.
    """

    name: str

    def run(self, budget: Any) -> int:
        """The number of things done."""
        ...


class Includable(Protocol):
    """The least that `app.include` takes: something with handlers."""

    @property
    def handlers(self) -> Iterable[Handler[Any] | DeclaredHandler[Any]]:
        """What it can run."""
        ...


@dataclass(frozen=True, slots=True)
class Problem:
    """How an error is answered: the HTTP status, and the exit code of a command.

    The `type` of the problem document is the `code` of the error's class.
    """

    status: int
    exit_code: int = 1


@dataclass(frozen=True, slots=True)
class Screen:
    """A screen of the dashboard, at `/screens/FEATURE/NAME`.

    `module` is a file of `folder` whose default export draws the screen: a component that imports
    `html` from `/page/vendor/ui.js` and its parts from `/page/shell.js`. The other files of the
    folder are served beside it. `menu` is the group of the menu: Watch, Run, Govern or More.
    `reads` are the API paths that it reads; each must be a route.
    """

    name: str
    title: str
    folder: Path
    module: str = "screen.js"
    menu: str = "More"
    reads: Sequence[str] = ()


class Feature:
    """A part of an app that owns its room: work, tables, routes, commands and what is told of it.

    Attributes are what the engine needs; set them in the class or in `__init__`. Methods are called
    when a face of the app starts: import what they need inside them, so that a program which only
    enqueues jobs does not load a web framework.

    >>> class Hello(Feature):
    ...     name = "hello"
    """

    name: ClassVar[str] = ""
    """Lower-case letters, digits and `_`; also the name of its entry point."""

    handlers: Iterable[Handler[Any] | DeclaredHandler[Any]] = ()
    """What it can run."""

    runners: Sequence[Runner] = ()
    """What it does in every tick."""

    slots: Mapping[str, QueueSlots] = {}
    """How many jobs of its queues a worker runs at a time."""

    tables: str | None = None
    """A package with `<dialect>/migrations/*.sql` and queries in `<dialect>/*.sql`."""

    settings_classes: Sequence[type[BaseSettings]] = ()
    """The classes that read its environment variables."""

    problems: Mapping[type[TenureError], Problem] = {}
    """How its errors are answered; an error without an entry is answered like its base class."""

    screens: Sequence[Screen] = ()
    """Its screens of the dashboard."""

    publish_hooks: Mapping[str, PublishHook] = {}
    """What it adds to events of the outbox as they are published, by type or pattern (`invoice.*`).
    """

    metrics: Sequence[Metric] = ()
    """What it counts: objects of `Counter`, `Gauge` and `Durations`."""

    def __init__(self, app: Any) -> None:
        self.app = app

    @classmethod
    def of(cls, app: Any) -> Self:
        """This feature of an app: the one it includes, or the installed one."""
        found = app.features.get(cls.name)
        if not isinstance(found, cls):
            raise FeatureError(f"the feature {cls.name!r} is not a part of this app")
        return found

    @cached_property
    def sql(self) -> FeatureSql:
        """Runs the queries of its own `.sql` files."""
        return FeatureSql(self.app, self.name, self.tables)

    @cached_property
    def hooks(self) -> list[Hook]:
        """What `on_ending`, `on_reopening` and `on_purge` were called with."""
        return []

    def on_ending(self, kinds: str | Iterable[str], plan: EndingPlan) -> None:
        """Run this plan in the transaction that ends jobs of these kinds, however they end.

        The plan is given the jobs (`EndedJob`) and yields `self.sql.statement(...)`. It may run
        again where the database asks for it. If it fails, the jobs have not ended.
        """
        self._follow(Event.ENDED, kinds, plan)

    def on_reopening(self, kinds: str | Iterable[str], plan: EndingPlan) -> None:
        """Run this plan in the transaction in which an operator starts ended jobs anew."""
        self._follow(Event.REOPENED, kinds, plan)

    def on_purge(self, kinds: str | Iterable[str], plan: EndingPlan) -> None:
        """Run this plan in the transaction that removes the rows of ended jobs; "*" is any kind."""
        self._follow(Event.PURGED, kinds, plan)

    def _follow(self, event: Event, kinds: str | Iterable[str], plan: EndingPlan) -> None:
        named = frozenset([kinds] if isinstance(kinds, str) else kinds)
        hook = Hook(self.name, event, named, plan)
        check_hook(hook)
        self.hooks.append(hook)
        if self.app.features.has(self):
            self.app.features.give_hooks([self], self.app.store)

    def routers(self) -> Iterable[Any]:
        """FastAPI routers. The API counts and knows their callers like those of its own routes."""
        return ()

    def public_routers(self) -> Iterable[Any]:
        """Routers for callers without a key, such as signed links. They have no request limit."""
        return ()

    def commands(self) -> Mapping[str, Any]:
        """Commands by name: a typer app, or a function for a single command."""
        return {}

    def sentences(self, *, verbose: bool = False) -> Mapping[str, Telling]:
        """Log lines by signal; `verbose` adds those of every small step."""
        return {}

    def checks(self) -> Iterable[Finding]:
        """What `tenure doctor` finds out about it. The schema is right when this is called."""
        return ()

    def prune(self, limit: int) -> int:
        """Remove at most `limit` old rows of its own; how many. Called until it says less."""
        return 0

    def move_beside(self, source_url: str, target_url: str, *, dry_run: bool) -> str:
        """Copy what its rows refer to outside of the database; `tenure move` copies the rows after
        it. Called again after a stop. Returns what was done, or would be, as a sentence.
        """
        return ""

    def lifespan(self, worker: Any) -> AbstractAsyncContextManager[Any]:
        """Entered when a worker starts, left when it has stopped."""
        return nullcontext()


def check_hook(hook: Hook) -> None:
    """FeatureError where a plan would follow nothing, or every job of the database."""
    if not hook.kinds:
        raise FeatureError(f"the feature {hook.feature!r} follows no kind; name at least one")
    for kind in hook.kinds:
        if not isinstance(kind, str) or not kind:
            raise FeatureError(f"the feature {hook.feature!r} follows {kind!r}; name a kind")
    if EVERY_KIND in hook.kinds and hook.event is not Event.PURGED:
        raise FeatureError(
            f"the feature {hook.feature!r} follows every kind; only a purge can be followed for "
            "all of them: name the kinds, so that other jobs pay nothing"
        )
    if not callable(hook.plan):
        raise FeatureError(
            f"the feature {hook.feature!r} follows {', '.join(sorted(hook.kinds))} with "
            f"{hook.plan!r}; use a generator function that yields statements"
        )


def check_feature(feature: Feature) -> None:
    """FeatureError for a name that could not be a part of SQL, a URL and a command, or for an error
    that shares its code with others: the code decides the status.
    """
    for kind in feature.problems:
        if "code" not in vars(kind):
            raise FeatureError(
                f"{kind.__qualname__} of the feature {feature.name!r} needs a code of its own: "
                f"write code = '...' in the class"
            )
    if not NAME.fullmatch(feature.name):
        raise FeatureError(
            f"{type(feature).__qualname__}.name is {feature.name!r}; a feature's name has up to 40 "
            "lower-case letters, digits and _, and begins with a letter"
        )
    for metric in feature.metrics:
        if not (hasattr(metric, "sample") and hasattr(metric, "family")):
            raise FeatureError(
                f"the feature {feature.name!r} has the metric {metric!r}; use Counter, Gauge or "
                "Durations of tenure.feature"
            )
    for queue, slots in feature.slots.items():
        if not isinstance(slots, QueueSlots):
            raise FeatureError(
                f"the feature {feature.name!r} gives the queue {queue!r} the slots {slots!r}; use "
                "QueueSlots"
            )
