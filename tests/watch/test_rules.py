"""Alert rules, board and table name metrics that are exported, and fire when the seeds say so."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tenure import Tenure
from tenure.feature import Sort
from tenure.watch.metric_families import with_features

ROOT = Path(__file__).parents[2]
RULES = ROOT / "deploy" / "prometheus" / "alerts.yml"
TESTS = ROOT / "deploy" / "prometheus" / "alerts_test.yml"
BOARD = ROOT / "deploy" / "grafana" / "tenure.json"
TABLE = ROOT / "docs" / "guides" / "metrics.md"
NOT_METRICS = re.compile(r'\{[^}]*\}|\b(?:by|without)\s*\([^)]*\)|\[[^\]]*\]|"[^"]*"')
WORDS = {"and", "or", "unless", "offset", "on", "ignoring"}
SEEDS = {
    "QueueDepthHigh": ("queue_depth) > 1000", "10m"),
    "QueueDepthSustained": ("queue_depth) > 100", "15m"),
    "FailureRateHigh": ("> 0.10", "5m"),
    "FailedSpike": ("failed_total", ""),
    "ProcessingSlow": ("> 30000", "10m"),
    "ApiUsageWarning": ("> 0.70", ""),
    "ApiUsageCritical": ("> 0.90", ""),
    "PollerDown": ("workers_alive", "2m"),
}

# Of the engine and of every feature that comes with it.
FAMILIES = with_features(Tenure("sqlite:///none.db").features)


def rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load(RULES.read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def expressions() -> Iterator[str]:
    yield from (rule["expr"] for rule in rules())
    board = json.loads(BOARD.read_text())
    for panel in board["panels"]:
        yield from (target["expr"] for target in panel["targets"])


def metrics_in(expression: str) -> set[str]:
    plain = NOT_METRICS.sub(" ", expression)
    return set(re.findall(r"\b[a-z][a-z_]+\b(?!\s*\()", plain)) - WORDS


def exported() -> set[str]:
    names = set()
    for family in FAMILIES.values():
        names |= {
            Sort.HISTOGRAM: {f"{family.name}_{part}" for part in ("bucket", "count", "sum")},
            Sort.SUMMARY: {f"{family.name}_{part}" for part in ("count", "sum")},
        }.get(family.sort, {family.name})
    return names


def test_rules_and_board_name_only_metrics_that_are_exported() -> None:
    used = set().union(*map(metrics_in, expressions()))

    assert len(used) > 20
    assert used - exported() == set()


def test_labels_of_the_expressions_are_those_of_their_metrics() -> None:
    labels = {label for family in FAMILIES.values() for label in family.labels}
    for expression in expressions():
        for grouped in re.findall(r"\bby\s*\(([^)]*)\)", expression):
            used = {label.strip() for label in grouped.split(",")}
            assert used <= labels | {"le", "instance"}, expression


def test_the_thresholds_are_those_of_the_seeds() -> None:
    found = {rule["alert"]: rule for rule in rules()}
    for name, (part, lasting) in SEEDS.items():
        assert part in found[name]["expr"], name
        assert found[name].get("for", "") == lasting, name
    assert all(rule["annotations"]["action"] for rule in rules())


@pytest.mark.parametrize("check", [("check", RULES), ("test", TESTS)])
def test_promtool_agrees(check: tuple[str, Path]) -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        if os.environ.get("CI") == "true":
            pytest.fail("CI runs every test, but there is no promtool")
        pytest.skip("not installed: promtool (apt-get install prometheus)")

    done = subprocess.run([promtool, check[0], "rules", check[1]], capture_output=True, text=True)

    assert done.returncode == 0, done.stdout + done.stderr


def test_the_board_can_be_imported() -> None:
    board = json.loads(BOARD.read_text())
    places = [tuple(panel["gridPos"].values()) for panel in board["panels"]]

    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    assert len(set(places)) == len(places)
    assert all(panel["datasource"]["uid"] == "${datasource}" for panel in board["panels"])


def test_the_table_of_the_guide_is_what_is_exported() -> None:
    row = re.compile(r"^\| `(\w+)` \| (\w+) \| ([^|]*) \| ([^|]*) \| ([^|]*) \|$", re.MULTILINE)
    told = {
        name: (sort, tuple(re.findall(r"`(\w+)`", labels)), meaning.replace("\\|", "|"))
        for name, sort, labels, meaning, _ in row.findall(TABLE.read_text())
    }

    assert told == {
        name: (str(family.sort), family.labels, family.meaning) for name, family in FAMILIES.items()
    }
