"""`/api/audit`: what admins did, for admins of the site."""

from __future__ import annotations

from tests.api.conftest import Served
from tests.api.test_bad_input import check_problem


def test_what_admins_do_leaves_lines_newest_first(served: Served) -> None:
    served.post("/api/queues/pdf/pause")
    served.engine.enqueue("a", tenant="acme")
    served.post("/api/jobs/cancel", {"tenant": "acme"})

    first = served.get("/api/audit", params={"pageSize": 1}).json()
    rest = served.get("/api/audit", params={"after": first["next"]}).json()

    [line] = first["items"]
    assert (line["action"], line["facts"]) == ("jobs.cancel", {"jobs": 1})
    assert line["target"] == "states=queued,running tenant=acme"
    assert line["actor"].startswith("key:test:")
    assert [one["action"] for one in rest["items"]] == ["queue.paused", "key.created"]
    assert rest["next"] is None


def test_lines_are_for_admins_of_the_site(served: Served) -> None:
    for whose in ({"permission": "read"}, {"permission": "admin", "tenant": "acme"}):
        check_problem(served.get("/api/audit", headers=served.key(**whose)), 403, "forbidden")


def test_a_made_up_cursor_is_refused(served: Served) -> None:
    check_problem(served.get("/api/audit", params={"after": "0"}), 400, "invalid-cursor")
