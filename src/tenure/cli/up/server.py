"""The server of `tenure up`: API, page and worker on one loop; it stops in order."""

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
from tenure.worker.worker import STOP_SIGNALS, run_loop

LOOK_SECONDS = 0.05


def serve(
    engine: Tenure, crew: Crew | None, listening: socket.socket, greet: Callable[[], None]
) -> int:
    """Until a signal comes; the exit code of the command. `greet` is called when it answers."""
    worker = Worker(engine) if crew is None else None
    api = create_api(engine, worker=worker)
    install_page(api)
    server = UpServer(api, worker, crew, greet)
    run_loop(lambda: server.serve([listening]))
    return server.code


class UpServer(Server):
    """The first signal ends streams and lets requests and jobs finish; the second gives the jobs
    back at once. Either way nothing is lost, and the exit code is 0.
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
        """Ours: uvicorn's would end the process by the signal, and skip the worker in a hurry."""
        loop = asyncio.get_running_loop()
        for number in STOP_SIGNALS:
            loop.add_signal_handler(number, self._asked, signal.Signals(number).name)
        try:
            yield
        finally:
            for number in STOP_SIGNALS:
                loop.remove_signal_handler(number)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """When it answers, it says where."""
        await super().startup(sockets)
        self._greet()

    async def on_tick(self, counter: int) -> bool:
        """Ends with its worker processes too: an API alone would look as if all were well."""
        if self._crew is not None and self._crew.ended and not self.should_exit:
            say(Sentence("error", "the supervisor of the worker processes is gone; stopping"))
            self.code = PROBLEMS
            return True
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """In a hurry uvicorn leaves the lifespan out; the worker has to give its jobs back."""
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
            say(Sentence("info", f"{name}: stopping in order (signal again to stop at once)"))
        self.should_exit = True
        if self._crew is not None:
            self._crew.stop()

    def _hurry(self) -> None:
        if self._worker is not None:
            self._worker.stop()
            self._worker.stop()
