"""Reference, subject, reference: a ratio within one run, so that a busy machine slows both."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import median

WANTED = 3
REPEATS = 4
STEADY = 1.5


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One measured value, the CPU microseconds per job beside it, and what it was made from."""

    value: float
    worker_us: float | None = None
    server_us: float | None = None
    samples: tuple[float, ...] = ()


Measure = Callable[[], Reading]


@dataclass(frozen=True)
class Triple:
    """The subject between two readings of the reference; the peer right afterwards."""

    before: Reading
    subject: Reading
    after: Reading
    peer: Reading | None = None

    @property
    def reference(self) -> float:
        """The mean of the two."""
        return (self.before.value + self.after.value) / 2

    @property
    def ratio(self) -> float:
        """The subject against the reference."""
        return self.subject.value / self.reference

    @property
    def spread(self) -> float:
        """How far the two references are apart; 1 is not at all."""
        return max(self.before.value, self.after.value) / min(self.before.value, self.after.value)


@dataclass(frozen=True)
class Triples:
    """Three triples, and medians over them."""

    kept: list[Triple]

    @property
    def value(self) -> float:
        return median(one.subject.value for one in self.kept)

    @property
    def reference(self) -> float:
        return median(one.reference for one in self.kept)

    @property
    def ratio(self) -> float:
        return median(one.ratio for one in self.kept)

    @property
    def ratio_peer(self) -> float | None:
        found = [one.subject.value / one.peer.value for one in self.kept if one.peer]
        return median(found) if found else None

    @property
    def worker_us(self) -> float | None:
        return _median(one.subject.worker_us for one in self.kept)

    @property
    def server_us(self) -> float | None:
        return _median(one.subject.server_us for one in self.kept)

    @property
    def notes(self) -> list[str]:
        """Says so where the machine did not keep still."""
        unsteady = sum(one.spread > STEADY for one in self.kept)
        if not unsteady:
            return []
        return [
            f"{unsteady} of {len(self.kept)} triples stayed unsteady: their references differ by "
            f"more than {STEADY}x, after {REPEATS} repeats"
        ]


def measure(reference: Measure, subject: Measure, peer: Measure | None = None) -> Triples:
    """Three triples; an unsteady one is repeated, but not for ever."""
    seen: list[Triple] = []
    while len(seen) < WANTED + REPEATS:
        one = Triple(reference(), subject(), reference(), peer() if peer else None)
        print(_line(one), flush=True)
        seen.append(one)
        if sum(each.spread <= STEADY for each in seen) == WANTED:
            break
    return Triples(sorted(seen, key=lambda each: max(each.spread, STEADY))[:WANTED])


def _line(one: Triple) -> str:
    void = f"  void: references {one.spread:.2f}x apart" if one.spread > STEADY else ""
    peer = f"  peer {_reading(one.peer)}" if one.peer else ""
    return (
        f"  reference {_reading(one.before)}  subject {_reading(one.subject)}  reference "
        f"{_reading(one.after)}  ratio {one.ratio:.3f}{peer}{void}"
    )


def _reading(reading: Reading) -> str:
    cpu = [f"{part:.0f}" for part in (reading.worker_us, reading.server_us) if part is not None]
    value = f"{reading.value:,.0f}" if reading.value >= 100 else f"{reading.value:.3g}"
    return value + (f" ({'+'.join(cpu)} us)" if cpu else "")


def _median(values: Iterable[float | None]) -> float | None:
    found = [value for value in values if value is not None]
    return median(found) if found else None
