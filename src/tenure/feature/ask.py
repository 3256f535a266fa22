"""Asks a feature for what it brings to a face; what goes wrong there is said with its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from tenure.feature.feature import Feature, FeatureError

T = TypeVar("T")


def routers_of(feature: Feature) -> list[Any]:
    """Its routers for known callers, or a FeatureError that names it."""
    return _ask(feature, "routers", feature.routers, _listed)


def public_routers_of(feature: Feature) -> list[Any]:
    """Its routers for callers without a key, or a FeatureError that names it."""
    return _ask(feature, "public_routers", feature.public_routers, _listed)


def commands_of(feature: Feature) -> dict[str, Any]:
    """Its commands by name, or a FeatureError that names it."""
    return _ask(feature, "commands", feature.commands, _sorted)


def _ask(feature: Feature, method: str, call: Callable[[], Any], read: Callable[[Any], T]) -> T:
    """Read inside the `try`: the method may be a generator, or return something else by mistake."""
    try:
        return read(call())
    except Exception as error:
        raise FeatureError(
            f"{method}() of the feature {feature.name!r} raised {type(error).__name__}: {error}"
        ) from error


def _listed(found: Iterable[Any]) -> list[Any]:
    return list(found)


def _sorted(found: Mapping[str, Any]) -> dict[str, Any]:
    return dict(sorted(found.items()))
