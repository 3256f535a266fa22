"""What a caller reaches: its scope, its permissions, and whose jobs it may ask for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tenure.access import Caller, Permission
from tenure.access.caller import How
from tenure.core.refusals import (
    Forbidden,
)
from tenure.core.scope import EVERYTHING, Scope

ADA = Caller(
    name="user:ada", how=How.TOKEN, tenant="acme", owner="ada", permissions=Permission.WRITE.held
)
ADMIN = replace(ADA, permissions=Permission.ADMIN.held)
SERVICE = replace(ADA, owner=None)


def test_each_permission_holds_those_before_it() -> None:
    assert Permission.READ.held < Permission.WRITE.held < Permission.ADMIN.held
    assert Permission.ADMIN.held == frozenset(Permission)


def test_a_user_reaches_its_own_an_admin_the_tenant_and_of_the_site_everything() -> None:
    assert ADA.scope == Scope("acme", "ada")
    assert SERVICE.scope == Scope("acme")
    assert ADMIN.scope == Scope("acme")
    assert replace(ADMIN, site=True).scope == EVERYTHING
    assert replace(ADA, site=True).scope == Scope("acme", "ada")


def test_a_caller_without_permissions_reaches_no_more_than_its_own() -> None:
    nobody = replace(ADA, permissions=frozenset())

    assert nobody.scope == Scope("acme", "ada")
    assert not any(map(nobody.may, Permission))


@pytest.mark.parametrize(
    ("caller", "asked", "owner"),
    [
        (ADA, None, None),
        (ADA, "me", "ada"),
        (ADA, "ada", "ada"),
        (ADMIN, "me", "ada"),
        (ADMIN, "all", None),
        (ADMIN, "bob", "bob"),
        (replace(ADA, owner="all"), "me", "all"),
    ],
)
def test_me_is_resolved_here(caller: Caller, asked: str | None, owner: str | None) -> None:
    assert caller.whose(asked) == owner


@pytest.mark.parametrize(
    ("caller", "asked"),
    [
        (ADA, "all"),
        (ADA, "bob"),
        (ADA, ""),
        (SERVICE, "me"),
        (SERVICE, "all"),
        (replace(ADA, owner="all"), "all"),
        (replace(ADA, owner="me"), "all"),
    ],
)
def test_others_need_an_admin(caller: Caller, asked: str) -> None:
    with pytest.raises(Forbidden):
        caller.whose(asked)
