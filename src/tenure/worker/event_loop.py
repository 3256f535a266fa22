"""The event loop of a worker process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any


def run_loop(main: Callable[[], Any]) -> Any:
    """Run a coroutine function on a new loop; on uvloop if it is installed."""
    factory = None
    if find_spec("uvloop") is not None:
        import uvloop

        factory = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        return runner.run(main())
