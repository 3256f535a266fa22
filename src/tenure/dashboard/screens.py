"""The screens of features: plain files under `/features/FEATURE/SCREEN/`, and the list of them."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Response

from tenure.dashboard.page_file import PageFile, answer_with
from tenure.feature import Feature, FeatureError, Screen

FIRST = "index.html"
LIST = "/features/screens.json"


def add_screens(api: FastAPI, feature: Feature) -> None:
    """Files are the same for everybody and say nothing of any job, so nobody is asked who they are;
    what a screen draws comes from the feature's routes, which ask.
    """
    known = _known(api)
    for screen in feature.screens:
        base = f"/features/{feature.name}/{screen.name}/"
        for name, file in _files(feature, screen).items():
            _add(api, base if name == FIRST else base + name, file)
        known.append({"feature": feature.name, "title": screen.title, "path": base})


def _known(api: FastAPI) -> list[dict[str, str]]:
    if not hasattr(api.state, "screens"):
        api.state.screens = []

        async def list_screens() -> list[dict[str, str]]:
            """For the page's own navigation."""
            found: list[dict[str, str]] = api.state.screens
            return found

        api.add_api_route(LIST, list_screens, methods=["GET"], include_in_schema=False)
    found: list[dict[str, str]] = api.state.screens
    return found


def _files(feature: Feature, screen: Screen) -> dict[str, PageFile]:
    """Read when the API is made: a request names no path on the disk."""
    found = {
        one.relative_to(screen.folder).as_posix(): PageFile.read(one.name, one.read_bytes())
        for one in sorted(screen.folder.rglob("*"))
        if one.is_file()
    }
    if FIRST not in found:
        raise FeatureError(
            f"the screen {screen.name!r} of the feature {feature.name!r} has no {FIRST} in "
            f"{screen.folder}"
        )
    return found


def _add(api: FastAPI, path: str, file: PageFile) -> None:
    answer: Any = answer_with(file)
    api.add_api_route(
        path, answer, methods=["GET", "HEAD"], include_in_schema=False, response_class=Response
    )
