"""The shape of the code: sizes, no import cycles, the same queries everywhere, the public names."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest

import tenure
from tenure.stores.sql.queries import Queries, read_sql

SOURCE = Path(tenure.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))
Function = ast.FunctionDef | ast.AsyncFunctionDef

PUBLIC = [
    "NO_RETRY", "ArgumentsError", "Cancel", "CapabilityError", "Change", "Delays", "Exponential",
    "Fail", "Feature",
    "FilterRequired", "Job", "JobFailed", "JobFilter", "JobNotFound", "JobRef", "Jobs",
    "KeyConflict", "KeyMode", "LeaseLost", "Limit", "Move", "NewJob", "NotFound", "OptionError",
    "Outcome", "Page", "PayloadError", "Retry", "RetryPolicy", "Runner", "RunningJob", "Settings",
    "Skip", "Snooze", "State", "StoreUnavailable", "Tenure", "TenureError", "Throttled", "Worker",
    "WorkerSettings",
]  # fmt: skip


def name_of(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def functions(tree: ast.AST) -> Iterator[Function]:
    return (node for node in ast.walk(tree) if isinstance(node, Function))


def code_lines(node: Function) -> int:
    """Lines of the body without its docstring."""
    body = node.body[1:] if ast.get_docstring(node) and len(node.body) > 1 else node.body
    return (body[-1].end_lineno or body[-1].lineno) - body[0].lineno + 1


def test_no_file_is_longer_than_400_lines_and_most_are_short() -> None:
    sizes = {name_of(path): len(path.read_text().splitlines()) for path in MODULES}
    ordered = sorted(sizes.values())

    assert {name: size for name, size in sizes.items() if size > 400} == {}
    assert median(ordered) <= 100
    assert ordered[int(len(ordered) * 0.9)] <= 250
    assert sizes["tenure.app"] <= 250


def test_nobody_waits_in_a_way_that_can_swallow_a_cancellation() -> None:
    """Before Python 3.12 `asyncio.wait_for` can; `asyncio.timeout` cannot."""
    found = {
        name_of(path)
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and node.attr == "wait_for"
        if isinstance(node.value, ast.Name) and node.value.id == "asyncio"
    }

    assert found == set()


def test_no_function_is_longer_than_40_lines_and_most_are_short() -> None:
    found = {
        f"{name_of(path)}.{node.name}": code_lines(node)
        for path in MODULES
        for node in functions(ast.parse(path.read_text()))
    }
    ordered = sorted(found.values())

    assert {name: size for name, size in found.items() if size > 40} == {}
    assert median(ordered) <= 6
    assert ordered[int(len(ordered) * 0.9)] <= 18


def test_no_class_has_more_than_15_public_methods() -> None:
    crowded = {
        f"{name_of(path)}.{node.name}"
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef)
        and sum(isinstance(one, Function) and not one.name.startswith("_") for one in node.body)
        > 15
    }

    assert crowded == set()


def test_every_public_thing_has_a_docstring() -> None:
    silent = []
    for path in MODULES:
        tree = ast.parse(path.read_text())
        if not ast.get_docstring(tree):
            silent.append(name_of(path))
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                silent += [f"{name_of(path)}.{node.name}"] if not ast.get_docstring(node) else []

    assert silent == []


def test_imports_have_no_cycles() -> None:
    graph = {name_of(path): imports(path) for path in MODULES if path.name != "__init__.py"}
    while leaves := [name for name, needs in graph.items() if not needs & set(graph)]:
        for leaf in leaves:
            del graph[leaf]

    assert graph == {}


def imports(path: Path) -> set[str]:
    """What a module imports when it is loaded; names for type checkers alone do not count."""
    found: set[str] = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tenure"):
            module = str(node.module)
            found |= {module} | {f"{module}.{alias.name}" for alias in node.names}
    return found


@pytest.mark.parametrize("dialect", ["postgres", "mysql"])
def test_every_dialect_has_the_same_queries_and_fragments(dialect: str) -> None:
    reference = Queries(read_sql("tenure.stores.sqlite")).names

    assert Queries(read_sql(f"tenure.stores.{dialect}")).names >= reference
    extra = (
        Queries(read_sql(f"tenure.stores.{dialect}")).queries
        - Queries(read_sql("tenure.stores.sqlite")).queries
    )
    assert extra == frozenset()


def test_the_public_names_are_exactly_these() -> None:
    assert tenure.__all__ == PUBLIC
    assert all(inspect.getdoc(getattr(tenure, name)) for name in PUBLIC if name != "NO_RETRY")
