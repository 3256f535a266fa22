"""A feature is installed and everything loops over it; nothing outside its folder knows it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from tenure import Settings, Tenure, TenureError, Worker
from tenure.api import create_api
from tenure.core.errors import CodeTooOld, MigrationsPending, StoreError, TransferRefused
from tenure.feature import Counter, Feature, FeatureError, Level, Problem
from tenure.features.transfer import Options, Transfer, open_end
from tenure.stores.sql.migrations import Migrations
from tenure.watch.metrics import Metrics
from tenure.watch.storyteller import Storyteller
from tests.api.conftest import Served, listening
from tests.features.sample import Sample
from tests.support.distributions import forget, install

ROOT = Path(__file__).parent.parent.parent
NAME = Sample.name
FOLDER = Path(__file__).parent / "sample"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A place on the path where distributions are installed, with that of the sample."""
    folder = tmp_path / "site"
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("TENURE_FEATURES", f"{NAME},schedules,outbox")
    install(folder, "sample", f"{NAME} = tests.features.sample:Sample")
    yield folder
    forget()


@pytest.fixture
def engine(site: Path, fresh_database_url: str) -> Iterator[Tenure]:
    """An app on a database with all tables."""
    made = Tenure(fresh_database_url, settings=Settings(auto_migrate=True))
    made.features.load()
    yield made
    made.close()


@pytest.fixture
def on_sqlite(site: Path, tmp_path: Path) -> Iterator[Tenure]:
    """For what does not depend on the database."""
    made = Tenure(f"sqlite:///{tmp_path / 'book.db'}")
    yield made
    made.close()


def sign(engine: Tenure, *names: str) -> Sample:
    """Entries, each written by a job."""
    book = Sample.of(engine)
    for name in names:
        book.sign.enqueue(name=name, words=f"{name} was here")
    Worker(engine).run_until_idle()
    return book


def test_no_file_outside_its_folder_names_it() -> None:
    listed = subprocess.run(
        ["git", "grep", "-il", NAME], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    inside = FOLDER.relative_to(ROOT).as_posix()

    assert [one for one in listed.stdout.split() if not one.startswith(inside)] == []


def test_its_handler_writes_its_table_in_the_jobs_transaction(engine: Tenure) -> None:
    book = sign(engine, "Ada", "Grace")

    assert {one.name for one in book.entries()} == {"Grace", "Ada"}
    assert abs(book.entries()[0].signed_at / 1e6 - engine.store.now().timestamp()) < 60
    with pytest.raises(RuntimeError), engine.transaction() as tx:
        book.sql.run("add_entry", name="Nobody", words="", tx=tx)
        raise RuntimeError
    assert book.count() == 2


def test_a_plan_of_several_queries_is_one_transaction(engine: Tenure) -> None:
    book = Sample.of(engine)

    def plan() -> Iterator[object]:
        yield book.sql.statement("add_entry", name="Ada", words="")
        yield book.sql.statement("add_entry", name=None, words="")  # refused by the table

    with pytest.raises(Exception):  # noqa: B017 - each driver has its own
        book.sql.plan(plan)  # type: ignore[arg-type]
    assert book.count() == 0


def test_its_runner_takes_part_in_a_tick(engine: Tenure) -> None:
    book = Sample.of(engine)
    report = Worker(engine).tick()

    assert NAME in [one.name for one in report.runners]
    assert getattr(book.runners[0], "turns", 0) == 1


def test_its_old_rows_are_pruned_with_the_jobs(
    engine: Tenure, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = sign(engine, "Ada", "Grace", "Edith")
    monkeypatch.setattr(book.settings, "keep", 1)
    Worker(engine).tick()

    assert book.count() == 1


def test_missing_tables_are_named_with_what_to_run(site: Path, fresh_database_url: str) -> None:
    app = Tenure(fresh_database_url, settings=Settings(auto_migrate=False))
    app.store.migrations.apply()  # type: ignore[attr-defined]

    with pytest.raises(MigrationsPending, match=f"feature '{NAME}'.*run: tenure migrate"):
        Sample.of(app).entries()
    with pytest.raises(MigrationsPending, match=NAME):
        app.enqueue("anything")
    app.close()


def test_an_app_without_the_feature_works_beside_its_tables(
    engine: Tenure, fresh_database_url: str
) -> None:
    sign(engine, "Ada")
    old = Tenure(fresh_database_url, settings=Settings(auto_migrate=False), features=())
    old.enqueue("anything")

    assert NAME not in [feature.name for feature in old.features]
    old.close()


def test_code_that_its_tables_no_longer_serve_is_refused(
    engine: Tenure, fresh_database_url: str
) -> None:
    sign(engine, "Ada")
    with engine.transaction() as tx:
        tx.execute("UPDATE tenure_feature_migrations SET serves = 9 WHERE version = 2")
    older = Tenure(fresh_database_url)

    with pytest.raises(CodeTooOld, match=f"feature '{NAME}' serve its version 9"):
        Sample.of(older).entries()
    older.close()


def test_a_migration_that_stopped_goes_on_at_its_statement(
    site: Path, fresh_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = Tenure(fresh_database_url, settings=Settings(auto_migrate=False))
    app.features.load()
    schemas = app.store.schemas  # type: ignore[attr-defined]
    run = Migrations._run

    def stop(self: Migrations, connection: object, migration: object) -> bool:
        if self.feature and getattr(migration, "version", 0) == 2:
            raise StoreError("killed")
        return run(self, connection, migration)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(Migrations, "_create", lambda self, connection: [])
        patch.setattr(Migrations, "_run", stop)
        with pytest.raises(StoreError, match="killed"):
            schemas.apply()
    done = [(one.feature, migration.version) for one, migration in schemas.apply()]

    assert done == [(NAME, 2)]
    assert schemas.apply() == []
    assert sign(app, "Ada").count() == 1
    app.close()


def test_its_tables_move_to_another_database(engine: Tenure, site: Path, tmp_path: Path) -> None:
    sign(engine, "Ada", "Grace")
    target = f"sqlite:///{tmp_path / 'target.db'}"
    packages = {NAME: "tests.features.sample"}
    engine.close()
    with engine.transaction() as tx:  # the worker of this test is gone
        tx.execute("DELETE FROM tenure_records WHERE collection = 'workers'")
    refused = pytest.raises(TransferRefused, match=f"feature '{NAME}', which is not installed")
    with open_end(engine.url) as source, open_end(target) as other, refused:
        Transfer(source, other, Options()).run()
    with open_end(engine.url, packages) as source, open_end(target, packages) as other:
        report = Transfer(source, other, Options()).run()

    assert report.verified
    moved = Tenure(target)
    found = [one.name for one in sign(moved, "Edith").entries()]
    assert (found[0], set(found)) == ("Edith", {"Edith", "Grace", "Ada"})
    moved.close()


def test_its_routes_and_problems_are_part_of_the_api(on_sqlite: Tenure) -> None:
    sign(on_sqlite, "Ada")
    api = create_api(on_sqlite)
    with listening(api) as url, httpx.Client(base_url=url, timeout=20) as client:
        assert client.get(f"/api/{NAME}").status_code == 401
        client.headers.update(Served(on_sqlite, api, client, url).key("read"))
        [entry] = client.get(f"/api/{NAME}").json()
        missing = client.get(f"/api/{NAME}/99")

    assert (entry["name"], entry["words"]) == ("Ada", "Ada was here")
    assert (missing.status_code, missing.json()["code"]) == (404, "entry-not-found")
    assert api.openapi()["paths"][f"/api/{NAME}"]["get"]["operationId"] == "listEntries"


def test_its_screen_is_served_and_listed(on_sqlite: Tenure) -> None:
    async def get(path: str) -> httpx.Response:
        transport = httpx.ASGITransport(create_api(on_sqlite))
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            return await client.get(path)

    script = asyncio.run(get(f"/features/{NAME}/book/book.js"))
    assert script.status_code == 200
    assert script.headers["content-type"].startswith("text/javascript")
    assert "script-src 'self'" in script.headers["content-security-policy"]
    screens = asyncio.run(get("/features/screens.json")).json()
    assert screens == [
        {
            "feature": NAME,
            "name": "book",
            "title": NAME.capitalize(),
            "menu": "More",
            "module": f"/features/{NAME}/book/book.js",
        }
    ]


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [({"module": "absent.js"}, "has no absent.js"), ({"reads": ["/api/absent"]}, "is not a route")],
)
def test_a_screen_that_could_not_work_stops_the_start(
    on_sqlite: Tenure, wrong: dict[str, Any], complaint: str
) -> None:
    [feature] = [one for one in on_sqlite.features if one.name == NAME]
    feature.screens = [replace(feature.screens[0], **wrong)]

    with pytest.raises(FeatureError, match=complaint):
        create_api(on_sqlite)


def test_its_command_and_exit_code_are_part_of_the_command_line(on_sqlite: Tenure) -> None:
    sign(on_sqlite, "Ada")
    on_sqlite.close()
    environment = {**os.environ, "TENURE_DATABASE_URL": on_sqlite.url}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [*sys.path[:1], str(ROOT),
                                                os.environ.get("PYTHONPATH", "")]))  # fmt: skip

    def tenure(*args: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "tenure", *args]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)

    assert NAME in tenure("--help").stdout
    assert '"Ada"' in tenure(NAME, "list", "--json").stdout
    missing = tenure(NAME, "show", "99")
    assert (missing.returncode, missing.stderr) == (
        4,
        "error: there is no entry 99 [entry_not_found]\n",
    )
    assert "nothing is missing" in tenure("migrate", "--check").stdout
    assert f"{NAME}" in tenure("doctor").stdout


def test_its_metrics_are_scraped_with_the_others(on_sqlite: Tenure) -> None:
    sign(on_sqlite, "Ada", "Grace")
    text = Metrics.of(on_sqlite).exposition("")[0].decode()

    assert f"{NAME}_signed_total 2.0" in text
    assert f"{NAME}_entries 2.0" in text


def test_its_sentences_are_told(on_sqlite: Tenure) -> None:
    told: list[str] = []
    Storyteller(lambda one: told.append(one.text)).listen(on_sqlite.signals, on_sqlite.features)
    sign(on_sqlite, "Ada")

    assert f"Ada signed the {NAME}" in told


def test_its_check_is_asked_by_the_doctor(on_sqlite: Tenure) -> None:
    [finding] = Sample.of(on_sqlite).checks()
    assert finding.level is Level.WARNING
    [finding] = sign(on_sqlite, "Ada").checks()
    assert finding.level is Level.OK


def test_its_lifespan_is_a_context(on_sqlite: Tenure) -> None:
    book = Sample.of(on_sqlite)

    async def live() -> bool:
        async with book.lifespan(None):
            return book.open

    assert asyncio.run(live())
    assert not book.open


def test_a_feature_that_cannot_be_imported_is_named(site: Path, tmp_path: Path) -> None:
    install(site, "broken-app", "broken = no_such_module:Feature")
    app = Tenure(f"sqlite:///{tmp_path / 'x.db'}", features=("broken",))

    with pytest.raises(FeatureError, match=r"'broken' of broken-app .* No module named"):
        app.features.load()
    with pytest.raises(FeatureError, match="broken-app"):  # not half a list the second time
        list(app.features)


class Clumsy(Feature):
    """Its routes and commands raise."""

    name = "clumsy"

    def routers(self) -> Iterator[Any]:
        """Fails when it is read, not when it is called."""
        templates: dict[str, list[str]] = {}
        yield from templates["pages"]

    def commands(self) -> Mapping[str, Any]:
        """Fails at once."""
        raise ImportError("no printer")


def test_a_feature_whose_routes_cannot_be_made_is_named(on_sqlite: Tenure) -> None:
    on_sqlite.include(Clumsy(on_sqlite))

    with pytest.raises(FeatureError, match=r"routers\(\) .*'clumsy' raised KeyError: 'pages'"):
        create_api(on_sqlite)


def test_a_feature_whose_commands_cannot_be_made_is_named_and_the_others_work(
    site: Path, on_sqlite: Tenure
) -> None:
    install(site, "clumsy", "clumsy = tests.features.test_sample:Clumsy")
    environment = {
        **os.environ,
        "TENURE_FEATURES": f"{NAME},clumsy",
        "PYTHONPATH": os.pathsep.join([str(site), str(ROOT), os.environ.get("PYTHONPATH", "")]),
    }
    command = [sys.executable, "-m", "tenure", NAME, "--help"]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)

    assert (found.returncode, found.stderr) == (
        0,
        "note: commands() of the feature 'clumsy' raised ImportError: no printer\n",
    )


def test_a_query_that_is_not_there_is_named_with_those_that_are(on_sqlite: Tenure) -> None:
    book = Sample.of(on_sqlite)

    with pytest.raises(StoreError, match=f"'{NAME}' has no query 'nope'; known: .*list_") as caught:
        book.sql.run("nope")

    assert caught.value.code == "unknown_query"


def test_two_of_one_name_are_refused(site: Path, on_sqlite: Tenure) -> None:
    install(site, "another", f"{NAME} = tests.features.sample:Sample")
    app = Tenure(on_sqlite.url)

    with pytest.raises(FeatureError, match=r"another .* and sample .* both install"):
        app.features.load()


def test_an_included_one_goes_before_the_installed_one(on_sqlite: Tenure) -> None:
    mine = Sample(on_sqlite)
    on_sqlite.include(mine)
    on_sqlite.include(mine)  # the same object again changes nothing

    assert Sample.of(on_sqlite) is mine
    with pytest.raises(FeatureError, match="already"):
        on_sqlite.include(Feature.__new__(Sample))


def test_one_that_is_wanted_and_not_installed_is_named(tmp_path: Path) -> None:
    app = Tenure(f"sqlite:///{tmp_path / 'x.db'}", features=("no_such",))

    with pytest.raises(FeatureError, match="'no_such' is wanted but not installed"):
        app.features.load()


def test_a_name_must_be_harmless(app: Tenure) -> None:
    class Bad(Feature):
        name = "a b'"

    with pytest.raises(FeatureError, match="lower-case"):
        app.include(Bad(app))


def test_an_error_needs_a_code_of_its_own(app: Tenure) -> None:
    class Lost(TenureError):
        """Without a code, all errors would get its status."""

    class Careless(Feature):
        name = "careless"
        problems: Mapping[type[TenureError], Problem] = {Lost: Problem(404)}

    with pytest.raises(FeatureError, match="Lost of the feature 'careless' needs a code"):
        app.include(Careless(app))


def test_a_feature_that_an_app_does_not_use_is_not_a_part_of_it(site: Path, app: Tenure) -> None:
    limited = Tenure(app.url, features=())

    with pytest.raises(FeatureError, match=f"'{NAME}' is not a part of this app"):
        Sample.of(limited)


def test_a_metric_belongs_to_one(on_sqlite: Tenure) -> None:
    class Thief(Feature):
        name = "thief"
        metrics = (Counter("pending_count", "mine"),)

    on_sqlite.include(Thief(on_sqlite))

    with pytest.raises(FeatureError, match="'pending_count' of the feature 'thief'"):
        list(Metrics.of(on_sqlite).collect())


def test_importing_and_enqueueing_load_no_face_and_no_feature(tmp_path: Path) -> None:
    program = (
        "import sys, tenure\n"
        f"app = tenure.Tenure('sqlite:///{tmp_path / 'x.db'}')\n"
        "app.enqueue('x')\n"
        "heavy = {'fastapi', 'typer', 'prometheus_client', 'starlette'} & set(sys.modules)\n"
        "features = [one for one in sys.modules if one.startswith('tenure.features.')]\n"
        "print(heavy, features)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    assert done.stdout == "set() []\n", done.stderr
