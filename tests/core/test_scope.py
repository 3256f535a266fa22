"""A scope narrows every filter and never widens one."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tenure.core.filter import JobFilter
from tenure.core.scope import EVERYTHING, Scope
from tests.core.values import JOB

names = st.none() | st.sampled_from(["", "acme", "globex"])
scopes = st.builds(Scope, names, names)


def matches(where: JobFilter | None, tenant: str, owner: str | None) -> bool:
    """What a store would say."""
    return (
        where is not None
        and where.tenant in (None, tenant)
        and (where.owner is None or where.owner == owner)
    )


@given(scopes, names, names, st.sampled_from(["", "acme", "globex"]), names)
def test_a_narrowed_filter_matches_what_both_the_filter_and_the_scope_have(
    scope: Scope, tenant: str | None, owner: str | None, of_tenant: str, of_owner: str | None
) -> None:
    where = JobFilter(tenant=tenant, owner=owner)
    job = replace(JOB, tenant=of_tenant, owner=of_owner)

    narrowed = matches(scope.narrow(where), of_tenant, of_owner)

    assert narrowed == (scope.has(job) and matches(where, of_tenant, of_owner))


def test_a_filter_for_another_tenant_or_owner_can_match_nothing() -> None:
    assert Scope("acme").narrow(JobFilter(tenant="globex")) is None
    assert Scope("acme").narrow(JobFilter(tenant="")) is None
    assert Scope("acme", "ada").narrow(JobFilter(owner="bob")) is None
    assert Scope("").narrow(JobFilter(tenant="acme")) is None


def test_other_conditions_stay() -> None:
    where = JobFilter(ids=("1",), kinds=("a",))

    assert Scope("acme", "ada").narrow(where) == replace(where, tenant="acme", owner="ada")
    assert EVERYTHING.narrow(where) == where


def test_a_job_of_nobody_is_not_in_the_scope_of_an_owner() -> None:
    assert not Scope("acme", "ada").has(replace(JOB, tenant="acme", owner=None))
    assert EVERYTHING.has(JOB)
