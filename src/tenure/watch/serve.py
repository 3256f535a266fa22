"""Metrics of a worker that has no API: a small HTTP server in a thread of its own."""

from __future__ import annotations

import hmac
import threading
from collections.abc import Callable, Iterable
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from tenure.app import Tenure
from tenure.core.errors import OptionError
from tenure.watch.metrics import PATH, Metrics, is_loopback
from tenure.watch.settings import WatchSettings

Start = Callable[[str, list[tuple[str, str]]], Any]
PLAIN = "text/plain; charset=utf-8"


class _Server(ThreadingMixIn, WSGIServer):
    """Answers each scrape in a daemon thread: a slow one blocks neither others nor the exit."""

    daemon_threads = True


class _Quiet(WSGIRequestHandler):
    """Logs no requests."""

    timeout = 30

    def log_message(self, *_: object) -> None:
        """Log nothing."""


class MetricsServer:
    """Serves one app's `/metrics` until closed.

    On loopback it answers everybody there; elsewhere it needs TENURE_METRICS_TOKEN, which a
    scraper sends as a bearer token.
    """

    def __init__(
        self,
        app: Tenure,
        port: int,
        *,
        host: str = "127.0.0.1",
        settings: WatchSettings | None = None,
    ) -> None:
        settings = settings or WatchSettings()
        self._token = settings.metrics_token
        if self._token is None and not is_loopback(host):
            raise OptionError(
                f"metrics at {host} would be open to everybody: set TENURE_METRICS_TOKEN, "
                "or stay at 127.0.0.1"
            )
        self._metrics = Metrics.of(app, settings)
        try:
            self._server = make_server(host, port, self._answer, _Server, _Quiet)
        except OSError as error:
            raise OptionError(f"cannot serve metrics at {host}:{port}: {error.strerror}") from None
        self.port = int(self._server.server_port)
        self._thread = threading.Thread(
            target=self._server.serve_forever, name="tenure-metrics", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _answer(self, environ: dict[str, Any], start: Start) -> Iterable[bytes]:
        if not self._may(environ.get("HTTP_AUTHORIZATION", "")):
            start("401 Unauthorized", [("content-type", PLAIN), ("www-authenticate", "Bearer")])
            return [b"send TENURE_METRICS_TOKEN as a bearer token\n"]
        if environ["PATH_INFO"] != PATH or environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
            start("404 Not Found", [("content-type", PLAIN)])
            return [b"metrics are at GET /metrics\n"]
        body, content_type = self._metrics.exposition(environ.get("HTTP_ACCEPT", ""))
        length = ("content-length", str(len(body)))
        start("200 OK", [("content-type", content_type), ("cache-control", "no-store"), length])
        return [] if environ["REQUEST_METHOD"] == "HEAD" else [body]

    def _may(self, given: str) -> bool:
        if self._token is None:
            return True
        wanted = f"Bearer {self._token.get_secret_value()}"
        return hmac.compare_digest(given.encode("latin-1"), wanted.encode())
