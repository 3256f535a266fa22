"""Log lines about the outbox."""

from __future__ import annotations

from collections.abc import Iterator

from tenure.feature import Facts, Sentence, Telling
from tenure.watch.text import clip


def unhandled(facts: Facts) -> Iterator[Sentence]:
    """Once for each type, and again after a minute without it: there may be thousands."""
    kind = clip(str(facts["type"]))
    text = f"nobody subscribes to events of type {kind}; the first is job {facts['id']}"
    yield Sentence("warning", text, f"outbox unhandled {kind}", facts={"type": kind})


def unsubscribed(facts: Facts) -> Iterator[Sentence]:
    """By an operator."""
    told = {"type": facts["type"], "subscriber": facts["subscriber"]}
    text = f"{facts['subscriber']} gets no more events of type {facts['type']}"
    yield Sentence("info", text, facts=told)


SENTENCES: dict[str, Telling] = {
    "outbox.unhandled": unhandled,
    "outbox.unsubscribed": unsubscribed,
}
