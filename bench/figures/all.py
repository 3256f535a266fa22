"""The figures by name."""

from __future__ import annotations

from collections.abc import Callable

from bench.figures import drain, enqueue
from bench.figures.api import api
from bench.figures.bloat import bloat
from bench.figures.blocked import blocked
from bench.figures.fairness import fairness
from bench.figures.grown import grown
from bench.figures.keys import keys
from bench.figures.latency import latency
from bench.figures.limits import limits
from bench.figures.memory import memory
from bench.figures.migrate import migrate
from bench.figures.mixed import mixed
from bench.figures.order import order
from bench.figures.punctual import punctual
from bench.figures.recovery import recovery
from bench.figures.scale import Scale
from bench.figures.scrape import scrape
from bench.figures.screens import screens
from bench.figures.wait import wait
from bench.figures.wake import wake
from bench.figures.wal import wal
from bench.result import Result

FIGURES: dict[str, Callable[[Scale], Result]] = {
    "drain-postgres": drain.postgres,
    "drain-sqlite": drain.sqlite,
    "drain-mariadb": drain.mariadb,
    "drain-two": drain.two,
    "sleep5": drain.sleep5,
    "threads": drain.threads,
    "latency": latency,
    "wake": wake,
    "wait": wait,
    "enqueue-one": enqueue.one,
    "enqueue-16": enqueue.sixteen,
    "enqueue-many": enqueue.many,
    "mixed": mixed,
    "recovery": recovery,
    "bloat": bloat,
    "blocked": blocked,
    "grown": grown,
    "wal": wal,
    "memory": memory,
    "order": order,
    "fairness": fairness,
    "limits": limits,
    "keys": keys,
    "punctual": punctual,
    "scrape": scrape,
    "api": api,
    "migrate": migrate,
    "screens": screens,
}
