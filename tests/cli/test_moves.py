"""`tenure jobs retry|cancel|replay|purge`: never over everything by accident, never unasked."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

from tenure import Fail, RunningJob, State
from tenure.testing import run_until_idle
from tests.cli.conftest import Shop
from tests.support.until import until


@pytest.fixture
def three(shop: Shop) -> Shop:
    """Jobs 1 and 2 of kind a, job 3 of kind b."""
    shop.call("enqueue", "--jsonl", "-", input='{"kind":"a"}\n{"kind":"a"}\n{"kind":"b"}\n')
    return shop


def states(shop: Shop) -> str:
    return " ".join(job.state for job in reversed(list(shop.engine.insight.stream())))


@pytest.mark.parametrize("verb", ["retry", "cancel", "replay"])
def test_ids_or_a_filter_are_required(three: Shop, verb: str) -> None:
    result = three.call("jobs", verb, "--yes")

    assert result.exit_code == 2
    assert "[filter_required]" in result.stderr
    assert states(three) == "queued queued queued"


@pytest.mark.parametrize(
    "words",
    [
        ("cancel", "--kind", "a"),
        ("retry", "--state", "canceled"),
        ("replay", "--kind", "c"),
        ("purge", "--older-than", "0s", "--state", "canceled"),
    ],
    ids=lambda words: words[0],
)
def test_a_program_has_to_agree_beforehand(three: Shop, words: tuple[str, ...]) -> None:
    three.call("jobs", "cancel", "3", "--yes")
    dead_letter(three)
    before = states(three)

    refused = three.run("jobs", *words, input="y\n")

    assert refused.returncode == 1
    assert "pass --yes to confirm" in refused.stderr and "[refused]" in refused.stderr
    assert states(three) == before == "queued queued canceled failed"
    assert three.run("jobs", *words, "--dry-run").returncode == 0
    assert three.run("jobs", *words, "--yes").returncode == 0
    assert states(three) != before


def dead_letter(shop: Shop) -> None:
    app = shop.engine

    @app.job("c")
    def fail(job: RunningJob) -> None:
        raise Fail("never")

    fail.enqueue()
    run_until_idle(app)
    app.close()


def test_a_dry_run_says_how_many_and_changes_nothing(three: Shop) -> None:
    text = three.call("jobs", "cancel", "--kind", "a", "--dry-run")

    assert text.stdout == "would cancel 2 jobs; nothing was changed\n"
    assert three.read("jobs", "cancel", "--kind", "a", "--dry-run")["matched"] == 2
    assert states(three) == "queued queued queued"


def test_cancel_and_retry_by_filter(three: Shop) -> None:
    assert three.call("jobs", "cancel", "--kind", "a", "--yes").stdout.startswith("changed 2 jobs")
    assert states(three) == "canceled canceled queued"

    assert three.read("jobs", "retry", "--kind", "a", "--yes")["changed"] == 2
    assert states(three) == "queued queued queued"


def test_an_id_that_cannot_be_moved_is_refused_with_the_reason(three: Shop) -> None:
    three.call("jobs", "cancel", "1", "--yes")

    result = three.call("jobs", "cancel", "1", "2", "--yes")

    assert result.exit_code == 1
    assert result.stdout == "changed 1 job, refused 1\nrefused: 1 (it has already ended)\n"


def test_a_missing_id_stops_the_move_before_it_begins(three: Shop) -> None:
    result = three.call("jobs", "cancel", "1", "99", "--yes")

    assert result.exit_code == 4
    assert states(three) == "queued queued queued"


def test_replay_takes_dead_letters_only(three: Shop) -> None:
    three.call("jobs", "cancel", "1", "--yes")

    assert three.read("jobs", "replay", "--kind", "a", "--yes")["matched"] == 0
    assert three.call("jobs", "replay", "--state", "queued", "--yes").exit_code == 2


def test_purge_removes_finished_jobs_of_that_age(three: Shop) -> None:
    three.call("jobs", "cancel", "1", "--yes")

    assert three.read("jobs", "purge", "--older-than", "1h", "--yes")["matched"] == 0
    assert three.read("jobs", "purge", "--older-than", "0s", "--yes")["removed"] == 1
    assert states(three) == "queued queued"


@pytest.mark.parametrize("age", ["7", "d", "-1d", "1y", "99999d"])
def test_an_age_is_a_duration(three: Shop, age: str) -> None:
    assert three.call("jobs", "purge", "--older-than", age, "--yes").exit_code == 2


def test_open_jobs_are_never_purged(three: Shop) -> None:
    result = three.call("jobs", "purge", "--older-than", "0s", "--state", "queued", "--yes")

    assert result.exit_code == 2
    assert states(three) == "queued queued queued"


@pytest.mark.parametrize(("answer", "state"), [("n", State.QUEUED), ("y", State.CANCELED)])
def test_on_a_terminal_it_asks_with_the_count(three: Shop, answer: str, state: State) -> None:
    main, terminal = pty.openpty()
    command = [sys.executable, "-m", "tenure", "jobs", "cancel", "--kind", "b"]
    process = subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal)
    os.close(terminal)
    shown = bytearray()

    def asked() -> bool:
        shown.extend(os.read(main, 1024))
        return b"Cancel 1 job? [y/N]" in shown

    until(asked)
    os.write(main, f"{answer}\n".encode())

    assert process.wait(20) == (0 if answer == "y" else 1)
    assert three.engine.get("3").state is state
    os.close(main)


def test_queues_are_paused_and_resumed(three: Shop) -> None:
    assert three.read("queues", "pause", "default") == {"name": "default", "paused": True}
    (queue,) = three.items("queues")
    assert (queue["paused"], queue["queued"]) == (True, 3)
    assert "paused" in three.call("queues", "list").stdout

    assert three.call("queues", "resume", "default").stdout == "queue default is open\n"
    assert three.items("queues", "list")[0]["paused"] is False
