"""1,000 tenants are billed once each, though workers are killed in the middle of the run."""

from __future__ import annotations

import pytest

from tenure import State, Tenure
from tenure.core.filter import JobFilter
from tests.crash.looking import effects
from tests.crash.programs import Programs
from tests.support.until import until

pytestmark = pytest.mark.crash
TENANTS = 1_000
KILLS = (50, 250, 450, 700)


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"], indirect=True)
def test_every_tenant_is_billed_once_though_the_run_is_killed_in_the_middle(
    app: Tenure, programs: Programs
) -> None:
    app.enqueue("classes.billing")
    app.close()

    for billed in KILLS:
        worker = programs.worker("biller")
        until(lambda: worker.poll() is not None or len(effects(app)) >= billed, 60)  # noqa: B023
        worker.kill()
        worker.wait(20)
    programs.worker("biller")
    until(lambda: len(effects(app)) >= TENANTS and open_jobs(app) == 0, 60)

    assert sorted(tenant for tenant, _ in effects(app)) == list(range(TENANTS))
    walks = app.insight.counts(JobFilter(kinds=("classes.billing",)))
    assert walks == {State.SUCCEEDED: 20}


def open_jobs(app: Tenure) -> int:
    counts = app.insight.counts()
    return counts.get(State.QUEUED, 0) + counts.get(State.RUNNING, 0)
