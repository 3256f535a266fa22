"""Callers recognised a moment ago."""

from __future__ import annotations

from dataclasses import replace

from tenure.access import Caller, Permission
from tenure.access.caller import How
from tenure.api.kit.identity.credential import Credential
from tenure.api.kit.identity.remembered import MOST, Known, Remembered
from tenure.testing.clock import ManualClock

ADA = Caller(name="ada", how=How.KEY, tenant="", owner="ada", permissions=Permission.READ.held)
KEY = Credential(How.KEY, "tenure_abc")


def remembered(clock: ManualClock) -> Remembered:
    return Remembered(5, lambda: clock.now().timestamp())


def test_a_caller_is_known_for_some_seconds() -> None:
    clock = ManualClock()
    memory = remembered(clock)
    memory.keep(KEY, Known(ADA), memory.generation)

    clock.advance(seconds=4)
    assert memory.find(KEY) == ADA
    clock.advance(seconds=1)
    assert memory.find(KEY) is None


def test_not_longer_than_the_credential_is_good() -> None:
    clock = ManualClock()
    memory = remembered(clock)
    memory.keep(KEY, Known(ADA, 2), memory.generation)

    clock.advance(seconds=2)
    assert memory.find(KEY) is None


def test_the_same_text_as_another_sort_of_credential_is_another() -> None:
    memory = remembered(ManualClock())
    memory.keep(KEY, Known(ADA), memory.generation)

    assert memory.find(replace(KEY, how=How.SESSION)) is None


def test_a_look_that_began_before_all_was_forgotten_is_not_kept() -> None:
    """A key is revoked while it is being looked up: what was read is no longer true."""
    memory = remembered(ManualClock())
    began = memory.generation
    memory.forget()
    memory.keep(KEY, Known(ADA), began)

    assert memory.find(KEY) is None


def test_no_more_are_remembered_than_a_few_thousand() -> None:
    memory = remembered(ManualClock())
    for number in range(MOST + 10):
        memory.keep(Credential(How.KEY, str(number)), Known(ADA), memory.generation)

    assert memory.find(Credential(How.KEY, "0")) is None
    assert memory.find(Credential(How.KEY, str(MOST + 9))) == ADA


def test_a_credential_does_not_show_itself() -> None:
    assert "abc" not in repr(KEY)
