"""One figure: its value, its reference, and the bars it is held against."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field

from bench.triples import Triples


@dataclass(frozen=True)
class Check:
    """A measured number beside its bar."""

    what: str
    value: float
    bar: float
    at_least: bool

    @property
    def met(self) -> bool:
        return self.value >= self.bar if self.at_least else self.value <= self.bar

    def __str__(self) -> str:
        sign = "≥" if self.at_least else "≤"
        return f"{self.what}: {self.value:.3g} ({sign} {self.bar:g} {'✓' if self.met else '✗'})"


def at_least(what: str, value: float, bar: float) -> Check:
    """More is better."""
    return Check(what, round(value, 4), bar, True)


def at_most(what: str, value: float, bar: float) -> Check:
    """Less is better."""
    return Check(what, round(value, 4), bar, False)


@dataclass(frozen=True, kw_only=True)
class Result:
    """`cpu_us` is the worker's CPU per job, `server_us` the database server's."""

    bench: str
    value: float
    unit: str
    reference: float
    ratio: float
    ratio_peer: float | None = None
    cpu_us: float | None = None
    server_us: float | None = None
    checks: list[Check] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def to_json(self) -> str:
        """The last line of a run."""
        return json.dumps({name: _rounded(value) for name, value in asdict(self).items()})

    @classmethod
    def from_json(cls, line: str) -> Result:
        """What another process has printed."""
        found = json.loads(line)
        return cls(**{**found, "checks": [Check(**check) for check in found["checks"]]})


def of_triples(
    bench: str,
    unit: str,
    triples: Triples,
    checks: list[Check],
    notes: tuple[str, ...] = (),
) -> Result:
    """The usual case: everything is a median over triples."""
    return Result(
        bench=bench,
        value=triples.value,
        unit=unit,
        reference=triples.reference,
        ratio=triples.ratio,
        ratio_peer=triples.ratio_peer,
        cpu_us=triples.worker_us,
        server_us=triples.server_us,
        checks=checks,
        notes=[*notes, *triples.notes],
    )


def _rounded(value: object) -> object:
    return float(f"{value:.5g}") if isinstance(value, float) else value
