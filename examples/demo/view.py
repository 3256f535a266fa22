"""How the demo looks: a live view on a terminal, lines in a pipe, and the summary."""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path

import typer
from rich.console import Group
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from examples.demo.story import Story
from tenure import State
from tenure.cli.kit.output import STATE_STYLES, console

OTHER_LINES = 14
BAR_WIDTH = 30
LINE_EVERY_SECONDS = 1.0
SHOWN = (State.QUEUED, State.RUNNING, State.SUCCEEDED, State.FAILED, State.DEAD)


class Screen:
    """`with Screen(story) as screen: screen.draw()`."""

    def __init__(self, story: Story) -> None:
        self._story = story
        self._console = console()
        self._live = Live(console=self._console, auto_refresh=False)
        self._told = 0
        self._next_line = 0.0

    def __enter__(self) -> Screen:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def draw(self) -> None:
        """As it is now."""
        if self._console.is_terminal:
            room = max(3, self._console.height - OTHER_LINES)
            self._live.update(picture(self._story, room), refresh=True)
        else:
            self._print_lines()

    def _print_lines(self) -> None:
        story = self._story
        for event in story.said[self._told :]:
            typer.echo(event)
        self._told = len(story.said)
        if time.monotonic() >= self._next_line or story.complete:
            self._next_line = time.monotonic() + LINE_EVERY_SECONDS
            counts = ", ".join(f"{story.states[state]:,} {state}" for state in SHOWN)
            typer.echo(f"{story.seconds:4.1f} s  {story.done:,} of {story.total:,} done: {counts}")


def picture(story: Story, events_shown: int) -> Panel:
    """States with bars, the workers, and what happened."""
    head = Text.assemble(
        (f"{story.done:,}", "bold"), f" of {story.total:,} done   ",
        (f"{story.rate:,.0f}", "bold"), " jobs/s   ",
        (f"{story.retried:,}", "bold"), " retried   ",
        (f"{len(story.recovered):,}", "bold"), " recovered   ",
        (f"{story.seconds:.0f} s", "dim"),
    )  # fmt: skip
    events = [Text(event, style=_event_style(event)) for event in story.said[-events_shown:]]
    blank = Text("")
    body = Group(head, blank, _bars(story), blank, _workers(story), blank, *events)
    return Panel(body, title="demo", title_align="left", border_style="dim")


def ending(story: Story, url: str, app: str) -> str:
    """The summary, and commands that work on this very file."""
    attempts = sum(job.attempt for job in story.jobs)
    final = f"All {story.total:,} jobs are final" if story.complete else (
        f"{story.done:,} of {story.total:,} jobs are final"
    )  # fmt: skip
    states = ", ".join(f"{story.states[state]:,} {state}" for state in SHOWN if story.states[state])
    lost, recovered = len(story.lost), len(story.recovered)
    crash = (
        f"{recovered} of the {lost} that the killed worker held were recovered"
        if lost
        else "no worker was killed: it was over too soon"
    )
    summary = (
        f"\n{final} after {story.seconds:.1f} s: {states}.\n"
        f"{story.retried:,} were retried after an error, {crash}; {attempts:,} attempts in all."
    )
    return f"{summary}\n\nWhat to try next:\n\n{_next_steps(story, url, app)}\n"


def _next_steps(story: Story, url: str, app: str) -> str:
    tenure = _program()
    broken = next((job.id for job in story.jobs if job.state is State.FAILED), story.jobs[0].id)
    survivor = story.lost[-1].job.id if story.lost else broken
    steps = [
        (f"export TENURE_DATABASE_URL={url}", ""),
        (f"{tenure} jobs history {survivor}", "a job that outlived its worker"),
        (f"{tenure} jobs show {broken}", "one that failed, and why"),
        (f"{tenure} jobs list --state dead", "those that used up their attempts"),
        (f"{tenure} jobs replay --kind demo.flaky --yes", "start them anew"),
        (f"{tenure} worker --app {app}", "run them; Ctrl-C ends it"),
        (f"{tenure} doctor", "is everything well?"),
    ]
    width = max(len(command) for command, why in steps if why)
    return "\n".join(f"  {command:<{width}}  {'# ' + why if why else ''}".rstrip()
                     for command, why in steps)  # fmt: skip


def _program() -> str:
    """How this very program is called here."""
    if shutil.which("tenure"):
        return "tenure"
    called = Path(sys.argv[0])
    return str(called) if called.name == "tenure" else f"{sys.executable} -m tenure"


def _bars(story: Story) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for state in SHOWN:
        style, count = STATE_STYLES[state], story.states[state]
        bar = ProgressBar(story.total, count, BAR_WIDTH, complete_style=style, finished_style=style)
        table.add_row(Text(state, style=style), bar, Text(f"{count:,}", justify="right"))
    return table


def _workers(story: Story) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for one in story.workers:
        if one.killed:
            waiting = len(story.lost) - len(story.recovered)
            left = f"killed; {waiting} of its jobs wait for their lease to run out"
            text = Text(left if waiting else "killed; its jobs are in other hands", style="red")
        else:
            text = Text(f"{one.running} running" if one.id else "starting", style="green")
        table.add_row(f"worker {one.number}", Text(f"pid {one.pid}", style="dim"), text)
    return table


def _event_style(event: str) -> str:
    if " killed " in event:
        return "bold red"
    return "yellow" if "taken up again" in event else "dim"
