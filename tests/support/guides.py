"""The first example of a guide: found on its page, run as a reader would, compared with the page.

A guide starts with a `python` program followed by a `text` block with its output, or with a
`console` session: `$ ` before a command, `> ` before its further lines, then its output. In an
output `…` stands for text that differs from run to run, and a line `…` for any number of lines.
`^C` on a line of its own interrupts the command above it. docs/writing.md states the same rules.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Timer

from tests.support.servers import free_port
from tests.support.settings import all_variables

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LONGEST_OPENING = 60
PATIENCE_SECONDS = 120
SHOWN_PORT = 8000
ANYTHING = "…"
INTERRUPT = "^C"
END = "-- end of command"


class BadGuide(AssertionError):
    """A page does not start with an example that a test can run."""


@dataclass(frozen=True, slots=True)
class Program:
    """A Python program and what it prints."""

    code: str
    output: str


@dataclass(frozen=True, slots=True)
class Command:
    """A command of a session and what it prints, before and after an interrupt."""

    text: str
    output: str


Example = Program | Sequence[Command]


def first_example(page: Path) -> Example:
    """The example that the page starts with; BadGuide says what is missing."""
    text = page.read_text()
    blocks = list(BLOCK.finditer(text))
    if not blocks:
        raise BadGuide(f"{page.name} has no example; start it with a program or a session")
    _check_opening(page, text[: blocks[0].start()])
    language, code = blocks[0].groups()
    if language == "console":
        return _session(code)
    if language != "python":
        raise BadGuide(f"{page.name} starts with a {language or 'bare'} block, not an example")
    if len(blocks) == 1 or blocks[1][1] != "text":
        raise BadGuide(f"{page.name}: say in a text block after the program what it prints")
    return Program(code, blocks[1][2])


def check(example: Example, folder: Path) -> None:
    """Run it in this folder; AssertionError where it prints something else."""
    environment, port = _environment()
    if isinstance(example, Program):
        _compare(example.output, _run_program(example, folder, environment))
        return
    for command, printed in zip(example, _run_session(example, folder, environment), strict=True):
        _compare(command.output, printed.replace(f":{port}", f":{SHOWN_PORT}"))


def _check_opening(page: Path, opening: str) -> None:
    prose = [line for line in opening.splitlines() if not line.startswith("# ")]
    words = " ".join(prose).split()
    if "#" in "".join(line[:1] for line in prose) or len(words) > LONGEST_OPENING:
        raise BadGuide(f"{page.name}: the first example follows after one or two sentences")


def _session(text: str) -> list[Command]:
    """The commands of a session, each with the lines below it."""
    parts = re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]
    commands = []
    for part in parts:
        first, *rest = part.splitlines()
        more = [line for line in rest if line == ">" or line.startswith("> ")]
        output = rest[len(more) :]
        command = "\n".join([first, *(line[2:] for line in more)])
        commands.append(Command(command, "".join(f"{line}\n" for line in output)))
    return commands


def _environment() -> tuple[dict[str, str], int]:
    """A reader's environment: none of our settings, but a port of our own."""
    port = free_port()
    kept = {name: value for name, value in os.environ.items() if name not in all_variables()}
    path = f"{Path(sys.executable).parent}{os.pathsep}{kept['PATH']}"
    return {**kept, "PATH": path, "TENURE_API_PORT": str(port), "COLUMNS": "200"}, port


def _run_program(example: Program, folder: Path, environment: dict[str, str]) -> str:
    (folder / "shop.py").write_text(example.code)
    done = subprocess.run(
        [sys.executable, "shop.py"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _run_session(
    session: Sequence[Command], folder: Path, environment: dict[str, str]
) -> list[str]:
    if len(session) == 1 and f"{INTERRUPT}\n" in session[0].output:
        return [_interrupted(session[0], folder, environment)]
    script = "".join(f'{command.text}\necho "{END} $?"\n' for command in session)
    done = subprocess.run(
        ["bash"],
        input=script,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    printed = re.split(rf"^{END} (\d+)\n", done.stdout, flags=re.MULTILINE)
    assert set(printed[1::2]) == {"0"}, done.stdout
    return printed[:-1:2]


def _interrupted(command: Command, folder: Path, environment: dict[str, str]) -> str:
    """Ctrl-C when the last line above `^C` has appeared."""
    awaited = command.output.partition(f"{INTERRUPT}\n")[0].splitlines()[-1]
    with subprocess.Popen(
        ["bash", "-c", f"exec {command.text}"],
        cwd=folder,
        env={**environment, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        printed = ""
        too_late = Timer(PATIENCE_SECONDS, process.kill)
        too_late.start()
        try:
            for line in process.stdout:
                printed += line
                if re.fullmatch(_pattern(awaited), line.rstrip() + "\n"):
                    process.send_signal(signal.SIGINT)
                    printed += f"{INTERRUPT}\n"
            assert process.wait(PATIENCE_SECONDS) == 0, printed
        finally:
            too_late.cancel()
            process.kill()
    return printed


def _compare(said: str, printed: str) -> None:
    lines = "".join(f"{line.rstrip()}\n" for line in printed.splitlines())
    pattern = "".join(map(_pattern, said.splitlines()))
    assert re.fullmatch(pattern, lines), f"the guide says:\n{said}\nbut this was printed:\n{lines}"


def _pattern(line: str) -> str:
    if line.strip() == ANYTHING:
        return r"(?:.*\n)*?"
    return re.escape(line.rstrip()).replace(ANYTHING, ".*") + r"\n"
