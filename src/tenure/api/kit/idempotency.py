"""`Idempotency-Key`: the same request twice has one effect and one answer."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tenure.access import Caller
from tenure.api.kit.errors import KeyInUse, KeyReused
from tenure.api.kit.expiring_records import ExpiringRecords
from tenure.app import Tenure
from tenure.core.errors import VersionConflict
from tenure.stores.contract.parts import Record

COLLECTION = "idempotency"
DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer; `again` if it was given before."""

    status: int
    body: dict[str, Any]
    again: bool = False


class Idempotency:
    """Answers by callers' keys, stored for a day in the transaction of their effect."""

    def __init__(self, engine: Tenure) -> None:
        self._engine = engine
        self._records = ExpiringRecords(engine, COLLECTION, DAY)

    def answer(
        self, caller: Caller, key: str, question: str, act: Callable[[Any], Answer]
    ) -> Answer:
        """The answer of `act(tx)`, or the stored one if this caller used the key before.

        KeyReused: it was used for another request. KeyInUse: another request uses it right now.
        """
        name, asked = _name(caller, key), _digest(question)
        found = self._records.find(name)
        # An expired answer is overwritten below, by its version.
        if found is not None and self._records.good(found):
            return _again(found, asked)
        version = 0 if found is None else found.version
        try:
            with self._engine.transaction() as tx:
                given = act(tx)
                data = {"asked": asked, "status": given.status, "body": given.body}
                record = self._records.record(name, data, version)
                self._engine.store.records.put(record, tx.inner)
        except VersionConflict:
            # The other request has written first; our effect was rolled back with our record.
            raise KeyInUse from None
        self._records.sweep()
        return given


def _again(found: Record, asked: str) -> Answer:
    if not hmac.compare_digest(str(found.data["asked"]), asked):
        raise KeyReused
    return Answer(found.data["status"], found.data["body"], again=True)


def _name(caller: Caller, key: str) -> str:
    """Keys of different callers are different."""
    return _digest("\0".join((caller.name, caller.tenant or "", caller.owner or "", key)))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
