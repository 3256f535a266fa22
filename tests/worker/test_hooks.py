"""Hooks around a worker, middleware around a run, lifespans of features."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pytest

from tenure import NO_RETRY, OptionError, RunningJob, Skip, State, Tenure, Worker
from tenure.feature import Feature
from tenure.jobs.hooks import WorkerStartFailed
from tenure.testing import run_until_idle
from tenure.testing.conformance.actions import claim_all
from tests.support.until import until

ROOT = Path(__file__).parents[2]
APP = "tests.worker.hooked:app"
inside: ContextVar[tuple[str, ...]] = ContextVar("inside", default=())


def add_handlers(app: Tenure) -> list[str]:
    """One handler on the loop, one in a thread; both answer what they run inside of."""

    @app.job("async", retry=NO_RETRY)
    async def on_loop(job: RunningJob) -> tuple[str, ...]:
        return inside.get()

    @app.job("thread", retry=NO_RETRY)
    def in_thread(job: RunningJob) -> tuple[str, ...]:
        return inside.get()

    return ["async", "thread"]


def in_a_thread(worker: Worker, done: Callable[[], object]) -> None:
    with worker:
        until(done)


def on_the_loop(worker: Worker, done: Callable[[], object]) -> None:
    async def main() -> None:
        async with worker:
            await asyncio.to_thread(until, done)

    asyncio.run(main())


def in_a_tick(worker: Worker, done: Callable[[], object]) -> None:
    worker.tick()


def until_idle(worker: Worker, done: Callable[[], object]) -> None:
    worker.run_until_idle()


@pytest.mark.parametrize("work", [in_a_thread, on_the_loop, in_a_tick, until_idle])
def test_hooks_run_before_the_first_claim_and_after_the_last_settlement(
    app: Tenure, work: Callable[[Worker, Callable[[], object]], None]
) -> None:
    seen: list[Any] = []
    app.job("x")(lambda job: None)
    ref = app.enqueue("x")
    made = Worker(app)

    @app.on_worker_start
    def first(worker: Worker) -> None:
        seen.append(("first", worker is made, app.get(ref).state, app.insight.workers()))

    @app.on_worker_start
    async def second(worker: Worker) -> None:
        seen.append(("second", worker is made))

    @app.on_worker_stop
    def third(worker: Worker) -> None:
        seen.append(("third", worker is made, app.get(ref).state))

    @app.on_worker_stop
    async def fourth(worker: Worker) -> None:
        seen.append(("fourth", worker is made))

    work(made, lambda: app.get(ref).state is State.SUCCEEDED)

    assert seen == [
        ("first", True, State.QUEUED, []),
        ("second", True),
        ("third", True, State.SUCCEEDED),
        ("fourth", True),
    ]


def test_plain_hooks_do_not_block_the_loop(app: Tenure) -> None:
    app.job("x")(lambda job: None)
    threads: list[int] = []
    app.on_worker_start(lambda worker: threads.append(threading.get_ident()))

    async def main() -> None:
        async with Worker(app):
            threads.append(threading.get_ident())

    asyncio.run(main())

    assert threads[0] != threads[1]


@pytest.mark.parametrize("work", [in_a_thread, on_the_loop, in_a_tick, until_idle])
def test_a_start_hook_that_fails_stops_the_worker(
    app: Tenure, work: Callable[[Worker, Callable[[], object]], None]
) -> None:
    seen: list[str] = []
    app.job("x")(lambda job: None)
    ref = app.enqueue("x")

    @app.on_worker_start
    async def open_pool(worker: Worker) -> None:
        raise ConnectionError("nobody answers")

    app.on_worker_start(lambda worker: seen.append("second start hook"))
    app.on_worker_stop(lambda worker: seen.append("stop hook"))

    with pytest.raises(WorkerStartFailed, match=r"open_pool.*ConnectionError: nobody answers"):
        work(Worker(app), lambda: True)

    assert (app.get(ref).state, app.insight.workers(), seen) == (State.QUEUED, [], [])


def test_a_stop_hook_that_fails_is_told_and_the_others_run(app: Tenure) -> None:
    told: list[Any] = []
    app.signals.subscribe(lambda _, facts: told.append(facts), "worker.error")
    app.job("x")(lambda job: None)

    @app.on_worker_stop
    def close_pool(worker: Worker) -> None:
        raise ConnectionError("already closed")

    app.on_worker_stop(lambda worker: told.append("second"))
    with Worker(app):
        pass

    assert isinstance(told[0]["error"], ConnectionError)
    assert told[0]["step"].endswith("close_pool")
    assert told[1:] == ["second"]


class Pool(Feature):
    """A feature that lives as long as a worker."""

    def __init__(self, app: Tenure, name: str, seen: list[str], fails: str = "") -> None:
        super().__init__(app)
        self.name = name  # type: ignore[misc]
        self._seen = seen
        self._fails = fails

    @asynccontextmanager
    async def lifespan(self, worker: Worker) -> AsyncIterator[None]:
        if self._fails == "enter":
            raise ConnectionError("no pool")
        self._seen.append(f"enter {self.name}")
        yield
        self._seen.append(f"leave {self.name}")
        if self._fails == "leave":
            raise ConnectionError("left")


def test_features_live_around_the_hooks(app: Tenure) -> None:
    seen: list[str] = []
    app.include(Pool(app, "a", seen), Pool(app, "b", seen, fails="leave"))
    app.on_worker_start(lambda worker: seen.append("start"))
    app.on_worker_stop(lambda worker: seen.append("stop"))
    app.job("x")(lambda job: seen.append("job"))
    app.enqueue("x")
    run_until_idle(app)

    assert seen == ["enter a", "enter b", "start", "job", "stop", "leave b", "leave a"]


def test_a_feature_that_cannot_start_stops_the_worker(app: Tenure) -> None:
    seen: list[str] = []
    app.include(Pool(app, "a", seen), Pool(app, "b", seen, fails="enter"))
    app.job("x")(lambda job: None)

    with pytest.raises(WorkerStartFailed, match="the lifespan of the feature 'b'"):
        run_until_idle(app)

    assert seen == ["enter a", "leave a"]


def test_middleware_is_around_every_handler_the_first_outermost(app: Tenure) -> None:
    kinds, left = add_handlers(app), []

    @app.middleware
    def outer(job: RunningJob) -> Iterator[None]:
        token = inside.set((*inside.get(), f"outer {job.kind}"))
        yield
        inside.reset(token)
        left.append("outer")

    @app.middleware
    @contextmanager
    def inner(job: RunningJob) -> Iterator[None]:
        token = inside.set((*inside.get(), "inner"))
        yield
        inside.reset(token)
        left.append("inner")

    refs = [app.enqueue(kind) for kind in kinds]
    run_until_idle(app, concurrency=1)

    assert [app.get(ref).result for ref in refs] == [[f"outer {kind}", "inner"] for kind in kinds]
    assert left == ["inner", "outer"] * 2


def test_async_middleware_is_around_every_handler_too(app: Tenure) -> None:
    kinds, loops = add_handlers(app), set()

    @app.middleware
    async def outer(job: RunningJob) -> AsyncIterator[None]:
        loops.add(asyncio.get_running_loop())
        await asyncio.sleep(0)
        inside.set((*inside.get(), "outer"))
        yield

    @app.middleware
    @asynccontextmanager
    async def inner(job: RunningJob) -> AsyncIterator[None]:
        inside.set((*inside.get(), "inner"))
        yield

    refs = [app.enqueue(kind) for kind in kinds for _ in range(5)]
    run_until_idle(app)

    assert [app.get(ref).result for ref in refs] == [["outer", "inner"]] * 10
    assert len(loops) == 1


@pytest.mark.parametrize("kind", ["async", "thread"])
def test_plain_middleware_runs_where_the_handler_runs(app: Tenure, kind: str) -> None:
    threads: list[int] = []

    @app.middleware
    def note(job: RunningJob) -> Iterator[None]:
        threads.append(threading.get_ident())
        yield
        threads.append(threading.get_ident())

    async def on_loop(job: RunningJob) -> None:
        threads.append(threading.get_ident())

    def in_thread(job: RunningJob) -> None:
        threads.append(threading.get_ident())

    handler: Any = on_loop if kind == "async" else in_thread
    app.job("x")(handler)
    app.enqueue("x")
    run_until_idle(app)

    assert len(threads) == 3
    assert len(set(threads)) == 1


@pytest.mark.parametrize("form", ["plain", "async"])
@pytest.mark.parametrize("kind", ["async", "thread"])
def test_middleware_sees_errors_and_may_swallow_them(app: Tenure, kind: str, form: str) -> None:
    seen: list[BaseException] = []

    def plain(job: RunningJob) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            seen.append(error)
            if not isinstance(error, LookupError):
                raise

    async def on_loop(job: RunningJob) -> AsyncIterator[None]:
        try:
            yield
        except Exception as error:
            seen.append(error)
            if not isinstance(error, LookupError):
                raise

    app.middleware(plain if form == "plain" else on_loop)
    errors = {"lost": LookupError("gone"), "bad": ValueError("bad"), "skip": Skip("no need")}

    async def async_handler(job: RunningJob, how: str) -> None:
        raise errors[how]

    def thread_handler(job: RunningJob, how: str) -> None:
        raise errors[how]

    handler: Any = async_handler if kind == "async" else thread_handler
    app.job("x", retry=NO_RETRY)(handler)
    refs = [app.enqueue("x", {"how": how}) for how in errors]
    run_until_idle(app)

    states = [app.get(ref).state for ref in refs]
    assert states == [State.SUCCEEDED, State.DEAD, State.SKIPPED]
    assert {type(error) for error in seen} == {LookupError, ValueError, Skip}


@pytest.mark.parametrize("form", ["plain", "async"])
@pytest.mark.parametrize("kind", ["async", "thread"])
def test_an_error_of_middleware_is_an_error_of_the_run(app: Tenure, kind: str, form: str) -> None:
    ran: list[str] = []

    def plain(job: RunningJob) -> Iterator[None]:
        if job.id:
            raise ConnectionError("no session")
        yield

    async def on_loop(job: RunningJob) -> AsyncIterator[None]:
        if job.id:
            raise ConnectionError("no session")
        yield

    app.middleware(plain if form == "plain" else on_loop)
    add_handlers(app)
    ref = app.enqueue(kind)
    run_until_idle(app)

    job = app.get(ref)
    [line] = app.insight.history(job)
    assert (job.state, (line.failure or {})["message"], ran) == (State.DEAD, "no session", [])


def test_a_plain_handler_that_exits_under_async_middleware_ends_no_worker(app: Tenure) -> None:
    @app.middleware
    async def around(job: RunningJob) -> AsyncIterator[None]:
        yield

    @app.job("exit", retry=NO_RETRY)
    def leaves(job: RunningJob) -> None:
        sys.exit(3)

    @app.job("calm")
    def calm(job: RunningJob) -> str:
        return "done"

    refs = [app.enqueue("exit"), app.enqueue("calm")]
    run_until_idle(app, concurrency=1)

    assert [app.get(ref).state for ref in refs] == [State.DEAD, State.SUCCEEDED]


def test_a_timeout_reaches_async_middleware_that_never_gets_to_the_handler(app: Tenure) -> None:
    @app.middleware
    async def stuck(job: RunningJob) -> AsyncIterator[None]:
        await asyncio.sleep(3_600)
        yield

    @app.job("x", timeout=0.05, retry=NO_RETRY)
    def handler(job: RunningJob) -> None: ...

    ref = app.enqueue("x")
    run_until_idle(app)

    [line] = app.insight.history(app.get(ref))
    assert (line.failure or {})["code"] == "timeout"


def test_middleware_is_a_function_that_yields(app: Tenure) -> None:
    def forgetful(job: RunningJob) -> None: ...

    with pytest.raises(OptionError, match="yields once"):
        app.middleware(forgetful)


def test_middleware_takes_the_job(app: Tenure) -> None:
    def nothing() -> Iterator[None]:
        yield

    with pytest.raises(OptionError, match=r"middleware calls .*nothing\(job\).*too many"):
        app.middleware(nothing)


def test_a_hook_takes_the_worker_and_nothing_else(app: Tenure) -> None:
    wrong: list[Any] = [lambda: None, lambda worker, other: None, lambda *, worker: None, "open"]
    for register in (app.on_worker_start, app.on_worker_stop):
        for hook in wrong:
            with pytest.raises(OptionError, match=r"on_worker_st(art|op) (calls|takes)"):
                register(hook)
        register(lambda *given: None)
        register(print)

    assert (len(app.hooks.start), len(app.hooks.stop)) == (2, 2)


def test_a_hook_that_yields_would_do_nothing_and_is_refused(app: Tenure) -> None:
    def pool(worker: Worker) -> Iterator[None]:
        yield

    with pytest.raises(OptionError, match="yields instead"):
        app.on_worker_start(pool)


class Program:
    """`tenure worker` on the app of `hooked.py`."""

    def __init__(self, url: str, folder: Path, *options: str, **variables: str) -> None:
        self._marks = folder / "marks"
        self._marks.touch()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tenure", "worker", "--app", APP, *options],
            cwd=ROOT,
            env={
                **os.environ,
                "TENURE_DATABASE_URL": url,
                "TENURE_POLL_SECONDS": "0.1",
                "HOOKED_MARKS": str(self._marks),
                **variables,
            },
            stderr=subprocess.PIPE,
            text=True,
        )

    @property
    def marks(self) -> list[str]:
        return self._marks.read_text().splitlines()

    def stop(self) -> int:
        self._process.send_signal(signal.SIGTERM)
        return self.wait()[0]

    def wait(self) -> tuple[int, str]:
        _, said = self._process.communicate(timeout=30)
        return self._process.returncode, said

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.communicate(timeout=30)


@pytest.fixture
def programs(tmp_path: Path) -> Iterator[list[Program]]:
    made: list[Program] = []
    yield made
    for program in made:
        program.close()


def test_a_worker_process_runs_hooks_and_middleware(
    app: Tenure, programs: list[Program], tmp_path: Path
) -> None:
    kinds = ["async", "thread", "process"]
    refs = [app.enqueue(kind) for kind in kinds]
    programs.append(Program(app.url, tmp_path))
    until(lambda: all(app.get(ref).state.final for ref in refs), 40)

    assert [app.get(ref).result for ref in refs] == [
        ["plain in the worker", "async in the worker"],
        ["async in the worker", "plain in the worker"],
        ["plain in the child"],
    ]
    assert programs[0].stop() == 0
    marks = programs[0].marks
    assert marks[0].startswith("start")
    assert set(marks[1:-1]) == {f"async in the worker around {kind}" for kind in kinds}
    assert len(marks) == 5
    assert marks[-1] == "stop {'succeeded': 3}"


def test_suspects_run_inside_middleware(
    app: Tenure, programs: list[Program], tmp_path: Path
) -> None:
    kinds = ["async", "thread"]
    refs = [app.enqueue(kind) for kind in kinds]
    claim_all(app.store, kinds=kinds, lease_seconds=0.05)
    programs.append(Program(app.url, tmp_path))
    until(lambda: all(app.get(ref).state.final for ref in refs), 40)

    assert [app.get(ref).result for ref in refs] == [
        ["plain in the child", "async in the child"],
        ["plain in the child"],
    ]
    assert programs[0].stop() == 0
    assert "async in the worker around thread" in programs[0].marks


def test_a_start_hook_that_fails_ends_the_command_with_a_clear_error(
    app: Tenure, programs: list[Program], tmp_path: Path
) -> None:
    ref = app.enqueue("async")
    programs.append(Program(app.url, tmp_path, HOOKED_FAILS="1"))
    code, said = programs[0].wait()

    assert code == 1
    assert "the start hook 'begin' raised ConnectionError: no pool" in said
    assert "Traceback" not in said
    assert app.get(ref).state is State.QUEUED


def test_a_supervisor_gives_up_where_no_process_can_start(
    programs: list[Program], tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path / 'never.db'}"
    programs.append(Program(url, tmp_path, "--processes", "2", HOOKED_FAILS="1"))
    code, said = programs[0].wait()

    assert code == 1
    assert said.count("the start hook 'begin' raised ConnectionError: no pool") >= 6
    assert "no process could start" in said.splitlines()[-1]
    assert said.splitlines()[-1].endswith("[starts_failed]")
