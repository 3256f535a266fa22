"""Enqueue jobs from JSON Lines, in chunks. Each chunk is one transaction."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import typer
from pydantic.alias_generators import to_camel

from tenure.api.kit.shapes.jobs import RENAMED, NewJobInput
from tenure.app import Tenure
from tenure.cli.kit.job_json import added
from tenure.cli.kit.output import to_json
from tenure.cli.kit.values import iso_time, parse_json
from tenure.core.errors import InputError, KeyConflict, OptionError
from tenure.core.job import NewJob
from tenure.jobs.codec import encode

CHUNK = 1_000  # one transaction each: large enough to be fast, small enough to hold no lock long
TIMES = ("run_at", "expires")
FIELDS = {
    to_camel(name): RENAMED.get(name, name)
    for name in (*NewJobInput.model_fields, "correlation_id")
}
"""The fields of a line, and the options that they are in Python."""
Numbered = tuple[int, NewJob]


class LineError(InputError):
    """A line of the input is wrong; its chunk was not written."""

    code = "bad_line"

    def __init__(self, where: str, error: InputError, written: int) -> None:
        before = f"{written:,} earlier jobs were written" if written else "nothing was written"
        super().__init__(f"{where}: {error} ({before})")


@contextmanager
def open_lines(name: str) -> Iterator[BinaryIO]:
    """Open a file, or stdin for `-`."""
    if name == "-":
        yield sys.stdin.buffer
        return
    with ExitStack() as stack:
        try:
            file = stack.enter_context(Path(name).open("rb"))
        except OSError as error:
            raise OptionError(f"cannot read {name!r}: {error.strerror}") from None
        yield file


def enqueue_lines(engine: Tenure, lines: Iterable[bytes], *, checked: bool) -> None:
    """Enqueue all lines. The ids of a chunk are printed after its commit."""
    written = 0
    source = ((number, line) for number, line in enumerate(lines, 1) if line.strip())
    while chunk := list(islice(source, CHUNK)):
        jobs = [(number, _job(engine, number, line, checked, written)) for number, line in chunk]
        try:
            refs = engine.enqueue_many([job for _, job in jobs])
        except KeyConflict as error:
            raise LineError(_conflicting(jobs, error), error, written) from error
        written += len(refs)
        typer.echo("\n".join(to_json(added(one)) for one in refs))


def fields(engine: Tenure, given: dict[str, Any], *, checked: bool) -> NewJob:
    """The job that an object describes. A null counts as not given."""
    options = {name: value for name, value in given.items() if value is not None}
    kind, payload = options.pop("kind", None), options.pop("payload", {})
    if kind is None:
        raise OptionError('"kind" is missing')
    for name in TIMES:
        if isinstance(options.get(name), str):
            options[name] = iso_time(name, options[name])
    if checked:
        engine.handlers.require(kind).unpack(encode(payload, engine.settings.payload_limit_bytes))
    return engine.new(kind, payload, **options)


def options_of(line: dict[str, Any]) -> dict[str, Any]:
    """A line has the fields of `POST /api/jobs`, and `correlationId`; here they are options."""
    if unknown := sorted(line.keys() - FIELDS.keys()):
        raise OptionError(f"unknown field {unknown[0]!r}; there are: {', '.join(sorted(FIELDS))}")
    for name in ("runAt", "expiresAt"):
        if line.get(name) is not None and not isinstance(line[name], str):
            raise OptionError(f"{name} must be a time such as 2040-01-01T00:00:00Z")
    return {FIELDS[name]: value for name, value in line.items()}


def _job(engine: Tenure, number: int, line: bytes, checked: bool, written: int) -> NewJob:
    try:
        value = parse_json(line, "line")
        if not isinstance(value, dict):
            raise OptionError(f"expected an object, got {type(value).__name__}")
        return fields(engine, options_of(value), checked=checked)
    except InputError as error:
        raise LineError(f"line {number}", error, written) from error


def _conflicting(jobs: list[Numbered], error: KeyConflict) -> str:
    """Name the lines that use the conflicting key."""
    found = [
        str(number)
        for number, job in jobs
        if job.kind == error.kind and job.key is not None and job.key.value == error.key
    ]
    return f"line {found[0]}" if len(found) == 1 else f"one of the lines {', '.join(found)}"
