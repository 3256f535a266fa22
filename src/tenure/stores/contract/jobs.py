"""JobStore: everything that happens to jobs.

A store of your own writes nine operations: `add`, `claim`, `extend`, `settle`, `get`, `page`,
`count`, `change` and `purge`. It inherits JobStore for the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from tenure.core.capability import Capability, CapabilityError
from tenure.core.settlement import Settlement
from tenure.stores.contract.adding import Adding
from tenure.stores.contract.changing import Changing
from tenure.stores.contract.claiming import Claim, Claiming, ClaimRequest
from tenure.stores.contract.reading import Reading
from tenure.stores.contract.reporting import Report, Reporting
from tenure.stores.contract.settling import Settling, Written


class JobStore(Adding, Claiming, Settling, Reading, Changing, Reporting, Protocol):
    """Jobs. Writes with `tx` belong to that transaction; times are those of the store's clock.

    `name` is what messages call the store, `capabilities` what it can do.
    """

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What the store can do."""
        ...

    def exchange(
        self,
        settlements: Sequence[Settlement],
        reports: Sequence[Report],
        request: ClaimRequest | None,
        *,
        careful: bool = False,
    ) -> tuple[Written, Claim]:
        """Report, settle, then claim; in one transaction if the store has them.

        Settling does not wait for locks of other transactions (18); `careful` says that some are
        known to be in the way. Raises ContentRefused if the store rejects what a row says; any
        other error may be over at the next try.
        """
        if reports:
            self.report(reports)
        written = Written(self.settle(settlements)) if settlements else Written()
        return written, Claim() if request is None else self.claim(request)

    async def settle_async(self, settlements: Sequence[Settlement], tx: Any) -> frozenset[str]:
        """Settle in a transaction of an async driver."""
        raise CapabilityError(Capability.ASYNC, self.name)
