"""Arrays as text: PostgreSQL reads back what was meant, whatever is in them."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tenure.stores.postgres.arrays import literal
from tests.support.databases import ServerDatabases

NO_NUL = st.characters(exclude_characters="\x00", exclude_categories=["Cs"])
TRICKY = ["", "NULL", "null", '"', "\\", "{}", "{a,b}", ",", " ", "\n", '\\"', "ü\U0001f600", "''"]
texts = st.text(NO_NUL) | st.sampled_from(TRICKY)


@pytest.fixture(scope="module")
def connection(postgres_databases: ServerDatabases) -> Any:
    with psycopg.connect(postgres_databases.url, autocommit=True) as opened:
        yield opened


@given(array=st.lists(texts) | st.lists(texts | st.none()))
@example(array=TRICKY)
@example(array=[None, "NULL"])
def test_texts_arrive_as_they_were(connection: Any, array: list[str | None]) -> None:
    [(found,)] = connection.execute("SELECT %s::text[]", (literal(array),)).fetchall()

    assert found == array


@given(array=st.lists(st.integers(-(2**63), 2**63 - 1) | st.none()))
def test_numbers_arrive_as_they_were(connection: Any, array: list[int | None]) -> None:
    [(found,)] = connection.execute("SELECT %s::bigint[]", (literal(array),)).fetchall()

    assert found == array


def test_a_text_that_no_database_takes_is_left_to_the_driver_to_refuse(connection: Any) -> None:
    assert literal(["a", "b\x00c"]) == ["a", "b\x00c"]
    with pytest.raises(psycopg.DataError, match="NUL"):
        connection.execute("SELECT %s::text[]", (literal(["a", "b\x00c"]),))
