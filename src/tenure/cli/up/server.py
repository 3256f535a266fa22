"""The server of `tenure up`: API, dashboard and worker on one event loop."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fastapi import FastAPI

from tenure.api import create_api
from tenure.api.server import Server
from tenure.app import Tenure
from tenure.cli.kit.errors import FINE, PROBLEMS
from tenure.cli.kit.log_output import say
from tenure.cli.up.worker_processes import Crew
from tenure.dashboard import install_page
from tenure.feature.sentence import Sentence
from tenure.worker import Worker
from tenure.worker.event_loop import run_loop
from tenure.worker.worker import STOP_SIGNALS

LOOK_SECONDS = 0.05  # waitpid has no asynchronous form here, so the end is polled


def serve(
    engine: Tenure, crew: Crew | None, listening: socket.socket, greet: Callable[[], None]
) -> int:
    """Serve until a signal; returns the exit code. `greet` is called once requests are served."""
    worker = Worker(engine) if crew is None else None
    api = create_api(engine, worker=worker)
    install_page(api)
    server = UpServer(api, worker, crew, greet)
    run_loop(lambda: server.serve([listening]))
    return server.code


class UpServer(Server):
    """Stops on a signal with exit code 0.

    The first signal ends event streams and lets requests and jobs finish. The second returns
    running jobs to the queue at once.
    """

    def __init__(
        self, api: FastAPI, worker: Worker | None, crew: Crew | None, greet: Callable[[], None]
    ) -> None:
        super().__init__(api, log_config=None, log_level="warning", access_log=False)
        self._worker = worker
        self._crew = crew
        self._greet = greet
        self.code = FINE

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Replaces uvicorn's handlers, which end the process without stopping the worker."""
        loop = asyncio.get_running_loop()
        for number in STOP_SIGNALS:
            loop.add_signal_handler(number, self._asked, signal.Signals(number).name)
        try:
            yield
        finally:
            for number in STOP_SIGNALS:
                loop.remove_signal_handler(number)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then print the address."""
        await super().startup(sockets)
        self._greet()

    async def on_tick(self, counter: int) -> bool:
        """Stop if the worker processes are gone: an API without workers would look healthy."""
        if self._crew is not None and self._crew.ended and not self.should_exit:
            say(Sentence("error", "the supervisor of the worker processes has died; stopping"))
            self.code = PROBLEMS
            return True
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Run the lifespan's end even if forced: the worker must return its jobs to the queue."""
        await super().shutdown(sockets)
        if self.force_exit:
            await self.lifespan.shutdown()
        while self._crew is not None and not self._crew.ended:
            await asyncio.sleep(LOOK_SECONDS)

    def _asked(self, name: str) -> None:
        if self.should_exit:
            self.force_exit = True
            self._hurry()
        else:
            say(
                Sentence(
                    "info",
                    f"{name}: stopping; running jobs may finish (signal again to stop at once)",
                )
            )
        self.should_exit = True
        if self._crew is not None:
            self._crew.stop()

    def _hurry(self) -> None:
        if self._worker is not None:
            # A worker stops at once at the second call, as at a second signal.
            self._worker.stop()
            self._worker.stop()
