"""Jobs that were claimed ahead and never started: they go back to their queues unchanged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tenure.core.rules.limits import kind_of
from tenure.core.rules.shares import Lane
from tenure.core.settlement import Settlement
from tenure.stores.sql.statement import Batch, Plan, Statement


def return_unstarted(settlements: Sequence[Settlement]) -> Plan[dict[int, Lane]]:
    """Those that went back, by row number, with their lanes: they stand before the lanes' floors.

    A row that is locked or to be cancelled is settled like any other.
    """
    asked = sorted((int(i.lease.job_id), i.lease.fence) for i in settlements if i.returned)
    if not asked:
        return {}
    found = yield Statement("return_jobs", batch=Batch(("id", "fence"), asked))
    yield from _refund_tokens([key for *_, key in found if key is not None])
    return {number: Lane(*lane) for number, *lane, _ in found}


def _refund_tokens(names: Sequence[str]) -> Plan[None]:
    """Give back the tokens that the jobs took: at the limit of their key, and of their kind."""
    tokens = Counter(gate for name in names for gate in {name, kind_of(name)})
    if tokens:
        lines = sorted((gate, float(count)) for gate, count in tokens.items())
        yield Statement("refund_gates", batch=Batch(("gate", "tokens"), lines))
