"""Workers tell of the end of what somebody asked for, and of nothing else."""

from __future__ import annotations

from collections.abc import Collection

from tenure.wakeups.ended_jobs import EVERY_JOB, MOST_ASKED, EndedJobs


class Said(list[list[str]]):
    """A line that keeps what was said."""

    def pass_on(self, names: Collection[str]) -> None:
        self.append(sorted(names))

    def close(self, seconds: float = 1.0) -> None:
        """Nothing."""


def test_nothing_is_said_where_nobody_asked() -> None:
    said = Said()
    endings = EndedJobs(Said(), said)

    endings.finished(["1", "2"])

    assert said == []


def test_what_was_asked_for_is_said_once() -> None:
    said = Said()
    endings = EndedJobs(Said(), said)
    endings.asked(["2", "3"])

    endings.finished(["1", "2"])
    endings.finished(["2", "3"])

    assert said == [["2"], ["3"]]


def test_an_end_shortly_before_the_question_counts() -> None:
    said = Said()
    endings = EndedJobs(Said(), said)
    endings.finished(["1", "2"])

    endings.asked(["2"])

    assert said == [["2"]]


def test_too_many_questions_are_a_question_for_all() -> None:
    said = Said()
    endings = EndedJobs(Said(), said)
    endings.asked([EVERY_JOB])
    endings.finished(["1", "2"])
    assert said == [["1", "2"]]

    many = EndedJobs(Said(), said)
    many.asked(str(number) for number in range(MOST_ASKED + 1))
    many.asked(["x"])
    said.clear()
    many.finished(["never asked for"])
    assert said == [["never asked for"]]


def test_those_who_wait_here_hear_of_everything() -> None:
    heard: list[list[str]] = []
    endings = EndedJobs()
    stop = endings.subscribe(lambda ids: heard.append(sorted(ids)))

    endings.finished(["1"])
    endings.announce(["2"])
    stop()
    endings.finished(["3"])

    assert heard == [["1"], ["2"]]
