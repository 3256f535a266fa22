"""Paused queues: who paused them, when and why. The reason is a record beside the queue."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from tenure.core.errors import OptionError
from tenure.stores.contract import Capability, Store
from tenure.stores.contract.needs import need
from tenure.stores.contract.parts import Record

PAUSE_REASONS = "pause_reasons"
LONGEST_REASON = 500


@dataclass(frozen=True, slots=True)
class Pause:
    """A pause that is in force."""

    by: str | None
    at: datetime | None
    reason: str | None

    @property
    def text(self) -> str:
        """`ada: the mail server moves`."""
        who = self.by or "somebody"
        return f"{who}: {self.reason}" if self.reason else who


def pauses(store: Store) -> dict[str, Pause]:
    """The pauses in force, by queue."""
    paused = {one.name: one for one in store.queues.list() if one.paused}
    if not paused:
        return {}
    said: dict[str, Record] = {}
    if Capability.RECORDS in store.capabilities:
        said = {one.name: one for one in store.records.find_all(PAUSE_REASONS, list(paused))}
    return {
        name: Pause(one.by, one.since, _reason(said.get(name), one.since))
        for name, one in paused.items()
    }


def check_reason(reason: str | None) -> None:
    """OptionError if it is empty, too long, or not one line of text."""
    if reason is None:
        return
    if not reason.strip() or len(reason) > LONGEST_REASON or not reason.isprintable():
        raise OptionError(
            f"a reason is one line of 1 to {LONGEST_REASON} characters, not {reason[:80]!r}"
        )


def give_reason(store: Store, queue: str, reason: str | None) -> None:
    """Call it after the pause. None leaves the reason that the pause has."""
    if reason is not None:
        need(store, Capability.RECORDS)
        data = {"reason": reason}
        store.records.upsert(Record(collection=PAUSE_REASONS, name=queue, data=data))


def forget_reason(store: Store, queue: str) -> None:
    """The queue was resumed."""
    if Capability.RECORDS in store.capabilities:
        store.records.remove(PAUSE_REASONS, queue)


def _reason(record: Record | None, since: datetime | None) -> str | None:
    """A reason older than the pause belongs to an earlier one, which nobody cleared."""
    if record is None or record.updated_at is None or since is None or record.updated_at < since:
        return None
    reason: str = record.data["reason"]
    return reason
