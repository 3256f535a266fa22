"""Serves the files of the page."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from fastapi import FastAPI, Response

from tenure.dashboard.page_file import PageFile, answer_with

FILES = files("tenure.dashboard") / "files"
FIRST = "index.html"
SAMPLE = "sample.json"


def install_page(api: FastAPI) -> None:
    """The page at `/`, its files under `/page/`. They are the same for everybody and say nothing
    of any job, so nobody is asked who they are; whatever the page draws, the API decides.
    """
    for name, file in page_files().items():
        path = "/" if name == FIRST else f"/page/{name}"
        api.add_api_route(
            path,
            answer_with(file),
            methods=["GET", "HEAD"],
            include_in_schema=False,
            response_class=Response,
        )


def sample_jobs() -> list[dict[str, Any]]:
    """The bodies of `POST /api/jobs` that the page's button and `tenure up --demo` add."""
    found: list[dict[str, Any]] = json.loads((FILES / SAMPLE).read_bytes())
    return found


def page_files() -> dict[str, PageFile]:
    """By name."""
    return {file.name: PageFile.read(file.name, file.read_bytes()) for file in FILES.iterdir()}
