"""What a store promises: `store` the jobs and the whole, `parts` the small stores beside them."""

from tenure.stores.contract.store import (
    Added,
    Attempt,
    Capability,
    Change,
    Changed,
    Claim,
    ClaimRequest,
    Extension,
    JobStore,
    LogLine,
    Move,
    Parts,
    Report,
    Store,
    Transaction,
    Written,
)

__all__ = [
    "Added",
    "Attempt",
    "Capability",
    "Change",
    "Changed",
    "Claim",
    "ClaimRequest",
    "Extension",
    "JobStore",
    "LogLine",
    "Move",
    "Parts",
    "Report",
    "Store",
    "Transaction",
    "Written",
]
