"""Logs by structlog: JSON lines or a readable console. Loggers of the standard library and of
handlers go the same way, and every line knows its job and its correlation id.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any, TextIO

import structlog

from tenure.app import Tenure
from tenure.core.lease import ClaimedJob
from tenure.feature.sentence import Sentence
from tenure.jobs.running_job import current_job
from tenure.watch.correlation import correlation_id
from tenure.watch.sentences import Say
from tenure.watch.settings import LogFormat, WatchSettings
from tenure.watch.storyteller import Storyteller
from tenure.watch.text import MASK, clean, is_secret, mask

NAME = "tenure"
DEEPEST = 6
Event = MutableMapping[str, Any]
Processor = Callable[[Any, str, Event], Any]


def configure_logs(
    settings: WatchSettings | None = None, stream: TextIO | None = None
) -> WatchSettings:
    """Send all logs of this process to stdout, as TENURE_LOG_FORMAT and _LEVEL say.

    For programs, not for libraries: it replaces the handlers of the root logger. With the format
    `plain` nothing is changed: then `tenure worker` prints its sentences as they are.
    """
    settings = settings or WatchSettings()
    if settings.log_format is LogFormat.PLAIN:
        return settings
    handler = logging.StreamHandler(stream or sys.stdout)
    handler.setFormatter(_formatter(settings.log_format, handler.stream))
    structlog.configure(
        processors=[structlog.stdlib.filter_by_level, *SHARED, LAST.wrap_for_formatter],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.log_level.upper())
    return settings


def log_signals(app: Tenure, settings: WatchSettings | None = None) -> None:
    """Write what happens in this app as log lines; with the level `debug` every step of it."""
    settings = settings or WatchSettings()
    verbose = settings.log_level == "debug"
    Storyteller(voice(payloads=settings.log_payloads), verbose=verbose).listen(
        app.signals, app.features
    )


def voice(*, payloads: bool = False) -> Say:
    """Says sentences through structlog. Payloads only where somebody asked for them."""
    logger = structlog.stdlib.get_logger(NAME)

    def say(sentence: Sentence) -> None:
        told = {**_job_fields(sentence.job), **sentence.facts, "signal": sentence.signal}
        if payloads and sentence.job is not None:
            told["payload"] = sentence.job.payload
        known = {name: value for name, value in told.items() if value not in (None, "")}
        getattr(logger, sentence.tone)(sentence.text, **known)

    return say


def add_where(_: Any, __: str, event: Event) -> Event:
    """The job that runs here, and the correlation id; what the line says itself is kept."""
    job = current_job.get()
    if job is not None and "job_id" not in event:
        known = _job_fields(job.claimed)
        event.update({name: value for name, value in known.items() if value and name not in event})
    if "correlation_id" not in event and (found := correlation_id()) is not None:
        event["correlation_id"] = found
    return event


def hide_secrets(_: Any, __: str, event: Event) -> Event:
    """By their names, and by what looks like one in a text."""
    return {name: _hidden(name, value) for name, value in event.items()}


def one_line(_: Any, __: str, event: Event) -> Event:
    """JSON escapes by itself; the sentence is cleaned all the same, for those who cut it out."""
    return {**event, "event": clean(str(event.get("event", "")))}


def for_console(_: Any, __: str, event: Event) -> Event:
    """A line for each event, and none that somebody else has written: what is not printable is
    spelled out. Tracebacks keep their lines, each with a mark in front.
    """
    trace = event.pop("exception", None)
    shown = {clean(str(name)): _shown(value) for name, value in event.items()}
    if trace is not None:
        lines = "\n".join(f"  | {clean(line)}" for line in str(trace).splitlines())
        shown["exception"] = lines
    return shown


SHARED: list[Processor] = [
    structlog.stdlib.add_log_level,
    structlog.stdlib.ExtraAdder(),
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    add_where,
    structlog.processors.format_exc_info,
]
LAST = structlog.stdlib.ProcessorFormatter


def _formatter(wanted: LogFormat, stream: TextIO) -> logging.Formatter:
    render: list[Processor] = [one_line, structlog.processors.JSONRenderer(serializer=_json)]
    if wanted is LogFormat.CONSOLE:
        render = [for_console, structlog.dev.ConsoleRenderer(colors=stream.isatty())]
    steps = [LAST.remove_processors_meta, hide_secrets, *render]
    return LAST(foreign_pre_chain=SHARED, processors=steps)


def _job_fields(job: ClaimedJob | None) -> dict[str, Any]:
    if job is None:
        return {}
    return {
        "job_id": job.id,
        "kind": job.kind,
        "queue": job.queue,
        "attempt": job.attempt,
        "tenant": job.tenant or None,
        "correlation_id": job.correlation_id,
    }


def _hidden(name: str, value: Any, depth: int = 0) -> Any:
    if is_secret(name):
        return MASK
    if isinstance(value, str):
        return mask(value)
    if depth < DEEPEST and isinstance(value, Mapping):
        return {str(key): _hidden(str(key), one, depth + 1) for key, one in value.items()}
    if depth < DEEPEST and isinstance(value, list | tuple):
        return [_hidden("", one, depth + 1) for one in value]
    return value if isinstance(value, int | float | bool | None) else mask(str(value))


def _shown(value: Any) -> Any:
    return value if isinstance(value, int | float | bool | None) else clean(str(value))


def _json(event: Event, **_: Any) -> str:
    """ASCII alone: no reader takes a part of it for the end of the line."""
    return json.dumps(event, default=str)
