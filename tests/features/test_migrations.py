"""Migrations of features: keyed by feature and version, repaired after a stop anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tenure.core.errors import StoreError
from tenure.feature import Level
from tenure.stores import open_store
from tenure.stores.sql.ledger import features_of
from tenure.stores.sql.migrations import Migration, Migrations, load, parse
from tenure.stores.sql.store import SqlStore, sql_store
from tenure.watch.doctor.checks import unfit

FIRST = parse(1, "first", "-- serves: 1\nCREATE TABLE rooms_a (id INTEGER NOT NULL PRIMARY KEY);")
SECOND = parse(
    2,
    "second",
    "-- serves: 1\n"
    "ALTER TABLE rooms_a ADD COLUMN colour VARCHAR(20) NULL;\n"
    "CREATE TABLE rooms_b (id INTEGER NOT NULL PRIMARY KEY);\n"
    "INSERT INTO rooms_b (id) VALUES (7);",
)


TRIGGERS = {
    "sqlite": """CREATE TRIGGER rooms_paint AFTER INSERT ON rooms_a
BEGIN
    UPDATE rooms_a SET colour = 'white' WHERE id = NEW.id;
    UPDATE rooms_a SET colour = colour || '!' WHERE id = NEW.id;
END;""",
    "postgres": """CREATE FUNCTION rooms_paint() RETURNS trigger AS $$
BEGIN
    NEW.colour := 'white';
    NEW.colour := NEW.colour || '!';
    RETURN NEW;
END;
$$ LANGUAGE plpgsql;
-- end
CREATE TRIGGER rooms_paint BEFORE INSERT ON rooms_a FOR EACH ROW EXECUTE FUNCTION rooms_paint();
-- statement
SELECT 1;""",
    "mysql": """CREATE TRIGGER rooms_paint BEFORE INSERT ON rooms_a FOR EACH ROW
BEGIN
    SET NEW.colour = 'white';
    SET NEW.colour = concat(NEW.colour, '!');
END;""",
}


@pytest.fixture
def store(fresh_database_url: str) -> Iterator[SqlStore]:
    """On a database with the engine's tables."""
    opened = sql_store(open_store(fresh_database_url, auto_migrate=False))
    opened.migrations.apply()
    yield opened
    opened.close()


def migrations(store: SqlStore, *found: Migration, feature: str = "rooms") -> Migrations:
    return Migrations(store.database, found, feature)


@pytest.mark.parametrize("at", [1, 2, 3])
def test_a_stop_at_any_statement_is_repaired_by_running_it_again(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    migrations(store, FIRST).apply()
    schema, asked = store.database.dialect.schema, list[str]()
    change = schema.change

    def stopping(connection: Any, statement: Any) -> None:
        asked.append(statement.sql)
        if len(asked) == at:
            raise RuntimeError("killed")
        change(connection, statement)

    with monkeypatch.context() as patch:
        patch.setattr(schema, "change", stopping)
        with pytest.raises(StoreError, match="migration rooms/0002_second stopped: killed"):
            migrations(store, FIRST, SECOND).apply()
    with store.database.raw_connection() as connection:
        assert migrations(store, FIRST, SECOND).status(connection) == (1, 1)

    assert [one.version for one in migrations(store, FIRST, SECOND).apply()] == [2]
    with store.transaction() as tx:
        assert tx.execute("SELECT id FROM rooms_b").fetchall()[0] == (7,)
        assert list(tx.execute("SELECT colour FROM rooms_a").fetchall()) == []


def test_features_and_the_engine_count_apart(store: SqlStore) -> None:
    other = parse(1, "first", "-- serves: 1\nCREATE TABLE doors (id INTEGER NOT NULL PRIMARY KEY);")
    with store.database.raw_connection() as connection:
        before = store.migrations.status(connection)
        migrations(store, FIRST, SECOND).apply()
        migrations(store, other, feature="doors").apply()

        assert store.migrations.status(connection) == before
        assert migrations(store, FIRST, SECOND).status(connection) == (2, 1)
        assert migrations(store, other, feature="doors").status(connection) == (1, 1)
        assert features_of(connection) == ["doors", "rooms"]


def test_a_migration_that_was_mended_by_removing_its_last_statement_is_recorded(
    store: SqlStore,
) -> None:
    good = "CREATE TABLE rooms_b (id INTEGER NOT NULL PRIMARY KEY);"
    broken = parse(2, "second", f"-- serves: 1\n{good}\nINSERT INTO rooms_never (id) VALUES (1);")
    mended = parse(2, "second", f"-- serves: 1\n{good}")
    migrations(store, FIRST).apply()
    with pytest.raises(StoreError, match="rooms/0002_second stopped"):
        migrations(store, FIRST, broken).apply()

    assert [one.version for one in migrations(store, FIRST, mended).apply()] == [2]
    assert migrations(store, FIRST, mended).apply() == []


def test_two_migrations_of_one_version_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "twice_numbered" / "migrations"
    folder.mkdir(parents=True)
    (tmp_path / "twice_numbered" / "__init__.py").touch()
    for name in ("0001_first", "0002_doors", "0002_walls"):
        (folder / f"{name}.sql").write_text("-- serves: 1\nSELECT 1;")
    monkeypatch.syspath_prepend(tmp_path)

    with pytest.raises(StoreError, match="two migrations of version 2: doors and walls"):
        load("twice_numbered")


def test_a_statement_may_have_lines_that_end_with_a_semicolon(store: SqlStore) -> None:
    body = TRIGGERS[store.database.dialect.name]
    text = f"-- serves: 1\n-- statement\n{body}\n-- end\nINSERT INTO rooms_a (id) VALUES (7);\n"

    migrations(store, FIRST, SECOND, parse(3, "paint", text)).apply()

    with store.transaction() as tx:
        assert list(tx.execute("SELECT colour FROM rooms_a").fetchall()) == [("white!",)]


@pytest.mark.parametrize("lines", ["-- statement\nSELECT 1;", "SELECT 1;\n-- end"])
def test_a_statement_without_its_other_line_is_refused(lines: str) -> None:
    with pytest.raises(StoreError, match="0001_half has a line '-- statement' without its"):
        parse(1, "half", f"-- serves: 1\n{lines}\n")


def test_a_migration_below_the_newest_is_refused_wherever_it_is_seen(store: SqlStore) -> None:
    third = parse(3, "third", "-- serves: 1\nSELECT 1;")
    migrations(store, FIRST, third).apply()
    late = migrations(store, FIRST, SECOND, third)

    for look in (late.apply, late.pending):
        with pytest.raises(StoreError, match=r"rooms/0002_second never ran.*at version 3 already"):
            look()
    with store.database.raw_connection() as connection:
        finding = unfit(late, connection)
    assert finding is not None
    assert (finding.level, "0002_second" in finding.fact) == (Level.PROBLEM, True)


def test_a_program_with_a_migration_below_the_newest_does_not_start(
    store: SqlStore, fresh_database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "late" / store.database.dialect.name / "migrations"
    folder.mkdir(parents=True)
    (folder / "0001_first.sql").write_text("-- serves: 1\nSELECT 1;")
    (folder / "0003_third.sql").write_text("-- serves: 1\nSELECT 1;")
    monkeypatch.syspath_prepend(tmp_path)
    store.schemas.add("late", "late")
    store.schemas.apply()
    (folder / "0002_second.sql").write_text("-- serves: 1\nSELECT 1;")

    fresh = sql_store(open_store(fresh_database_url, auto_migrate=True))
    fresh.schemas.add("late", "late")
    with pytest.raises(StoreError, match="late/0002_second never ran"):
        fresh.now()
    fresh.close()
