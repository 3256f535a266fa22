"""What the statements of every screen cost with five million jobs, against fifty thousand."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import psycopg
from fastapi.testclient import TestClient

from bench.app import make_app
from bench.databases import fresh, postgres_server
from bench.figures.scale import Scale
from bench.result import Result, at_most
from tenure import Tenure
from tenure.access import Keys, Permission
from tenure.api import ApiSettings, create_api
from tenure.core.rules.error_groups import shown
from tenure.stores.sql.store import sql_store

FEW, MANY = 50_000, 5_000_000
# In both tables there are more open and more failed jobs than a screen counts.
OPEN = {FEW: 12_000}
EVERY = {FEW: 4}
ROUNDS = 5
GROUP = 4_711
STATEMENT_MS = 50.0
SEARCH_MS = 1_000.0
FILL = (Path(__file__).parent / "screens.sql").read_text("utf-8")
NOT_STATEMENTS = ("CONNECTION", "COMMIT", "BEGIN")

SCREENS: Mapping[str, Sequence[str]] = {
    "overview": ["/api/stats?since=1h", "/api/stats?since=24h", "/api/stats?since=7d&by=queue",
                 "/api/health/findings", "/api/jobs/counts", "/api/queues"],
    "jobs": ["/api/jobs?include=why", "/api/jobs?state=queued&include=why&pageSize=100",
             "/api/jobs?q=state:bad", "/api/jobs?state=dead", "/api/jobs?q=state:open",
             "/api/jobs?tenant=t7", "/api/jobs?q=tenant:t7+state:bad", "/api/jobs?q=kind:kind3",
             "/api/jobs?q=queue:queue2+state:succeeded", "/api/jobs/counts?tenant=t7",
             "/api/jobs/counts?q=state:bad"],
    "job": ["/api/jobs/{id}", "/api/jobs/{id}/family", "/api/jobs/{id}/history",
            "/api/jobs/{id}/logs"],
    "failures": ["/api/errors", "/api/errors?tenant=t7", f"/api/jobs?errorGroup={shown(GROUP)}"],
    "kinds": ["/api/kinds", "/api/stats?since=24h&by=kind", "/api/stats?since=1h&kind=kind3"],
    "others": ["/api/workers", "/api/tenants", "/api/limits", "/api/audit", "/api/schedules",
               "/api/outbox", "/api/locks"],
}  # fmt: skip
SEARCHES = (
    "/api/jobs?q=key:nothing", "/api/jobs?q=error:nothing", "/api/jobs?q=payload.n:nothing",
    "/api/jobs?q=kind:nothing", "/api/jobs?q=state:bad+error:nothing", "/api/jobs?q=parent:1",
    "/api/jobs/counts?q=kind:kind3",
)  # fmt: skip


@dataclass
class Seen:
    """Milliseconds of each statement of each route, and of each route as a whole."""

    statements: dict[tuple[str, str], list[float]] = field(
        default_factory=lambda: defaultdict(list)
    )
    routes: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def slowest(self, paths: Sequence[str]) -> tuple[float, str]:
        """The median of the slowest statement of these routes, and its name."""
        return max(
            (median(times), f"{name} of {path}")
            for (path, name), times in self.statements.items()
            if path in paths
        )

    def total(self, paths: Sequence[str]) -> float:
        """All statements of these routes, once each."""
        return sum(median(times) for (path, _), times in self.statements.items() if path in paths)


def screens(scale: Scale) -> Result:
    """Every route of the dashboard on PostgreSQL, with a log of its statements."""
    paths = [path for one in SCREENS.values() for path in one]
    with postgres_server() as server:
        with fresh(server) as url:
            few = _measured(url, FEW)
        with fresh(server) as url:
            many = _measured(url, scale.rows(MANY))
    slowest, which = many.slowest(paths)
    search = max((median(many.routes[path]), path) for path in SEARCHES)
    growth = many.total(paths) / few.total(paths)
    return Result(
        bench="screens",
        value=slowest,
        unit="ms",
        reference=few.slowest(paths)[0],
        ratio=growth,
        checks=[
            at_most("slowest statement in ms", slowest, STATEMENT_MS),
            at_most("growth of all statements", growth, 1.5),
            at_most("slowest search in ms", search[0], SEARCH_MS),
        ],
        notes=[f"slowest statement: {which}", f"slowest search: {search[1]}", *_table(few, many)],
    )


def _table(few: Seen, many: Seen) -> Iterator[str]:
    for (path, name), times in sorted(many.statements.items()):
        before = median(few.statements.get((path, name), [0.0]))
        if max(median(times), before) >= 5:
            yield f"{path} {name}: {before:.1f} ms, {median(times):.1f} ms"


def _measured(url: str, rows: int) -> Seen:
    _fill(url, rows)
    app = make_app(url)
    try:
        with _client(app) as client:
            return _asked(app, client, rows)
    finally:
        app.close()


@contextmanager
def _client(app: Tenure) -> Iterator[TestClient]:
    text, _ = Keys(app).create("bench", Permission("admin"), actor="bench")
    api = create_api(app, settings=ApiSettings())
    with TestClient(api, headers={"authorization": f"Bearer {text}"}) as client:
        yield client


def _asked(app: Tenure, client: TestClient, rows: int) -> Seen:
    seen = Seen()
    failed = 3
    every = [path for one in SCREENS.values() for path in one]
    for place in range(ROUNDS + 1):
        for path in (*every, *SEARCHES):
            heard: list[tuple[str, float]] = []
            client.app.state.service.findings._seen = None  # type: ignore[attr-defined]
            sql_store(app.store).measure(lambda name, took: heard.append((name, took)))  # noqa: B023
            begun = time.perf_counter()
            answer = client.get(path.format(id=failed))
            took = time.perf_counter() - begun
            assert answer.status_code == 200, f"{path}: {answer.text}"
            if place:  # the first round warms up plans and caches
                _keep(seen, path, took, heard)
    return seen


def _keep(seen: Seen, path: str, took: float, heard: list[tuple[str, float]]) -> None:
    seen.routes[path].append(took * 1000)
    slowest: dict[str, float] = {}
    for name, seconds in heard:
        if name not in NOT_STATEMENTS:
            slowest[name] = max(slowest.get(name, 0.0), seconds * 1000)
    for name, milliseconds in slowest.items():
        seen.statements[path, name].append(milliseconds)


def _fill(url: str, rows: int) -> None:
    app = make_app(url)
    app.features.load()
    sql_store(app.store).schemas.apply()
    app.close()
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in FILL.split(";\n"):
            if statement.strip():
                connection.execute(_with(statement, rows))  # type: ignore[arg-type]


def _with(statement: str, rows: int) -> str:
    values = {
        ":rows": rows,
        ":group": GROUP,
        ":open": OPEN.get(rows, rows // 50),
        ":every": EVERY.get(rows, 32),
    }
    for name, value in values.items():
        statement = statement.replace(name, str(value))
    return statement
