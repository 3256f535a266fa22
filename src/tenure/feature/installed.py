"""The features of an app: those that it includes, and those that are installed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from tenure.core.capability import Capability
from tenure.core.endings import Event
from tenure.feature.feature import Feature, FeatureError, check_feature

GROUP = "tenure.features"
"""The entry points of installed features: each is called with the app, and answers a Feature."""


class Features:
    """Iterating loads the installed ones; `include` and `import tenure` do not.

    `only` names the installed features that the app uses; None means all.
    """

    def __init__(self, app: Any, only: Collection[str] | None, take: Callable[[Any], None]) -> None:
        self._app = app
        self._only = only
        self._take = take
        self._by_name: dict[str, Feature] = {}
        self._followers: list[Callable[[Feature], None]] = []
        self._loaded = self._loading = False
        # Reentrant: the constructor of a feature that is being loaded includes itself in the app.
        self._lock = threading.RLock()

    def __iter__(self) -> Iterator[Feature]:
        self.load()
        return iter(list(self._by_name.values()))

    def get(self, name: str) -> Feature | None:
        """The feature of this name, if the app has it."""
        if name not in self._by_name:
            self.load()
        return self._by_name.get(name)

    def has(self, part: Any) -> bool:
        """Whether this very feature is included already."""
        return any(part is known for known in self._by_name.values())

    def include(self, feature: Any) -> None:
        """Add it. The same object again changes nothing; another one of its name is an error."""
        if not isinstance(feature, Feature):
            self._take(feature)
            return
        check_feature(feature)
        with self._lock:
            known = self._by_name.get(feature.name)
            if known is feature:
                return
            if known is not None:
                raise FeatureError(_twice(feature.name))
            self.give_hooks([feature], self._app.store)
            self._take(feature)
            self._by_name[feature.name] = feature
            self._give_tables([feature], self._app.store)
        for follower in self._followers:
            follower(feature)

    def follow(self, follower: Callable[[Feature], None]) -> None:
        """Call it for each feature that is there, and for each that comes later. Loads nothing:
        watching an app must not settle which features it has.
        """
        self._followers.append(follower)
        for feature in list(self._by_name.values()):
            follower(feature)

    def use(self, store: Any) -> None:
        """The app has another store now: it gets the features' tables too."""
        self._give_tables(self._by_name.values(), store)
        self.give_hooks(self._by_name.values(), store)

    def prune(self, limit: int, must_end: Callable[[], bool]) -> int:
        """Let each feature remove its old rows, in chunks. One that fails does not stop others."""
        removed, failed = 0, list[Exception]()
        for feature in self:
            try:
                removed += _prune(feature, limit, must_end)
            except Exception as error:
                failed.append(error)
        if failed:
            raise failed[0]
        return removed

    def _give_tables(self, features: Iterable[Feature], store: Any) -> None:
        """A store without tables says so when the feature uses them."""
        schemas = getattr(store, "schemas", None)
        for feature in features:
            if feature.tables is not None and schemas is not None:
                schemas.add(feature.name, feature.tables)

    def give_hooks(self, features: Iterable[Feature], store: Any) -> None:
        """Let the store run their plans. A store without transactions removes jobs unfollowed; to
        follow their endings there is an error.
        """
        for feature in features:
            for hook in feature.hooks:
                if Capability.ENDINGS in store.capabilities or hook.event is not Event.PURGED:
                    store.endings.add(hook)

    def load(self) -> None:
        """Make the installed features, once. Opens no database."""
        if self._loaded:
            return
        with self._lock:
            if not self._loading:
                self._load()

    def _load(self) -> None:
        # A feature may ask for another one while it is made; that must not begin anew.
        self._loading = True
        try:
            for name, found in installed().items():
                if name not in self._by_name and (self._only is None or name in self._only):
                    self._make(name, found)
            self._check_wanted()
            self._loaded = True
        finally:
            self._loading = False

    def _make(self, name: str, found: list[EntryPoint]) -> None:
        if len(found) > 1:
            named = " and ".join(distribution(one) for one in found)
            raise FeatureError(f"{named} both install a feature {name!r}; uninstall one of them")
        [entry] = found
        try:
            feature = entry.load()(self._app)
        except Exception as error:
            raise FeatureError(
                f"the feature {name!r} of {distribution(entry)} cannot be loaded: "
                f"{type(error).__name__}: {error}"
            ) from error
        if getattr(feature, "name", None) != name:
            raise FeatureError(
                f"the entry point {name!r} of {distribution(entry)} must answer a Feature of this "
                f"name, not {feature!r}"
            )
        self.include(feature)

    def _check_wanted(self) -> None:
        """A name that nobody has is a typing error, or a distribution that is missing here."""
        if missing := sorted(set(self._only or ()) - self._by_name.keys()):
            raise FeatureError(
                f"the feature {missing[0]!r} is wanted but not installed; installed: "
                f"{', '.join(sorted(installed())) or 'none'}"
            )


def _prune(feature: Feature, limit: int, must_end: Callable[[], bool]) -> int:
    removed = 0
    while not must_end():
        part = feature.prune(limit)
        removed += part
        if part < limit:
            break
    return removed


@cache
def installed() -> dict[str, list[EntryPoint]]:
    """Entry points by name. The metadata of all distributions is read once per process."""
    found: dict[str, list[EntryPoint]] = {}
    for entry in entry_points(group=GROUP):
        same = found.setdefault(entry.name, [])
        # One distribution can be on the path twice, as an editable install and as a wheel.
        if all(distribution(one) != distribution(entry) for one in same):
            same.append(entry)
    return dict(sorted(found.items()))


def distribution(entry: EntryPoint) -> str:
    """The name of the distribution that an entry point belongs to, for people."""
    return entry.value if entry.dist is None else f"{entry.dist.name} ({entry.value})"


def _twice(name: str) -> str:
    return (
        f"the app has a feature {name!r} already. Construct it once, before the worker or the API "
        f"starts; app.features.get({name!r}) answers the one that is there"
    )
