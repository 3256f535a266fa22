"""What a store may be unable to do, and the error that says so."""

from __future__ import annotations

from enum import StrEnum

from tenure.core.errors import InputError


class Capability(StrEnum):
    """One ability that a store may lack. The value names it in messages."""

    TRANSACTIONS = "transactions"
    UNIQUE_KEYS = "unique_keys"
    ORDER = "ordering_keys"
    DEPENDENCIES = "dependencies"
    EXPIRY = "expiry"
    LIMITS = "limits"
    SHARES = "fair_shares"
    SHARDS = "shards"
    AGEING = "ageing"
    CLAIM_AHEAD = "claiming_ahead"
    SUSPECTS = "crash_suspects"
    STEPS = "steps"
    REPORTS = "progress_and_logs"
    HISTORY = "history"
    BATCHES = "batches"
    LATE_PLACEMENT = "late_placement"
    PAUSE = "pause"
    COUNTS = "queue_counts"
    ROLLUPS = "charts"
    SUB_SECOND = "sub_second_times"
    ASYNC = "async_transactions"
    LOCKS = "locks"
    RECORDS = "records"
    NAMES = "unique_names"
    WAKE_UPS = "wake_ups"
    SQL = "sql_tables"
    ENDINGS = "ending_hooks"

    @property
    def words(self) -> str:
        """As a sentence says it."""
        return self.value.replace("_", " ")


class CapabilityError(InputError):
    """The store cannot do what was asked for; nothing was written."""

    code = "capability_missing"

    def __init__(self, capability: Capability, store: str) -> None:
        super().__init__(
            f"the {store} store does not support {capability.words}; "
            "leave that out, or keep these jobs in a store that does"
        )
        self.capability = capability
        self.store = store
