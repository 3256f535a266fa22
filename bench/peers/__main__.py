"""Tenure and its peers side by side, the same work for all: PEERS.md and the chart peers.svg.

Rounds, not blocks: every contender runs once per round, so that a busy minute meets all of them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from bench.children import end_in_order
from bench.databases import postgres_server
from bench.drains import Drain, drain
from bench.figures.drain import SLEEP_SLOTS, on, sqlite_drain
from bench.figures.scale import Scale
from bench.peers import brokers, measured
from bench.peers.chart import chart
from bench.peers.environment import REQUIREMENTS
from bench.peers.measured import Peer
from bench.report import machine
from bench.triples import Measure, Reading
from tests.support.servers import PrivateServer

HERE = Path(__file__).resolve().parent.parent
TABLE, CHART = HERE / "PEERS.md", HERE / "peers.svg"
WORK = {"noop": "no-op", "sleep5": "5 ms sleep"}


@dataclass
class Contender:
    """Who runs, on what, how it is measured by kind of work, and what was seen."""

    name: str
    store: str
    work: dict[str, Measure]
    own: bool = False
    seen: dict[str, list[Reading]] = field(default_factory=dict)
    trouble: str = ""

    def run(self, task: str) -> None:
        """One reading more; trouble is told, and the others go on."""
        if self.trouble:
            return
        try:
            reading = self.work[task]()
        except (RuntimeError, OSError) as error:
            self.trouble = str(error)
            print(f"  {self.name}: {error}", flush=True)
            return
        self.seen.setdefault(task, []).append(reading)
        print(f"  {self.name} ({self.store}), {WORK[task]}: {reading.value:,.0f}/s", flush=True)

    def rate(self, task: str) -> float | None:
        """The median of its rounds."""
        found = self.seen.get(task)
        return median(each.value for each in found) if found else None

    def cpu(self, task: str) -> str:
        """Microseconds per job of the worker and of its server."""
        found = self.seen.get(task) or [Reading(value=0)]
        parts = [
            [part for each in found if (part := getattr(each, name)) is not None]
            for name in ("worker_us", "server_us")
        ]
        return " + ".join(f"{median(part):,.0f}" for part in parts if part) or "-"


def contenders(stack: ExitStack, scale: Scale) -> list[Contender]:
    """All that can be started here; the reason is said for one that cannot."""
    server = stack.enter_context(postgres_server())
    folder = Path(stack.enter_context(TemporaryDirectory(prefix="tenure-bench-")))
    found = [*_tenure(server, folder, scale), *_on_databases(server, folder, scale)]
    brokers.install()
    for name, store, start, module, slots in (
        ("Dramatiq", "Redis", brokers.redis, "dramatiq_", (8, 100)),
        ("Celery", "RabbitMQ", brokers.rabbitmq, "celery_", (1, 100)),
    ):
        try:
            broker = stack.enter_context(start())
        except brokers.BrokerFailed as error:
            print(f"  {name} is left out: {error}")
            found.append(Contender(name, store, {}, trouble=str(error)))
            continue
        peer = Peer(module=module, url=broker.url, server=broker.pid)
        found.append(Contender(name, store, _with(peer, slots, scale.rows(10_000))))
    return found


def _tenure(server: PrivateServer, folder: Path, scale: Scale) -> list[Contender]:
    jobs = scale.rows(20_000)
    work = {
        "noop": Drain(jobs=jobs),
        "sleep5": Drain(jobs=jobs, kind="sleep5", slots=SLEEP_SLOTS),
    }
    return [
        Contender(
            "Tenure",
            "PostgreSQL",
            {task: on(server, _drain(what)) for task, what in work.items()},
            own=True,
        ),
        Contender(
            "Tenure",
            "SQLite",
            {task: partial(sqlite_drain, folder, what) for task, what in work.items()},
            own=True,
        ),
    ]


def _drain(what: Drain) -> Callable[[str, int], Reading]:
    return lambda url, pid: drain(url, pid, what)


def _on_databases(server: PrivateServer, folder: Path, scale: Scale) -> list[Contender]:
    many, few = scale.rows(20_000), scale.rows(4_000)
    tasks = list(WORK)

    def procrastinate(task: str) -> Callable[[str, int], Reading]:
        slots = 20 if task == "noop" else 100
        return lambda url, pid: measured.drain(
            Peer(module="procrastinate_", url=url, server=pid), task, slots, few
        )

    def pgqueuer(task: str) -> Callable[[str, int], Reading]:
        return lambda url, pid: measured.pgqueuer(url, pid, task, many)

    return [
        Contender("PgQueuer", "PostgreSQL", {one: on(server, pgqueuer(one)) for one in tasks}),
        Contender(
            "Procrastinate", "PostgreSQL", {one: on(server, procrastinate(one)) for one in tasks}
        ),
        Contender(
            "Huey",
            "SQLite",
            {one: partial(measured.huey, folder, one, few) for one in tasks},
        ),
    ]


def _with(peer: Peer, slots: tuple[int, int], jobs: int) -> dict[str, Measure]:
    return {
        "noop": lambda: measured.drain(peer, "noop", slots[0], jobs),
        "sleep5": lambda: measured.drain(peer, "sleep5", slots[1], jobs),
    }


def document(seen: list[Contender], rounds: int, scale: float) -> str:
    """The table, and what must be known to read it."""
    versions = [line for line in REQUIREMENTS.read_text().splitlines() if "==" in line]
    rows = [
        f"| {each.name} | {each.store} | {_rate(each, 'noop')} | {each.cpu('noop')} "
        f"| {_rate(each, 'sleep5')} | {each.cpu('sleep5')} |"
        for each in seen
    ]
    return "\n".join(
        [
            "# Side by side",
            "",
            f"Written by `make bench-peers`: {rounds} round(s), medians, one worker each, best",
            "known settings (`bench/peers/`). Tenure is counted until its last job is settled, the",
            "peers from their first body to their last. Databases are durable at every commit;",
            "Redis syncs its file every second, RabbitMQ has durable queues and messages.",
            *([f"**A quick look with --scale {scale:g}: only a hint.**"] if scale != 1 else []),
            "",
            *(f"- {line}" for line in machine()),
            f"- {', '.join(versions)}",
            "",
            "| | store | no-op, jobs/s | CPU µs | 5 ms sleep, jobs/s | CPU µs |",
            "|---|---|---|---|---|---|",
            *rows,
            "",
            "CPU: worker + server, per job. 5 ms sleep: 100 at a time (PgQueuer 200).",
            "",
        ]
    )


def _rate(one: Contender, task: str) -> str:
    rate = one.rate(task)
    return "not measured" if rate is None else f"{rate:,.0f}"


def draw(seen: list[Contender]) -> str:
    """Both kinds of work, fastest first."""
    panels = []
    for task, title in (
        ("noop", "Jobs that do nothing, one worker: jobs per second"),
        ("sleep5", "Jobs that wait 5 ms, one worker: jobs per second"),
    ):
        ordered = sorted(seen, key=lambda each: -(each.rate(task) or 0))
        bars = [(f"{each.name} · {each.store}", each.rate(task), each.own) for each in ordered]
        panels.append((title, bars))
    return chart(panels, "Same machine, same minutes, best known settings of each; bench/PEERS.md")


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.peers", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1.0, help="0.1: a quick look")
    args = parser.parse_args()
    end_in_order()
    with ExitStack() as stack:
        seen = contenders(stack, Scale(args.scale))
        for number in range(args.rounds):
            print(f"round {number + 1} of {args.rounds}", flush=True)
            for task in WORK:
                for each in seen:
                    each.run(task)
    TABLE.write_text(document(seen, args.rounds, args.scale))
    CHART.write_text(draw(seen))
    print("wrote bench/PEERS.md and bench/peers.svg")


if __name__ == "__main__":
    main()
