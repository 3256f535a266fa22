"""What `tenure up` says first: where to look, and how to get in."""

from __future__ import annotations

import os
import shlex
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from importlib.metadata import version
from urllib.parse import urlsplit

import typer

from tenure.access.links import login_link
from tenure.access.settings import IdentitySettings
from tenure.api.kit.identity.loopback import is_loopback
from tenure.app import Tenure
from tenure.cli.kit.listening_socket import base_url

ACTOR = "tenure up"


def welcome(
    engine: Tenure, listening: socket.socket, *, may_open: bool, usual: str
) -> Callable[[], None]:
    """To be called when it answers. The links are made here, where a database may be asked.

    `usual` is the database of commands that name none.
    """
    base = base_url(listening)
    known = is_loopback(listening.getsockname()[0])
    another = "tenure keys link NAME --permission admin" + _option(engine.url, usual)
    first = _local(engine, base, another) if known else _reachable(base, another)
    lines = [*first, *_rest(engine, base)]
    opens = known and may_open and _has_screen()
    own = login_link(engine, base, actor=ACTOR) if opens else None

    def greet() -> None:
        typer.echo("\n".join(lines))
        if own is not None:  # a link of its own: the printed one stays good
            threading.Thread(target=webbrowser.open, args=(own,), daemon=True).start()

    return greet


def _local(engine: Tenure, base: str, another: str) -> list[str]:
    link = login_link(engine, base, actor=ACTOR)
    minutes = IdentitySettings().login_link_seconds / 60
    return [
        _title(),
        f"  open    {typer.style(link, bold=True)}",
        f"          good once, for {minutes:g} minutes; another: {another} --base-url {base}",
    ]


def _reachable(base: str, another: str) -> list[str]:
    return [
        _title(),
        f"  page    {base}/ (behind TLS: sessions elsewhere than on loopback need it)",
        f"  enter   {another} --base-url https://YOUR-NAME",
    ]


def _rest(engine: Tenure, base: str) -> list[str]:
    return [
        f"  API     {base}/api/jobs, described by {base}/openapi.json",
        f"  jobs    {_place(engine.url)}",
        "  stop    Ctrl-C: running jobs may finish; twice: they are given back at once",
        "",
    ]


def _title() -> str:
    return typer.style(f"Tenure {version('tenure')} is up", bold=True)


def _place(url: str) -> str:
    """Without user and password."""
    parts = urlsplit(url)
    host = "" if parts.hostname is None else parts.hostname
    return f"{parts.scheme}://{host}{parts.path}"


def _option(url: str, usual: str) -> str:
    """What a command must be told to reach the same database; a password is not shown."""
    if url == usual:
        return ""
    return f" --database {'URL' if urlsplit(url).username else shlex.quote(url)}"


def _has_screen() -> bool:
    """Somebody sits there, and a browser would open a window rather than take the terminal."""
    window = sys.platform == "darwin" or {"DISPLAY", "WAYLAND_DISPLAY"} & set(os.environ)
    return bool(window) and sys.stdout.isatty()
