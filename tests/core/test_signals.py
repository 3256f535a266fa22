"""Events reach everybody who listens, and no listener can break the work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tenure.core.signals import Signals

Heard = list[tuple[str, Mapping[str, Any]]]


def test_a_subscriber_hears_name_and_facts() -> None:
    signals, heard = Signals(), Heard()
    signals.subscribe(lambda name, facts: heard.append((name, facts)))
    signals.emit("job.settled", id="1")

    assert heard == [("job.settled", {"id": "1"})]


def test_a_subscriber_that_raises_stops_nobody() -> None:
    signals, heard = Signals(), Heard()

    def broken(name: str, facts: Mapping[str, Any]) -> None:
        raise RuntimeError("broken")

    signals.subscribe(broken)
    signals.subscribe(lambda name, facts: heard.append((name, facts)))
    signals.emit("a")
    signals.emit("b")

    assert [name for name, _ in heard] == ["a", "b"]


def test_a_subscriber_can_stop_listening() -> None:
    signals, heard = Signals(), Heard()
    stop = signals.subscribe(lambda name, facts: heard.append((name, facts)))
    stop()
    signals.emit("a")

    assert heard == []


def test_a_subscriber_may_stop_while_it_listens() -> None:
    signals, heard = Signals(), list[str]()

    def once(name: str, facts: Mapping[str, Any]) -> None:
        heard.append(name)
        stop()

    stop = signals.subscribe(once)
    signals.subscribe(lambda name, facts: heard.append(name))
    signals.emit("a")
    signals.emit("b")

    assert heard == ["a", "a", "b"]
