"""The database crashes under its workers: they wait, come back by themselves and lose nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tenure import Tenure
from tests.crash.campaign import Campaign, Plan
from tests.crash.looking import make_effects_table
from tests.crash.marks import Marks
from tests.crash.programs import Programs, is_alive
from tests.crash.verdict import judge
from tests.support.databases import migrate
from tests.support.servers import (
    PrivateServer,
    ServerMissing,
    server_folder,
    start_mariadb,
    start_postgres,
)
from tests.support.until import until

pytestmark = pytest.mark.crash
Starter = Callable[[Path], PrivateServer]
PLAN = Plan(work=400, inside=0, outside=0, pauses=0, poison=0, spread_seconds=6, limit_seconds=60)


@pytest.fixture(params=[start_postgres, start_mariadb], ids=["postgres", "mysql"])
def server(request: pytest.FixtureRequest) -> Iterator[PrivateServer]:
    """A server of this test's own: others must not feel its crashes."""
    start: Starter = request.param
    with server_folder() as folder:
        try:
            own = start(folder)
        except ServerMissing as missing:
            if os.environ.get("CI") == "true":
                pytest.fail(f"CI runs every test, but there is no {missing}")
            pytest.skip(f"not installed: {missing}")
        try:
            yield own
        finally:
            own.stop()


@pytest.fixture
def database_url(server: PrivateServer) -> str:
    """A database of that server, with our schema."""
    url = server.create_database()
    migrate(url)
    make_effects_table(url)
    return url


def test_workers_outlive_crashes_of_the_database_and_nothing_is_lost(
    server: PrivateServer, app: Tenure, programs: Programs, marks: Marks
) -> None:
    campaign = Campaign(app, programs, marks, PLAN)
    campaign.enqueue()
    workers = [programs.worker().pid for _ in range(2)]
    app.close()

    for settled in (50, 150):
        wait_for_endings(marks, settled)
        server.restart()
    campaign.run()

    assert judge(campaign).breaches == []
    assert len(marks.find("store.unavailable")) + len(marks.find("heartbeat.failed")) > 0
    assert all(is_alive(worker) for worker in workers)


def wait_for_endings(marks: Marks, count: int) -> None:
    until(lambda: len(marks.find("job.settled") + marks.find("job.let_go", settled=True)) > count)
