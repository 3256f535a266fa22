"""Serves the files of the page."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from fastapi import FastAPI, Request, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from tenure.dashboard.joined import join_modules, join_styles, to_shell
from tenure.dashboard.packed_answers import PackedAnswers
from tenure.dashboard.page_file import PageFile, answer_with, wants_page

FILES = files("tenure.dashboard") / "files"
FIRST = "index.html"
SAMPLE = "sample.json"
# What people open, reload and pass on. Each is the same page, which draws what its address says.
ADDRESSES = (
    "/", "/jobs", "/jobs/{job}", "/failures", "/queues", "/workers", "/kinds", "/schedules",
    "/outbox", "/tenants", "/audit", "/docs", "/new", "/flow/{job}", "/screens/{feature}/{screen}",
)  # fmt: skip


def install_page(api: FastAPI) -> None:
    """The page at `/`, its files under `/page/`. They are the same for everybody and say nothing
    of any job, so nobody is asked who they are; whatever the page draws, the API decides.
    """
    served = page_files()
    page = served.pop(FIRST)
    for address in ADDRESSES:
        _add(api, address, page)
    for name, file in served.items():
        _add(api, f"/page/{name}", file)
    api.router.default = _PageOrProblem(api.router.default, page)
    api.add_middleware(PackedAnswers)


def _add(api: FastAPI, path: str, file: PageFile) -> None:
    api.add_api_route(
        path,
        answer_with(file),
        methods=["GET", "HEAD"],
        include_in_schema=False,
        response_class=Response,
    )


class _PageOrProblem:
    """An address that does not exist: the page says so to people, other clients get the problem."""

    def __init__(self, otherwise: ASGIApp, page: PageFile) -> None:
        self._otherwise = otherwise
        self._answer = answer_with(page, status=404)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not wants_page(request := Request(scope)):
            await self._otherwise(scope, receive, send)
            return
        answer = await self._answer(request)
        await answer(scope, receive, send)


def sample_jobs() -> list[dict[str, Any]]:
    """The bodies of `POST /api/jobs` that the page's button and `tenure up --demo` add."""
    found: list[dict[str, Any]] = json.loads((FILES / SAMPLE).read_bytes())
    return found


@cache
def source_files() -> dict[str, bytes]:
    """What is in the folder, by path."""
    found = {}
    folders = [("", FILES)]
    while folders:
        prefix, folder = folders.pop()
        for one in folder.iterdir():
            name = f"{prefix}{one.name}"
            if one.is_dir():
                folders.append((f"{name}/", one))
            else:
                found[name] = one.read_bytes()
    return dict(sorted(found.items()))


@cache
def _served() -> dict[str, PageFile]:
    """Modules of the shell and sheets of styles are joined: a browser asks for one file of each."""
    sources = source_files()
    text = {name: body.decode() for name, body in sources.items() if name.endswith((".js", ".css"))}
    shell = {name: body for name, body in text.items() if name.startswith("shell/")}
    styles = [body for name, body in text.items() if name.startswith("style/")]
    made = {"shell.js": join_modules(shell).encode(), "style.css": join_styles(styles).encode()}
    for name, body in sources.items():
        if name in shell or name.startswith("style/") or name.endswith(".txt"):
            continue
        own = name.endswith(".js") and not name.startswith("vendor/")
        made[name] = to_shell(text[name]).encode() if own else body
    return {name: PageFile.read(name, body) for name, body in made.items()}


def page_files() -> dict[str, PageFile]:
    """What is served, by path under `/page/`; `index.html` is served at `ADDRESSES`."""
    return dict(_served())
