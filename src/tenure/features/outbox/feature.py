"""What the outbox brings to an app beside its work: routes, commands, log lines, checks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tenure.feature import Feature, Finding, Telling
from tenure.features.outbox.settings import OutboxSettings

if TYPE_CHECKING:
    from tenure.app import Tenure


class OutboxFeature(Feature):
    """The feature `outbox`; `Outbox` is what users hold."""

    name = "outbox"
    settings_classes = (OutboxSettings,)

    def __init__(self, app: Tenure) -> None:
        super().__init__(app)

    def routers(self) -> Iterable[Any]:
        """`/api/outbox`."""
        from tenure.features.outbox.api import router

        return (router,)

    def commands(self) -> Mapping[str, Any]:
        """`tenure outbox`."""
        from tenure.features.outbox.cli import outbox

        return {"outbox": outbox}

    def sentences(self, *, verbose: bool = False) -> Mapping[str, Telling]:
        """Events that nobody subscribes to, and subscribers that ended."""
        from tenure.features.outbox.sentences import SENTENCES

        return SENTENCES

    def checks(self) -> Iterable[Finding]:
        """Events that failed, and types that nobody subscribes to."""
        from tenure.features.outbox.checks import check

        return check(self.app)
