"""Which lock an ordering key takes."""

from __future__ import annotations

from tenure.core.rules.order import LOCKS, lock_of


def test_keys_of_one_thing_share_a_lock() -> None:
    assert lock_of("a", "Invoice/1##outbox") == lock_of("a", "Invoice/1##outbox@mailer")
    assert lock_of("a", "Invoice/1##x") == lock_of("a", "Invoice/1")


def test_other_things_and_tenants_have_other_locks() -> None:
    things = {lock_of("", f"Invoice/{n}##outbox") for n in range(2_000)}
    tenants = {lock_of(f"t{n}", "Invoice/1##outbox") for n in range(2_000)}

    assert len(things) > LOCKS * 0.9
    assert len(tenants) > LOCKS * 0.9
