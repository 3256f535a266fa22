"""`tenure jobs search | errors | kinds | stats`, `--version`, and `--app` for operators."""

from __future__ import annotations

from importlib import metadata

import pytest

from tenure.cli.kit.sparklines import narrowed, sparkline
from tests.cli.conftest import Shop


@pytest.fixture
def worked(shop: Shop) -> Shop:
    """A shop with a failed, a succeeded and a waiting job."""
    shop.call("enqueue", "refuse", "--key", "order-3", "--tenant", "acme")
    shop.call("enqueue", "add", "--payload", '{"a": 7}')
    assert shop.run("tick", "--app", "shop:app").returncode == 0
    shop.call("enqueue", "add", "--payload", '{"a": 1}')
    return shop


def test_a_search_shows_errors_and_reasons(worked: Shop) -> None:
    [bad] = worked.items("jobs", "search", "order-3", "state:bad")
    waiting = worked.call("jobs", "search", "state:open", "--why").stdout
    found = worked.read("jobs", "search", "payload.a:7")

    assert bad["lastError"]["message"] == "never"
    assert "no worker is alive" in waiting
    assert (len(found["items"]), found["complete"]) == (1, True)
    assert "Fail: never" in worked.call("jobs", "search", "error:NEVER").stdout
    assert worked.call("jobs", "search", "color:red").exit_code == 2


def test_a_group_is_listed_and_replayed(worked: Shop) -> None:
    [group] = worked.items("errors")

    assert (group["kind"], group["count"], group["message"]) == ("refuse", 1, "never")
    assert "Fail: never" in worked.call("errors", "--since", "1h").stdout
    assert worked.call("errors", "--kind", "other").stdout == "no failures\n"
    replay = worked.read("jobs", "replay", "--group", group["errorGroup"], "--yes")
    assert replay["changed"] == 1
    assert worked.read("jobs", "cancel", "--query", "payload.a:1", "--yes")["changed"] == 1


def test_kinds_and_stats(worked: Shop) -> None:
    kinds = {one["kind"]: one for one in worked.items("kinds")}
    stats = worked.read("stats", "--by", "kind")

    assert kinds["add"]["arguments"]["required"] == ["a"]
    assert kinds["add"]["lastHour"]["settled"]["succeeded"] == 1
    assert stats["totals"]["settled"]["failed"] == 1
    shown = worked.call("stats", "--by", "queue").stdout
    assert "settled" in shown and "█" in shown and "default" in shown


def test_operators_may_name_the_app(worked: Shop) -> None:
    for command in (["jobs", "list"], ["queues"], ["stats"]):
        result = worked.run(*command, "--app", "shop:app")
        assert result.returncode == 0, result.stderr
    assert worked.run("jobs", "list", "--app", "shop:nothing").returncode == 2


@pytest.mark.parametrize("command", ["stats", "errors", "kinds", "jobs search x"])
def test_where_no_database_is_none_is_made(empty_shop: Shop, command: str) -> None:
    result = empty_shop.call(*command.split())

    assert result.exit_code == 3
    assert "no SQLite file" in result.stderr
    assert not (empty_shop.folder / "shop.db").exists()


def test_the_version(shop: Shop) -> None:
    assert shop.call("--version").stdout == f"tenure {metadata.version('tenure')}\n"


def test_a_sparkline_tells_something_from_nothing() -> None:
    assert sparkline([0, 1, 4]) == " ▃█"
    assert sparkline([]) == "" and sparkline([0, 0]) == "  "
    assert narrowed([1, 1, 1, 1, 1], 2) == [3, 2]
