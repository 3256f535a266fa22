"""The first lines of `tenure up`: addresses and a login link."""

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
    """A function that prints the welcome, to be called once requests are served.

    The links are created here, before the event loop runs, because that needs the database.
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
        if own is not None:  # a separate link: the printed one stays unused
            threading.Thread(target=webbrowser.open, args=(own,), daemon=True).start()

    return greet


def _local(engine: Tenure, base: str, another: str) -> list[str]:
    link = login_link(engine, base, actor=ACTOR)
    minutes = f"{IdentitySettings().login_link_seconds / 60:g} minutes"
    return [
        _title(),
        f"  open    {typer.style(link, bold=True)}",
        f"          single use, valid for {minutes}; another: {another} --base-url {base}",
    ]


def _reachable(base: str, another: str) -> list[str]:
    return [
        _title(),
        f"  open    {base}/ (through a TLS proxy: sessions need TLS outside loopback)",
        f"  log in  {another} --base-url https://YOUR-NAME",
    ]


def _rest(engine: Tenure, base: str) -> list[str]:
    return [
        f"  API     {base}/api/jobs, described in {base}/openapi.json",
        f"  jobs    {_place(engine.url)}",
        "  stop    Ctrl-C; running jobs may finish. Press it twice to stop at once",
        "",
    ]


def _title() -> str:
    return typer.style(f"Tenure {version('tenure')} is up", bold=True)


def _place(url: str) -> str:
    """The URL without user and password."""
    parts = urlsplit(url)
    host = "" if parts.hostname is None else parts.hostname
    return f"{parts.scheme}://{host}{parts.path}"


def _option(url: str, usual: str) -> str:
    """The --database option that reaches the same database. A password is not shown."""
    if url == usual:
        return ""
    return f" --database {'URL' if urlsplit(url).username else shlex.quote(url)}"


def _has_screen() -> bool:
    """Whether a person is at a terminal and a browser would open in its own window."""
    window = sys.platform == "darwin" or {"DISPLAY", "WAYLAND_DISPLAY"} & set(os.environ)
    return bool(window) and sys.stdout.isatty()
