"""`POST /internal/tick`: one tick within its budgets, for a scheduler that has the token."""

from __future__ import annotations

import hmac
from urllib.parse import parse_qs

from tenure.app import Tenure
from tenure.asgi.messages import Receive, Scope, Send, answer, header, problem
from tenure.core.errors import OptionError
from tenure.worker import Worker
from tenure.worker.settings import WorkerSettings

TOKEN = "x-service-token"  # noqa: S105 - the name of a header


class TickRoute:
    """An ASGI app to mount at /internal/tick.

    One tick runs at a time: while it does, other requests get 409. If a runner failed, the answer
    is 500, so that the scheduler notices. `?runners=outbox,invoiceReminders` runs these only.
    """

    def __init__(
        self,
        app: Tenure,
        *,
        concurrency: int | None = None,
        settings: WorkerSettings | None = None,
    ) -> None:
        self._app = app
        self._concurrency = concurrency
        self._settings = settings or WorkerSettings()
        if self._settings.api_service_token is None:
            raise OptionError(
                "WORKER_API_SERVICE_TOKEN is not set: whoever reaches the route could start a tick"
            )
        self._token = self._settings.api_service_token.get_secret_value().encode()
        self._ticking: Worker | None = None
        self._worker()  # wrong settings raise now, not with the first request

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            raise OptionError(f"the tick route answers http, not {scope['type']}")
        if scope["method"] != "POST":
            await problem(scope, send, 405, "a tick is started by POST", {"allow": "POST"})
        elif (given := header(scope, TOKEN)) is None:
            await problem(scope, send, 401, f"send the service token as {TOKEN}",
                          {"www-authenticate": "ServiceToken"})  # fmt: skip
        # In constant time: the answer must not tell how many characters were right.
        elif not hmac.compare_digest(given.encode("latin-1"), self._token):
            await problem(scope, send, 403, "this is not the service token")
        elif self._ticking is not None:
            await problem(scope, send, 409, "a tick is running here already", {"retry-after": "1"})
        else:
            await self._tick(scope, send)

    async def _tick(self, scope: Scope, send: Send) -> None:
        asked = _asked(scope)
        try:
            self._ticking = self._worker(asked)
            report = await self._ticking.tick_async()
        except OptionError as error:
            if not asked:
                raise
            await problem(scope, send, 422, str(error))
            return
        finally:
            self._ticking = None
        await answer(send, 500 if report.failed else 200, report.to_dict())

    def stop(self) -> None:
        """For a server that shuts down: a running tick starts no more work and answers soon."""
        if self._ticking is not None:
            self._ticking.stop()

    def _worker(self, runners: tuple[str, ...] = ()) -> Worker:
        settings = self._settings
        if runners:
            settings = settings.model_copy(update={"tick_runners": runners})
        return Worker(self._app, concurrency=self._concurrency, settings=settings)


def _asked(scope: Scope) -> tuple[str, ...]:
    """The runners that the request names."""
    found = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("runners", [])
    return tuple(name.strip() for text in found for name in text.split(",") if name.strip())
