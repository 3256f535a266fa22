"""Log lines about schedules."""

from __future__ import annotations

from collections.abc import Iterator

from tenure.feature import Facts, Sentence, Telling
from tenure.watch.text import plural


def dropped(facts: Facts) -> Iterator[Sentence]:
    """Slots that nobody will run."""
    text = f"schedule {facts['schedule']}: {plural(facts['slots'], 'slot')} left out"
    yield Sentence("warning", f"{text} that passed meanwhile (catch_up={facts['catch_up']})")


def disabled(facts: Facts) -> Iterator[Sentence]:
    """The code has changed."""
    text = f"schedule {facts['schedule']} is disabled: no worker has declared it for an hour"
    yield Sentence("warning", text)


def fired(facts: Facts) -> Iterator[Sentence]:
    """A slot."""
    yield Sentence("debug", f"schedule {facts['schedule']} fired for {facts['slot']}")


def changed(what: str) -> Telling:
    """By an operator."""

    def tell(facts: Facts) -> Iterator[Sentence]:
        actor = facts["actor"]
        by = f" by {actor}" if actor else ""
        told = {"actor": actor}
        yield Sentence("info", f"schedule {facts['schedule']} {what}{by}", facts=told)

    return tell


SENTENCES: dict[str, Telling] = {
    "schedule.paused": changed("paused"),
    "schedule.resumed": changed("resumed"),
    "schedule.edited": changed("edited"),
    "schedule.dropped": dropped,
    "schedule.disabled": disabled,
}
VERBOSE: dict[str, Telling] = {"schedule.fired": fired}
