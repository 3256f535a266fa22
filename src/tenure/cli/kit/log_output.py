"""Output of long-running commands: log lines, metrics and traces."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from importlib.util import find_spec
from typing import Annotated

import typer

from tenure.app import Tenure
from tenure.core.errors import OptionError
from tenure.feature.sentence import Sentence
from tenure.watch.otel import configure_otel
from tenure.watch.sentences import Say
from tenure.watch.settings import LogFormat, WatchSettings
from tenure.watch.storyteller import Storyteller

COLORS = {"debug": None, "info": None, "warning": "yellow", "error": "red"}
WEIGHTS = ("debug", "info", "warning", "error")
Address = tuple[str, int]
MetricsPort = Annotated[
    int | None,
    typer.Option("--metrics-port", metavar="N", min=0, max=65_535,
                 help="Serve /metrics on this port; further processes use N+1, N+2 ..."),
]  # fmt: skip
MetricsHost = Annotated[
    str,
    typer.Option("--metrics-host", metavar="HOST",
                 help="Address for /metrics. Other than loopback: needs TENURE_METRICS_TOKEN."),
]  # fmt: skip


@contextmanager
def watching(
    engine: Tenure, *, quiet: bool = False, metrics: Address | None = None
) -> Iterator[None]:
    """Print what happens in this engine, and serve its metrics, while the block runs."""
    settings = WatchSettings()
    voice = voice_of(settings, quiet=quiet)
    with ExitStack() as stack:
        stack.callback(configure_otel(engine))
        Storyteller(voice, verbose=settings.log_level == "debug").listen(
            engine.signals, engine.features
        )
        if metrics is not None:
            port = serve_metrics(engine, metrics, stack)
            voice(Sentence("info", f"metrics at http://{metrics[0]}:{port}/metrics"))
        yield


def voice_of(settings: WatchSettings, *, quiet: bool = False) -> Say:
    """Prints sentences in the log format and from the log level of the settings."""
    voice: Say = say
    if settings.log_format is not LogFormat.PLAIN:
        require("structlog", "TENURE_LOG_FORMAT")
        from tenure.watch import logs

        logs.configure_logs(settings)
        voice = logs.voice(payloads=settings.log_payloads)
    return troubles_only(voice) if quiet else from_weight(voice, settings.log_level)


def serve_metrics(engine: Tenure, address: Address, stack: ExitStack) -> int:
    """Serve metrics until the stack is unwound; returns the port."""
    require("prometheus_client", "--metrics-port")
    from tenure.watch.serve import MetricsServer

    server = MetricsServer(engine, address[1], host=address[0])
    stack.callback(server.close)
    return server.port


def require(package: str, what: str) -> None:
    """Raise OptionError unless a package of the extra `service` is installed."""
    if find_spec(package) is None:
        raise OptionError(f"{what} needs the service extra; run: pip install 'tenure[service]'")


def address(host: str, port: int | None) -> Address | None:
    """The address for metrics; None if no port is given."""
    return None if port is None else (host, port)


def at(first: Address | None, place: int) -> Address | None:
    """The address of the process at this position: its port is the first one plus `place`."""
    if first is None or not first[1]:
        return first
    return first[0], first[1] + place


def say(sentence: Sentence) -> None:
    """Print a line with the time of day."""
    line = f"{datetime.now():%H:%M:%S}  {sentence.text}"
    typer.echo(typer.style(line, fg=COLORS[sentence.tone]))


def from_weight(voice: Say, level: str) -> Say:
    """Only sentences of this level and above."""
    told = WEIGHTS[WEIGHTS.index(level) :]

    def speak(sentence: Sentence) -> None:
        if sentence.tone in told:
            voice(sentence)

    return speak


def troubles_only(voice: Say) -> Say:
    """For `--quiet`: errors of the worker, not of its jobs."""

    def speak(sentence: Sentence) -> None:
        # Sentences about jobs start with "job"; a failing job is not a failing worker.
        if sentence.tone == "error" and not sentence.text.startswith("job "):
            voice(sentence)

    return speak
