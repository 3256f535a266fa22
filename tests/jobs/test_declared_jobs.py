"""`Jobs`: handlers are declared without an app, and work once an app includes them."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tenure import (
    ArgumentsError,
    Exponential,
    Jobs,
    OptionError,
    RunningJob,
    Settings,
    State,
    Tenure,
)
from tenure.core.errors import UsageError
from tenure.features.schedules import Schedules
from tenure.testing import on_temporary_database, run_until_idle
from tests.jobs.separate import program
from tests.jobs.separate.handlers import in_process

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "handlers.md"


def greeting() -> tuple[Jobs, Any]:
    jobs = Jobs()

    @jobs.job("greet")
    def greet(job: RunningJob, name: str) -> str:
        return f"Hello {name}"

    return jobs, greet


def another_app(folder: Path, name: str = "other") -> Tenure:
    return Tenure(f"sqlite:///{folder / name}.db", settings=Settings(lease_seconds=30))


def test_a_handler_works_once_its_jobs_are_included(app: Tenure) -> None:
    jobs, greet = greeting()
    app.include(jobs)

    ref, later = greet.enqueue(name="Ada"), greet.using(priority=7).using(tenant="acme")
    named = later.enqueue(name="Bob")
    run_until_idle(app)

    assert ref.result() == "Hello Ada"
    assert (app.get(named).priority, app.get(named).tenant) == (7, "acme")
    assert app.handlers.require("greet").function is greet.function


def test_a_handler_can_be_called_and_enqueued_from_a_coroutine(app: Tenure) -> None:
    jobs, greet = greeting()
    job: Any = None

    assert greet(job, "Ada") == "Hello Ada"  # no app is needed for a plain call
    app.include(jobs)
    ref = asyncio.run(greet.enqueue_async(name="Ada"))
    [many] = app.enqueue_many([greet.using(delay=60).new(name="Bob")])

    assert app.get(ref).state is app.get(many).state is State.QUEUED


@pytest.mark.parametrize("act", ["enqueue", "new", "using"])
def test_before_it_is_included_an_enqueue_names_the_kind_and_says_include(act: str) -> None:
    _, greet = greeting()
    urgent = greet.using(priority=0)  # options may be given at import already

    with pytest.raises(UsageError, match=r"'greet' belongs to no app yet: call app\.include"):
        {"enqueue": greet.enqueue, "new": greet.new, "using": urgent.enqueue}[act](name="Ada")


def test_what_the_decorator_leaves_out_comes_from_the_app(tmp_path: Path) -> None:
    jobs = Jobs()

    @jobs.job("plain")
    def plain(job: RunningJob) -> None: ...

    @jobs.job("said", queue="q", timeout=5, priority=1, retry=Exponential(attempts=2))
    def said(job: RunningJob) -> None: ...

    settings = Settings(timeout_seconds=77.0, max_attempts=9, priority=4)
    app = Tenure(f"sqlite:///{tmp_path / 'jobs.db'}", settings=settings)
    app.include(jobs)

    options = app.handlers.require("plain").options
    assert (options.timeout, options.retry.attempts, options.priority) == (77.0, 9, 4)
    options = app.handlers.require("said").options
    assert (options.timeout, options.retry.attempts, options.priority) == (5.0, 2, 1)
    job = app.get(plain.enqueue())
    assert (job.max_attempts, job.priority) == (9, 4)
    app.close()


def test_options_and_functions_are_checked_where_they_are_declared() -> None:
    jobs = Jobs()

    def inner(job: RunningJob) -> None: ...

    def many(job: RunningJob, *rest: int) -> None: ...

    bad: list[Any] = [
        {"timeout": 0}, {"runs_in": "thread"}, {"queue": ""}, {"retires": 3},
    ]  # fmt: skip
    for options in bad:
        with pytest.raises(OptionError):
            jobs.job("bad", **options)
    with pytest.raises(OptionError, match="top level"):
        jobs.job("bad", runs_in="process")(inner)
    with pytest.raises(OptionError, match="named arguments"):
        jobs.job("bad")(many)
    assert list(jobs) == []


def test_arguments_are_checked_at_the_caller(app: Tenure) -> None:
    jobs, greet = greeting()
    app.include(jobs)

    with pytest.raises(ArgumentsError, match="name"):
        greet.enqueue(nmae="Ada")


def test_a_kind_has_one_handler_and_an_app_takes_all_or_none(app: Tenure) -> None:
    jobs, _ = greeting()
    with pytest.raises(OptionError, match="'greet' has a handler already"):
        jobs.job("greet")(lambda job: None)

    taken = Jobs()
    taken.job("first")(lambda job: None)
    taken.job("greet")(lambda job: None)
    app.include(jobs)

    with pytest.raises(OptionError, match="'greet' has a handler already"):
        app.include(taken)
    assert app.handlers.kinds == ["greet"]


def test_several_are_included_at_once_and_a_later_declaration_counts(app: Tenure) -> None:
    first, second = Jobs(), Jobs()
    first.job("a")(lambda job: None)
    app.include(first, second)

    late = second.job("b")(lambda job: "late")
    ref = late.enqueue()
    run_until_idle(app)

    assert app.handlers.kinds == ["a", "b"]
    assert ref.result() == "late"


def test_in_two_apps_the_caller_names_the_one_that_gets_the_job(
    app: Tenure, tmp_path: Path
) -> None:
    jobs, greet = greeting()
    other = another_app(tmp_path)
    app.include(jobs)
    other.include(jobs)

    with pytest.raises(UsageError, match=r"'greet' is included in 2 apps.*on\(app\)"):
        greet.enqueue(name="Ada")
    ref = greet.on(other).enqueue(name="Ada")

    assert other.get(ref).kind == "greet"
    assert app.handlers.require("greet") is not other.handlers.require("greet")
    assert [app.insight.counts(), other.insight.counts()] == [{}, {State.QUEUED: 1}]
    other.close()


def test_closed_apps_are_not_counted(tmp_path: Path) -> None:
    jobs, greet = greeting()
    apps = [another_app(tmp_path, name) for name in ("a", "b", "c")]
    for one in apps:
        one.include(jobs)
    apps[0].close()

    with pytest.raises(UsageError, match="is included in 2 apps"):
        greet.enqueue(name="Ada")
    apps[1].close()
    apps[2].close()
    with pytest.raises(UsageError, match="'greet' belongs to no open app"):
        greet.enqueue(name="Ada")


def test_in_two_apps_a_running_job_enqueues_to_its_own(app: Tenure, tmp_path: Path) -> None:
    jobs, greet = greeting()

    @jobs.job("parent")
    def parent(job: RunningJob) -> str:
        return str(greet.enqueue(name="child").result.__self__.app is job.app)

    other = another_app(tmp_path)
    app.include(jobs)
    other.include(jobs)
    ref = parent.on(other).enqueue()
    run_until_idle(other)

    assert ref.result() == "True"
    assert [app.insight.counts(), other.insight.counts()] == [{}, {State.SUCCEEDED: 2}]
    other.close()


def test_an_app_that_was_closed_makes_nothing_ambiguous(app: Tenure, tmp_path: Path) -> None:
    jobs, greet = greeting()
    for name in ("one", "two"):  # as a test suite does: an app for each test
        made = another_app(tmp_path, name)
        made.include(jobs)
        assert made.get(greet.enqueue(name="Ada")).kind == "greet"
        made.close()
    app.include(jobs)

    assert app.get(greet.enqueue(name="Ada")).kind == "greet"


def test_an_app_that_has_not_included_it_says_so(app: Tenure) -> None:
    _, greet = greeting()

    with pytest.raises(UsageError, match="'greet' is not included in this app"):
        greet.on(app)


def test_a_schedule_needs_a_handler_of_the_app(app: Tenure) -> None:
    _, greet = greeting()

    with pytest.raises(OptionError, match=r"@app\.job"):
        Schedules(app).every(minutes=5)(greet)


def test_a_process_finds_the_app_in_the_module_that_includes_its_handler(tmp_path: Path) -> None:
    with on_temporary_database(program.app, tmp_path) as app:
        ref = in_process.enqueue()
        run_until_idle(app)
        result = app.get(ref).result

    assert result["kinds"] == ["separate.process"]
    assert result["pid"] != os.getpid()


def test_the_first_example_of_the_guide_runs(tmp_path: Path) -> None:
    code = re.search(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    assert code
    (tmp_path / "shop.py").write_text(code[1])
    done = subprocess.run(
        [sys.executable, "shop.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )

    assert done.stdout == "{'file': '42.pdf'}\n", done.stderr


def test_several_parts_are_included_together_or_not_at_all(app: Tenure) -> None:
    good, bad = Jobs(), Jobs()
    good.job("good")(lambda job: None)
    bad.job("taken")(lambda job: None)
    app.job("taken")(lambda job: None)

    with pytest.raises(OptionError, match="'taken' has a handler already"):
        app.include(good, bad)
    app.include(good)  # nothing of the first try was left
    with pytest.raises(OptionError, match="include takes features and Jobs, not 'x'"):
        app.include("x")  # type: ignore[arg-type]
