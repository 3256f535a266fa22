"""The kinds of jobs that workers have published, with what is known about each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from tenure.core.rules.rollups import Totals
from tenure.jobs.published_handlers import Published, PublishedHandler
from tenure.operations.charts import Charts
from tenure.operations.insight import Insight
from tenure.operations.limits import KeptLimits, KindLimit
from tenure.stores.contract import Capability, Store

LATELY = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class KindView:
    """A kind, its handler, the live workers that run it, its limits, and its last hour."""

    handler: PublishedHandler
    workers: int = 0
    limit: KindLimit | None = None
    key_limit: KindLimit | None = None
    last_hour: Totals = field(default_factory=Totals)


def kinds(
    store: Store, published: Published, insight: Insight, limits: KeptLimits
) -> Sequence[KindView]:
    """All of them, by name."""
    handlers = published.all()
    workers = Counter(kind for worker in insight.workers() if worker.alive for kind in worker.kinds)
    known = {(one.kind, one.each_key): one for one in limits.all(handlers)}
    charted = Capability.ROLLUPS in store.capabilities
    lately: Mapping[str, Totals] = Charts(store).kinds(LATELY) if charted else {}
    return [
        KindView(
            handler=handlers[kind],
            workers=workers[kind],
            limit=known.get((kind, False)),
            key_limit=known.get((kind, True)),
            last_hour=lately.get(kind, Totals()),
        )
        for kind in sorted(handlers)
    ]
