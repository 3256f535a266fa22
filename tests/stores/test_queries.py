"""Named queries: read from files, filled with fragments, turned into a driver's style."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tenure.stores
from tenure.stores.sql.queries import Queries, UnknownQuery, read_sql, to_numbered, to_pyformat

FOLDERS = {name: f"tenure.stores.{name}" for name in ("sqlite", "postgres", "mysql")}
STEPS = re.compile(r'Statement\(\s*f?"([a-z_{}.]+)"')
SOURCES = Path(tenure.stores.__file__).parent / "sql"

SAMPLE = """
-- fragment: now
clock()

-- fragment: columns
-- With a reason.
id, {now}

-- fragment: where_tenant
AND tenant = :tenant

-- fragment: where_owner
AND owner = :owner

-- name: find
-- One sentence.
SELECT {columns} FROM jobs WHERE true {where}

-- name: two_steps
-- each
SELECT ';' FROM jobs;
UPDATE jobs SET at = {now};
"""


def queries(*, bound_clock: bool = False) -> Queries:
    return Queries({"sample.sql": SAMPLE}, bound_clock=bound_clock)


def test_a_query_is_found_by_its_name_with_its_fragments_in_place() -> None:
    found = queries().get("find")

    assert [step.split() for step in found.steps] == [
        ["SELECT", "id,", "clock()", "FROM", "jobs", "WHERE", "true"]
    ]
    assert not found.each


def test_conditions_are_put_where_the_filter_belongs() -> None:
    found = queries().get("find", ("tenant", "owner"))

    assert found.steps[0].endswith("WHERE true AND tenant = :tenant AND owner = :owner")


def test_a_bound_clock_takes_the_place_of_the_databases_own() -> None:
    assert ":clock_now" in queries(bound_clock=True).get("find").steps[0]
    assert "clock()" not in queries(bound_clock=True).get("two_steps").steps[1]


def test_statements_of_one_query_are_its_steps() -> None:
    found = queries().get("two_steps")

    assert found.steps == ("SELECT ';' FROM jobs", "UPDATE jobs SET at = clock()")
    assert found.each


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(UnknownQuery, match="'nothing'; known: find, two_steps"):
        queries().get("nothing")
    with pytest.raises(KeyError):
        queries().get("find", ("nothing",))


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("a = :a", "a = %(a)s"),
        ("a LIKE '5%' AND b = :b", "a LIKE '5%%' AND b = %(b)s"),
        (":x::bigint", "%(x)s::bigint"),
        ("now()::text", "now()::text"),
        ("(:a, :a, :a_b)", "(%(a)s, %(a)s, %(a_b)s)"),
    ],
)
def test_names_become_pyformat(sql: str, expected: str) -> None:
    assert to_pyformat(sql) == expected


def test_names_become_numbers_and_the_same_name_the_same_number() -> None:
    assert to_numbered("a = :a AND b = :b::int AND c = :a") == (
        "a = $1 AND b = $2::int AND c = $1",
        ("a", "b"),
    )


@pytest.mark.parametrize("name", ["postgres", "mysql"])
def test_every_dialect_answers_to_the_same_names(name: str) -> None:
    ours, theirs = loaded("sqlite"), loaded(name)

    def asked(queries: Queries) -> set[str]:
        return {n for n in queries.names if n in code_names() or n.startswith("where_")}

    assert asked(theirs) == asked(ours)


def test_every_statement_of_the_body_has_its_query() -> None:
    assert code_names() <= loaded("sqlite").names


@pytest.mark.parametrize("name", FOLDERS)
def test_every_query_of_a_dialect_can_be_filled(name: str) -> None:
    found = loaded(name)
    for text in read_sql(FOLDERS[name]).values():
        for query in re.findall(r"^-- name: (\w+)$", text, re.MULTILINE):
            steps = found.get(query).steps
            assert steps, query
            assert all("{" not in step for step in steps), query


@pytest.mark.parametrize("name", FOLDERS)
def test_every_query_of_a_dialect_is_asked_for(name: str) -> None:
    defined = {
        query
        for text in read_sql(FOLDERS[name]).values()
        for query in re.findall(r"^-- name: (\w+)$", text, re.MULTILINE)
    }

    assert defined - code_names() == set()


@pytest.mark.parametrize("name", FOLDERS)
def test_no_query_is_defined_twice(name: str) -> None:
    names = [
        (word, query)
        for text in read_sql(FOLDERS[name]).values()
        for word, query in re.findall(r"^-- (name|fragment): (\w+)$", text, re.MULTILINE)
    ]

    assert len(names) == len(set(names))


def loaded(name: str) -> Queries:
    return Queries(read_sql(FOLDERS[name]))


def code_names() -> set[str]:
    """The names that the shared body asks for, as its source tells them."""
    source = "\n".join(path.read_text() for path in sorted(SOURCES.rglob("*.py")))
    found = set(STEPS.findall(source)) | set(re.findall(r'_meet_holders\("(\w+)"', source))
    found |= set(re.findall(r'"((?:create|update|upsert)_record)"', source))
    moves = {"move_cancel", "move_retry", "move_reprioritise"}
    return {name for name in found if "{" not in name} | moves
