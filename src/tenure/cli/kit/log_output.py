"""What a long-running command shows: sentences or log lines, metrics, traces."""

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
                 help="Serve /metrics here; the second process at N+1, and so on."),
]  # fmt: skip
MetricsHost = Annotated[
    str,
    typer.Option("--metrics-host", metavar="HOST",
                 help="Where: elsewhere than on loopback only with TENURE_METRICS_TOKEN."),
]  # fmt: skip


@contextmanager
def watching(
    engine: Tenure, *, quiet: bool = False, metrics: Address | None = None
) -> Iterator[None]:
    """Tell what happens in this engine as long as the block lasts."""
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
    """Says sentences as they are, or as log lines in the format that the settings name."""
    voice: Say = say
    if settings.log_format is not LogFormat.PLAIN:
        require("structlog", "TENURE_LOG_FORMAT")
        from tenure.watch import logs

        logs.configure_logs(settings)
        voice = logs.voice(payloads=settings.log_payloads)
    return troubles_only(voice) if quiet else from_weight(voice, settings.log_level)


def serve_metrics(engine: Tenure, address: Address, stack: ExitStack) -> int:
    """The port where they are, until the stack is unwound."""
    require("prometheus_client", "--metrics-port")
    from tenure.watch.serve import MetricsServer

    server = MetricsServer(engine, address[1], host=address[0])
    stack.callback(server.close)
    return server.port


def require(package: str, what: str) -> None:
    """A part of the extra `service`."""
    if find_spec(package) is None:
        raise OptionError(f"{what} needs more packages: pip install 'tenure[service]'")


def address(host: str, port: int | None) -> Address | None:
    """Where metrics are to be served, if at all."""
    return None if port is None else (host, port)


def at(first: Address | None, place: int) -> Address | None:
    """The address of one process among several: the ports follow each other."""
    if first is None or not first[1]:
        return first
    return first[0], first[1] + place


def say(sentence: Sentence) -> None:
    """A line on stdout, with the time of day; Signals drops what cannot be written."""
    line = f"{datetime.now():%H:%M:%S}  {sentence.text}"
    typer.echo(typer.style(line, fg=COLORS[sentence.tone]))


def from_weight(voice: Say, level: str) -> Say:
    """Only what weighs enough."""
    told = WEIGHTS[WEIGHTS.index(level) :]

    def speak(sentence: Sentence) -> None:
        if sentence.tone in told:
            voice(sentence)

    return speak


def troubles_only(voice: Say) -> Say:
    """For `--quiet`: neither news nor what came of jobs."""

    def speak(sentence: Sentence) -> None:
        if sentence.tone == "error" and not sentence.text.startswith("job "):
            voice(sentence)

    return speak
