"""What a store promises: `jobs` and its parts, the small stores in `parts`, the whole in `store`.

`combined` joins a jobs part with the other parts of another store; `needs` refuses what a store
cannot do.
"""

from tenure.core.capability import Capability, CapabilityError
from tenure.stores.contract.adding import Added, Adding
from tenure.stores.contract.changing import Change, Changed, Changing, Move
from tenure.stores.contract.claiming import Claim, Claiming, ClaimRequest, Extension
from tenure.stores.contract.endings import EndingPlan, EndingStore, Hook
from tenure.stores.contract.gates import GateStore, KeyLimit
from tenure.stores.contract.jobs import JobStore
from tenure.stores.contract.parts import (
    KeyStore,
    LockStore,
    OrderStore,
    QueueStore,
    RecordStore,
    StepStore,
)
from tenure.stores.contract.reading import Reading
from tenure.stores.contract.reporting import Attempt, LogLine, Report, Reporting
from tenure.stores.contract.settling import Settling, Written
from tenure.stores.contract.store import Parts, Store, Transaction

__all__ = [
    "Added",
    "Adding",
    "Attempt",
    "Capability",
    "CapabilityError",
    "Change",
    "Changed",
    "Changing",
    "Claim",
    "ClaimRequest",
    "Claiming",
    "EndingPlan",
    "EndingStore",
    "Extension",
    "GateStore",
    "Hook",
    "JobStore",
    "KeyLimit",
    "KeyStore",
    "LockStore",
    "LogLine",
    "Move",
    "OrderStore",
    "Parts",
    "QueueStore",
    "Reading",
    "RecordStore",
    "Report",
    "Reporting",
    "Settling",
    "StepStore",
    "Store",
    "Transaction",
    "Written",
]
