"""What the tests start: `python -m tests.crash.program COMMAND`, set up by its environment."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING

from tests.crash.marks import mark
from tests.crash.mutants import MUTANTS

if TYPE_CHECKING:
    from tenure import Tenure

CHILDREN: set[int] = set()


def main(command: str, *arguments: str) -> int:
    if mutant := os.environ.get("CRASH_MUTANT"):
        MUTANTS[mutant]()
    if command not in COMMANDS:
        return 2
    return COMMANDS[command](*arguments)


def work() -> int:
    """One worker."""
    import tests.crash.hazards  # noqa: F401 - registers its handlers
    from tenure import Worker
    from tests.crash.handlers import app

    Worker(app).run()
    return 0


def fleet(size: str) -> int:
    """So many workers, each replaced at once, however often and however young it dies."""
    import tests.crash.hazards  # noqa: F401 - once, before the first fork

    return keep(int(size), work)


def keep(size: int, life: Callable[[], int]) -> int:
    """So many children that lead this life."""
    signal.signal(signal.SIGTERM, _end_fleet)
    while True:
        while len(CHILDREN) < size:
            CHILDREN.add(_fork(life))
        CHILDREN.discard(os.wait()[0])


def _fork(life: Callable[[], int]) -> int:
    from tenure.worker.processes.parent_death import die_with_parent

    parent = os.getpid()
    if child := os.fork():
        return child
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    die_with_parent(parent)
    os._exit(life())


def _end_fleet(number: int, frame: FrameType | None) -> None:
    os._exit(0)  # the kernel ends the children


def supervised(life: str, processes: str) -> int:
    """`supervise` with children that work, wait for a signal, or die at once."""
    from tenure.worker.supervisor import supervise

    lives = {"work": born_to_work, "wait": wait, "die": die, "crash": crash}
    return supervise(lambda place: lives[life](), int(processes))


def born_to_work() -> int:
    mark("born")
    return work()


def wait() -> int:
    """Until SIGTERM, and then end well."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    mark("child")
    while True:
        signal.pause()


def die() -> int:
    mark("child")
    return 1


def crash() -> int:
    """As a handler does that takes its process along."""
    mark("child")
    os._exit(1)


def bill() -> int:
    """A worker that also knows tenants."""
    import tests.crash.billing  # noqa: F401 - registers its handlers

    return work()


def limited() -> int:
    """A worker that also has limited kinds."""
    import tests.crash.limited  # noqa: F401 - registers its handlers

    return work()


def shop(size: str) -> int:
    """So many producers, each replaced when it dies, until all have placed their orders."""
    from tests.crash import orders

    shares = int(size)
    running = {_fork(partial(orders.produce, share, shares)): share for share in range(shares)}
    while running:
        child, status = os.wait()
        share = running.pop(child)
        if status:
            running[_fork(partial(orders.produce, share, shares))] = share
    return 0


def clerks(size: str) -> int:
    """So many workers for the orders."""
    from tests.crash import orders

    orders.die_while_dispatching()
    return keep(int(size), partial(serve, orders.app))


def serve(app: Tenure) -> int:
    """One worker, which says that it has started."""
    from tenure import Worker

    app.signals.subscribe(lambda name, _: mark(name) if name == "worker.started" else None)
    Worker(app).run()
    return 0


def slot() -> int:
    """One turn of the runner `schedules`, in which this process may kill itself."""
    from tenure.core.timing.budget import Budget
    from tests.crash.billing import may_die
    from tests.crash.handlers import app

    may_die(app.store)
    mark("slots", fired=app.runners[0].run(Budget()))
    return 0


def forked() -> int:
    """An app that was used before a fork is used after it on both sides, and the parent leaves."""
    from tests.crash.handlers import app

    app.enqueue("quick")
    app.insight.counts()
    child = os.fork()
    for _ in range(20):
        app.enqueue("quick")
        app.insight.counts()
    app.close()
    if child:
        mark("child", pid=child)
        os.waitpid(child, 0)
    else:
        for _ in range(20):
            app.enqueue("quick")
    app.enqueue("quick")
    app.close()
    return 0


COMMANDS: dict[str, Callable[..., int]] = {
    "worker": work,
    "fleet": fleet,
    "supervised": supervised,
    "forked": forked,
    "slot": slot,
    "biller": bill,
    "limited": limited,
    "shop": shop,
    "clerks": clerks,
}

if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
