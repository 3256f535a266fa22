"""What schedules bring to an app beside their runner: routes, commands, log lines, checks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tenure.core.errors import ScheduleNotFound, TenureError
from tenure.feature import Feature, Finding, Problem, Telling
from tenure.features.schedules.metrics import ScheduleMetrics

if TYPE_CHECKING:
    from tenure.app import Tenure


class ScheduleFeature(Feature):
    """The feature `schedules`; `Schedules` is what users hold."""

    name = "schedules"
    problems: Mapping[type[TenureError], Problem] = {ScheduleNotFound: Problem(404, exit_code=4)}

    def __init__(self, app: Tenure) -> None:
        super().__init__(app)
        counts = ScheduleMetrics()
        counts.listen(app.signals)
        self.metrics = (counts.fired, counts.dropped)

    def routers(self) -> Iterable[Any]:
        """`/api/schedules`."""
        from tenure.features.schedules.api import router

        return (router,)

    def commands(self) -> Mapping[str, Any]:
        """`tenure schedules`."""
        from tenure.features.schedules.cli import schedules

        return {"schedules": schedules}

    def sentences(self, *, verbose: bool = False) -> Mapping[str, Telling]:
        """What happened to slots, and what operators did."""
        from tenure.features.schedules.sentences import SENTENCES, VERBOSE

        return {**SENTENCES, **VERBOSE} if verbose else SENTENCES

    def checks(self) -> Iterable[Finding]:
        """Slots that nobody has fired."""
        from tenure.features.schedules.checks import late

        return (late(self.app),)
