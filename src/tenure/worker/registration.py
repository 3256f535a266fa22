"""A worker's entry in the list of workers, which `doctor` and the dashboard show.

Signing in also publishes what the worker's handlers declare, and reads what operators have set.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, astuple
from typing import TYPE_CHECKING

from tenure.core.capability import Capability
from tenure.operations.insight import WORKERS
from tenure.operations.worker_stops import asked_to_stop, forget_stop
from tenure.stores.contract.parts import Record
from tenure.worker.pipeline import Pipeline

if TYPE_CHECKING:
    from tenure.worker.worker import Worker

FORGOTTEN_SECONDS = 3_600.0


class Registration:
    """Signs one worker in and out. The heartbeat signs in again every few seconds."""

    def __init__(self, worker: Worker, pipeline: Pipeline) -> None:
        self._worker = worker
        self._app = worker.app
        self._pipeline = pipeline

    def begin(self) -> None:
        """Sign in, and remove workers that were killed and could not sign out."""
        self._try(self.sign_in)
        self._try(self._remove_silent_workers)

    def sign_in(self) -> None:
        """Write the entry, publish the handlers, refresh the terms of claims."""
        self._app.store.records.upsert(
            Record(collection=WORKERS, name=self._worker.id, data=self._entry())
        )
        handlers = [one for one in self._app.handlers if self._worker.assignment.has(one.kind)]
        published = self._app.published.publish(handlers)
        self._pipeline.terms.refresh(published)
        if Capability.ENDINGS in self._app.store.capabilities:
            self._leave(self._app.store.endings.publish())
        if asked_to_stop(self._app.store, self._worker.id):
            self._worker.stop_request.ask_once_from_any_thread()
        self._app.store.queues.place({one.kind: one.placement for one in handlers})

    def _leave(self, strange: Mapping[str, Sequence[str]]) -> None:
        """Kinds that features follow which this app lacks: only a worker with them can end such a
        job, so it is not begun here.
        """
        terms = self._pipeline.terms
        for kind in strange.keys() & set(terms.kinds):
            self._app.signals.emit("kind.left", kind=kind, features=strange[kind])
        terms.left = frozenset(strange)

    def end(self) -> None:
        """Remove the entry."""
        self._try(self._sign_out)

    def _entry(self) -> dict[str, object]:
        app, worker, pipeline = self._app, self._worker, self._pipeline
        shard = worker.assignment.shard
        return {
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "kinds": sorted(pipeline.terms.kinds),
            "queues": dict(worker.slots.capacity),
            "running": pipeline.running,
            "started_at": worker.started_at,
            "listening": bool(pipeline.wake_timer.listening),
            "shard": shard and astuple(shard),
            "app": app.settings.app_name,
            "release": app.settings.app_version,
            "features": [feature.name for feature in app.features],
            "queue_options": {name: asdict(one) for name, one in app.queues.declared.items()},
        }

    def _sign_out(self) -> None:
        self._app.store.records.remove(WORKERS, self._worker.id)
        forget_stop(self._app.store, self._worker.id)

    def _remove_silent_workers(self) -> None:
        for worker in self._app.insight.workers():
            if worker.silent_seconds > FORGOTTEN_SECONDS:
                self._app.store.records.remove(WORKERS, worker.id)
                forget_stop(self._app.store, worker.id)
        self._app.published.forget_old()

    def _try(self, action: Callable[[], None]) -> None:
        """The list is for people: a worker works even if it cannot be listed."""
        try:
            action()
        except Exception as error:
            self._app.signals.emit("worker.error", error=error, step="sign")
