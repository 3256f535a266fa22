"""Jobs as one caller may see and move them: what is not theirs is not there."""

from __future__ import annotations

import pytest

from tenure import FilterRequired, JobFilter, JobNotFound, KeyConflict, OptionError, State, Tenure
from tenure.access.scoped_jobs import ScopedJobs
from tenure.core.errors import (
    KeyTaken,
)
from tenure.core.refusals import (
    Forbidden,
)
from tenure.core.scope import EVERYTHING, Scope
from tenure.stores.contract import Change, Move

ACME = Scope("acme")
ADA = Scope("acme", "ada")
BOB = Scope("acme", "bob")


def of(app: Tenure, scope: Scope) -> ScopedJobs:
    return ScopedJobs(app, scope, "tester")


def test_what_is_not_theirs_is_not_found_by_any_way_in(app: Tenure) -> None:
    other = app.enqueue("a", tenant="globex", owner="ada").id
    ada = of(app, ADA)

    for ask in (ada.get, ada.history, ada.logs, ada.why, ada.cancel, ada.retry):
        with pytest.raises(JobNotFound):
            ask(other)
    with pytest.raises(JobNotFound):
        ada.reprioritise(other, 0)
    assert app.get(other).state is State.QUEUED
    assert app.get(other).priority == 2


def test_another_owner_of_the_same_tenant_is_another(app: Tenure) -> None:
    bobs = app.enqueue("a", tenant="acme", owner="bob").id
    nobodys = app.enqueue("a", tenant="acme").id

    for job_id in (bobs, nobodys):
        with pytest.raises(JobNotFound):
            of(app, ADA).get(job_id)
        assert of(app, ACME).get(job_id).id == job_id


def test_a_move_by_id_carries_the_scope_into_the_statement(app: Tenure) -> None:
    """Whatever a check before has seen, the statement itself touches no other tenant's row."""
    job_id = app.enqueue("a", tenant="globex").id
    mine = ACME.narrow(JobFilter(ids=(job_id,)))
    assert mine is not None

    assert app.store.jobs.change(mine, Change(move=Move.CANCEL)).matched == 0
    assert app.get(job_id).state is State.QUEUED


def test_their_own_jobs_move_and_the_history_names_who_did_it(app: Tenure) -> None:
    job_id = app.enqueue("a", tenant="acme", owner="ada").id
    ada = of(app, ADA)

    assert ada.reprioritise(job_id, 0).priority == 0
    assert ada.cancel(job_id).state is State.CANCELED
    assert ada.retry(job_id).state is State.QUEUED
    assert {line.worker for line in ada.history(job_id)} == {"tester"}


def test_a_priority_out_of_bounds_is_refused(app: Tenure) -> None:
    with pytest.raises(OptionError):
        of(app, EVERYTHING).reprioritise("1", -1)


def test_lists_and_counts_hold_theirs_alone(app: Tenure) -> None:
    mine = app.enqueue("a", tenant="acme", owner="ada").id
    app.enqueue("a", tenant="acme", owner="bob")
    app.enqueue("a", tenant="globex", owner="ada")
    ada = of(app, ADA)

    assert [job.id for job in ada.page().rows] == [mine]
    assert ada.counts() == {State.QUEUED: 1}
    assert ada.preview(JobFilter(kinds=("a",))) == 1
    assert list(ada.page(JobFilter(tenant="globex")).rows) == []
    assert ada.counts(JobFilter(owner="bob")) == {}


def test_moves_by_filter_stay_within_the_scope(app: Tenure) -> None:
    mine = app.enqueue("a", tenant="acme").id
    other = app.enqueue("a", tenant="globex").id
    acme = of(app, ACME)

    assert acme.cancel_all(JobFilter(tenant="globex")).matched == 0
    assert acme.cancel_all(JobFilter(kinds=("a",))).changed == 1
    assert acme.replay(JobFilter(states=(State.CANCELED,))).changed == 1
    assert app.get(mine).state is State.QUEUED
    assert [line.entry for line in app.insight.history(app.get(other))] == []


def test_a_scope_is_no_filter(app: Tenure) -> None:
    app.enqueue("a", tenant="acme")

    with pytest.raises(FilterRequired):
        of(app, ACME).cancel_all(JobFilter())
    with pytest.raises(FilterRequired):
        of(app, ACME).replay(JobFilter())


def test_a_new_job_is_theirs(app: Tenure) -> None:
    job = app.get(of(app, ADA).enqueue("a", {"n": 1}))

    assert (job.tenant, job.owner, job.enqueued_by) == ("acme", "ada", "tester")


def test_an_admin_adds_jobs_as_itself_or_for_another_user(app: Tenure) -> None:
    admin = ScopedJobs(app, ACME, "tester", "root")

    assert app.get(admin.enqueue("a")).owner == "root"
    assert app.get(admin.enqueue("a", owner="bob")).owner == "bob"
    assert app.get(admin.enqueue("a", owner="bob")).tenant == "acme"


@pytest.mark.parametrize("options", [{"tenant": "globex"}, {"tenant": ""}, {"owner": "bob"}])
def test_a_job_for_somebody_else_is_refused(app: Tenure, options: dict[str, str]) -> None:
    with pytest.raises(Forbidden):
        of(app, ADA).enqueue("a", **options)  # type: ignore[arg-type]
    assert app.insight.counts() == {}


def test_nobody_waits_for_the_end_of_anothers_job(app: Tenure) -> None:
    other = app.enqueue("a", tenant="globex").id

    with pytest.raises(JobNotFound):
        of(app, ACME).enqueue("b", after=[other])
    with pytest.raises(JobNotFound):
        of(app, ACME).enqueue("b", after=["4711"])
    mine = of(app, ACME).enqueue("a").id
    assert app.get(of(app, ACME).enqueue("b", after=[mine])).waits_for == (mine,)


@pytest.mark.parametrize("mode", ["keep", "replace", "debounce"])
def test_a_key_never_reaches_another_owners_job(app: Tenure, mode: str) -> None:
    bobs = of(app, BOB).enqueue("a", {"n": 1}, key="k").id

    for payload in ({"n": 1}, {"n": 2}):
        with pytest.raises(KeyTaken):
            of(app, ADA).enqueue("a", payload, key="k", key_mode=mode)
    assert app.get(bobs).payload == {"n": 1}


def test_ones_own_key_works_as_ever(app: Tenure) -> None:
    ada = of(app, ADA)
    first = ada.enqueue("a", {"n": 1}, key="k")

    assert ada.enqueue("a", {"n": 1}, key="k") == type(first)(first.id, created=False)
    with pytest.raises(KeyConflict) as conflict:
        ada.enqueue("a", {"n": 2}, key="k")
    assert conflict.value.job_id == first.id
    ada.enqueue("a", {"n": 2}, key="k", key_mode="replace")
    assert app.get(first.id).payload == {"n": 2}


def test_a_key_in_the_callers_own_transaction_undoes_all_with_it(app: Tenure) -> None:
    of(app, BOB).enqueue("a", {"n": 1}, key="k")

    with pytest.raises(KeyTaken), app.transaction() as tx:
        of(app, ADA).enqueue("b", tx=tx)
        of(app, ADA).enqueue("a", {"n": 2}, key="k", key_mode="replace", tx=tx)
    assert app.insight.counts() == {State.QUEUED: 1}


@pytest.mark.parametrize("mode", ["keep", "replace"])
def test_keys_and_moves_keep_to_the_scope_on_every_database(database_url: str, mode: str) -> None:
    app = Tenure(database_url)
    bobs = of(app, BOB).enqueue("a", {"n": 1}, key="k").id

    for payload in ({"n": 1}, {"n": 2}):
        with pytest.raises(KeyTaken):
            of(app, ADA).enqueue("a", payload, key="k", key_mode=mode)
    for scope in (ADA, Scope("ACME"), Scope("acme "), Scope("acme", "BOB")):
        mine = scope.narrow(JobFilter(ids=(bobs,)))
        assert mine is not None
        assert app.store.jobs.change(mine, Change(move=Move.CANCEL)).matched == 0
        assert list(of(app, scope).page().rows) == []
    assert app.get(bobs).payload == {"n": 1}
    assert of(app, BOB).cancel(bobs).state is State.CANCELED
    app.close()
