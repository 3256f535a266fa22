"""Every route of the OpenAPI document, tried by those who may not.

A new route is tried without anybody's help; a new sort of id has to be named in `Things`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tenure import Job, RunningJob, Tenure
from tenure.access import login_link
from tenure.features.outbox import Outbox
from tenure.files import Files
from tests.api.conftest import Serve, Served

PUBLIC = {"/files/{token}", "/openapi.json", "/v1/health/live", "/v1/health/ready", "/login"}
FREE_ON_LOOPBACK = {"/metrics"}
BY_SERVICE_TOKEN = {"/internal/tick"}
SERVICE_TOKEN = "the-scheduler-and-nobody-else"
OWN = {"/logout"}
MARK = "the-secret-of-ada"
OWNED = ("jobId", "operationId", "id", "fileId", "uploadId")
UNSAFE = {"post", "put", "patch", "delete"}
BODIES: dict[str, Any] = {
    "createJob": {"kind": "a"},
    "reprioritiseJob": {"priority": 1},
    "editSchedule": {"every": 60},
    "holdKey": {"seconds": 60, "reason": "a"},
    "replayJobs": {"kind": [MARK], "dryRun": True},
    "cancelJobs": {"kind": [MARK], "dryRun": True},
}


@dataclass(frozen=True)
class Route:
    """One operation, its path filled in."""

    name: str
    method: str
    path: str
    template: str

    @property
    def has_id(self) -> bool:
        return "{" in self.template

    @property
    def owned(self) -> bool:
        """Somebody's, and not the site's."""
        return any(f"{{{one}}}" in self.template for one in OWNED)

    @property
    def unsafe(self) -> bool:
        return self.method in UNSAFE


@dataclass(frozen=True)
class Things:
    """What is Ada's, by the name of the path parameter that means it."""

    job: Job
    operation: str
    event: str
    file: str
    upload: str

    def fill(self, template: str) -> str:
        named = {
            "{jobId}": self.job.id,
            "{operationId}": self.operation,
            "{id}": self.event,
            "{fileId}": self.file,
            "{uploadId}": self.upload,
            "{token}": "forged",
            "{queue}": "default",
            "{workerId}": "host:1:a",
            "{kind}": "the-secret-of-ada",
            "{tenant}": "globex",
            "{name}": "nightly",
        }
        for parameter, value in named.items():
            template = template.replace(parameter, value)
        assert "{" not in template, f"{template}: name one of Ada's things for this parameter"
        return template


@pytest.fixture
def served(serve: Serve, engine: Tenure, monkeypatch: pytest.MonkeyPatch) -> Served:
    """With all that can be switched on."""
    monkeypatch.setenv("WORKER_API_SERVICE_TOKEN", SERVICE_TOKEN)

    @engine.job("a")
    def a(job: RunningJob) -> None: ...

    made = serve()
    del made.client.headers["authorization"]
    return made


@pytest.fixture
def ada(served: Served) -> dict[str, str]:
    """May read and write her own."""
    return served.key("write", tenant="acme", owner="ada")


@pytest.fixture
def things(served: Served, engine: Tenure, ada: dict[str, str]) -> Things:
    ref = engine.enqueue(MARK, {"note": MARK}, tenant="acme", owner="ada", key=MARK)
    begun = served.post("/api/jobs/replay", {"kind": [MARK]}, headers=ada)
    event = Outbox.of(engine).publish(None, MARK, tenant="acme", owner="ada")
    files = Files.of(engine)
    file = files.put(MARK.encode(), name=f"{MARK}.txt", tenant="acme", owner="ada")
    upload = files.uploads.begin(
        name="a", media_type="text/plain", length=5, tenant="acme", owner="ada"
    )
    operation = begun.headers["location"].rpartition("/")[2]
    return Things(engine.get(ref), operation, event.job_id, file.id, upload.id)


@pytest.fixture
def routes(served: Served, things: Things) -> list[Route]:
    document = served.get("/openapi.json").json()
    found = [
        Route(told["operationId"], method, things.fill(path), path)
        for path, methods in document["paths"].items()
        for method, told in methods.items()
    ]
    assert len(found) >= 35
    return found


def ask(client: httpx.Client, route: Route, headers: dict[str, str]) -> tuple[int, str]:
    """Status and body; of a stream that goes on without end only its status."""
    headers = {"prefer": "wait=0", **headers}
    body = BODIES.get(route.name, {}) if route.unsafe else None
    with client.stream(route.method, route.path, json=body, headers=headers) as answer:
        endless = answer.headers.get("content-type", "").startswith("text/event-stream")
        return answer.status_code, "" if endless else answer.read().decode()


@pytest.fixture(autouse=True)
def nothing_of_ada_is_changed(engine: Tenure, things: Things) -> Iterator[None]:
    """Whatever the others tried."""
    yield
    assert engine.get(things.job.id) == things.job
    assert engine.insight.history(things.job) == []


def test_nobody_gets_nothing(served: Served, routes: list[Route]) -> None:
    asked = [one for one in routes if one.template not in PUBLIC | FREE_ON_LOOPBACK]

    statuses = {one.name: ask(served.client, one, {})[0] for one in asked}

    assert set(statuses.values()) == {401}, statuses


def test_what_is_public_asks_nobody(served: Served) -> None:
    assert served.get("/openapi.json").status_code == 200
    assert served.get("/v1/health/live").status_code == 200
    assert served.get("/v1/health/ready").status_code == 200


STRANGERS: dict[str, dict[str, Any]] = {
    "another user": {"permission": "write", "tenant": "acme", "owner": "bob"},
    "a user of that name elsewhere": {"permission": "write", "tenant": "globex", "owner": "ada"},
    "an admin of another tenant": {"permission": "admin", "tenant": "globex"},
    "an admin of the tenant without a name": {"permission": "admin", "tenant": ""},
}


@pytest.mark.parametrize("whose", STRANGERS.values(), ids=STRANGERS)
def test_anothers_thing_is_not_there(
    served: Served, routes: list[Route], whose: dict[str, Any]
) -> None:
    """404, as for what does not exist; 403 for what belongs to no tenant."""
    stranger = served.key(**whose)

    statuses = {one.name: ask(served.client, one, stranger)[0] for one in routes if one.has_id}

    assert set(statuses.values()) <= {403, 404}, statuses
    assert all(statuses[one.name] == 404 for one in routes if one.owned)


@pytest.mark.parametrize("whose", STRANGERS.values(), ids=STRANGERS)
def test_no_answer_tells_of_anothers_jobs(
    served: Served, routes: list[Route], whose: dict[str, Any]
) -> None:
    stranger = served.key(**whose)

    for one in routes:
        if one.template not in PUBLIC:
            _, body = ask(served.client, one, stranger)
            assert MARK not in body, one.name


@pytest.mark.parametrize("whose", [{"tenant": "acme", "owner": "ada"}, {}], ids=["ada", "site"])
def test_who_may_only_read_changes_nothing(
    served: Served, routes: list[Route], whose: dict[str, Any]
) -> None:
    reader = served.key("read", **whose)
    changing = [one for one in routes if one.unsafe and one.path not in OWN | BY_SERVICE_TOKEN]

    statuses = {one.name: ask(served.client, one, reader)[0] for one in changing}

    assert len(statuses) >= 15
    assert set(statuses.values()) == {403}, statuses


def test_an_admin_of_a_tenant_changes_nothing_of_the_site(
    served: Served, routes: list[Route]
) -> None:
    admin = served.key("admin", tenant="acme")
    of_the_site = [
        one for one in routes
        if not one.owned and one.path.startswith(("/api/queues", "/api/schedules", "/worker"))
    ]  # fmt: skip

    statuses = {one.name: ask(served.client, one, admin)[0] for one in of_the_site}

    assert len(statuses) >= 10
    assert set(statuses.values()) == {403}, statuses


@pytest.mark.parametrize(
    ("headers", "status"),
    [({}, 401), ({"x-service-token": "wrong"}, 403), ({"x-service-token": SERVICE_TOKEN}, 200)],
)
def test_what_is_internal_takes_the_service_token_alone(
    served: Served, headers: dict[str, str], status: int
) -> None:
    assert served.post("/internal/tick", headers=headers).status_code == status
    if status == 401:
        assert served.post("/internal/tick", headers=served.key("admin")).status_code == 401


def test_ada_herself_finds_all_of_it(
    served: Served, routes: list[Route], ada: dict[str, str]
) -> None:
    """Otherwise the others could be refused for a wrong reason."""
    hers = [one for one in routes if one.owned and not one.unsafe]

    statuses = {one.name: ask(served.client, one, ada)[0] for one in hers}

    assert len(statuses) >= 4
    assert set(statuses.values()) <= {200, 202}, statuses


def test_every_route_says_in_the_document_that_it_asks_who_you_are(served: Served) -> None:
    document = served.get("/openapi.json").json()

    silent = {
        path
        for path, methods in document["paths"].items()
        for told in methods.values()
        if not told.get("security")
    }

    assert silent <= PUBLIC | FREE_ON_LOOPBACK


def test_head_is_answered_wherever_get_is(served: Served, routes: list[Route]) -> None:
    """As GET is, at once and without a body."""
    admin = {"prefer": "wait=0", **served.key("admin")}
    for route in routes:
        if route.method != "get":
            continue
        with served.client.stream("GET", route.path, headers=admin) as answer:
            wanted = (answer.status_code, answer.headers.get("content-type"))
        head = served.client.head(route.path, headers=admin, timeout=5)
        assert (head.status_code, head.headers.get("content-type")) == wanted, route.name
        assert head.content == b""


def test_who_only_looks_at_a_link_does_not_use_it_up(served: Served, engine: Tenure) -> None:
    """As previews of chats and scanners of mail do."""
    link = login_link(engine, served.url)

    looked = httpx.head(link)

    assert (looked.status_code, looked.content) == (200, b"")
    assert "set-cookie" not in looked.headers
    assert httpx.get(link).status_code == 303


def test_head_does_not_wait(served: Served, things: Things) -> None:
    path = f"/api/jobs/{things.job.id}/wait?waitMs=30000"

    assert served.client.head(path, headers=served.key("admin"), timeout=5).status_code == 202
