"""The one subscriber that turns signals into lines for people; what it says is in `sentences`."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from tenure.core.signals import Signals
from tenure.feature import Facts, Feature, Features, Sentence
from tenure.watch.sentences import OUTAGE, SENTENCES, VERBOSE, Say
from tenure.watch.text import clean

NEW_OUTAGE_SECONDS = 60.0
MOST_SAID = 1_000
WORKS_AGAIN = "jobs.claimed"


class Storyteller:
    """Remembers what it said lately: an outage is told once, one that jobs do without once a
    minute. `verbose` tells of every success, schedule and enqueued job too.
    """

    def __init__(
        self,
        say: Say,
        *,
        verbose: bool = False,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._say = say
        self._monotonic = monotonic
        self._verbose = verbose
        self._sentences = {**SENTENCES, **(VERBOSE if verbose else {})}
        self._said: dict[str, float] = {}

    def listen(self, signals: Signals, features: Features | None = None) -> None:
        """From now on, with the sentences of these features too. A signal without a sentence is not
        even subscribed to.
        """
        signals.subscribe(self.hear, *self._sentences)
        signals.subscribe(self._outage_is_over, WORKS_AGAIN)
        if features is not None:
            features.follow(lambda feature: self._learn(signals, feature))

    def _learn(self, signals: Signals, feature: Feature) -> None:
        found = feature.sentences(verbose=self._verbose)
        new = found.keys() - self._sentences.keys()  # those known are subscribed to already
        self._sentences.update(found)
        if new:  # subscribing to no name would be subscribing to all
            signals.subscribe(self.hear, *new)

    def hear(self, name: str, facts: Facts) -> None:
        """One signal."""
        for sentence in self._sentences[name](facts):
            self._tell(replace(sentence, text=clean(sentence.text), signal=name))

    def _tell(self, sentence: Sentence) -> None:
        if sentence.subject is not None:
            now, last = self._monotonic(), self._said.get(sentence.subject)
            again = last is not None and now - last < NEW_OUTAGE_SECONDS
            if len(self._said) >= MOST_SAID:
                self._said.clear()
            if not (again and sentence.lasting):
                self._said[sentence.subject] = now
            if again:
                return
        self._say(sentence)

    def _outage_is_over(self, _: str, facts: Facts) -> None:
        self._said.pop(OUTAGE, None)
