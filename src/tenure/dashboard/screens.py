"""The screens of features: modules under `/features/FEATURE/SCREEN/`, and the list of them."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Response
from starlette.routing import Match

from tenure.dashboard.page_file import PageFile, answer_with
from tenure.feature import Feature, FeatureError, Screen

LIST = "/features/screens.json"


def add_screens(api: FastAPI, feature: Feature) -> None:
    """Files are the same for everybody and say nothing of any job, so nobody is asked who they are;
    what a screen draws comes from the feature's routes, which ask.
    """
    known = _known(api)
    for screen in feature.screens:
        _check_reads(api, feature, screen)
        base = f"/features/{feature.name}/{screen.name}/"
        for name, file in _files(feature, screen).items():
            _add(api, base + name, file)
        known.append(
            {
                "feature": feature.name,
                "name": screen.name,
                "title": screen.title,
                "menu": screen.menu,
                "module": base + screen.module,
            }
        )


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


def _check_reads(api: FastAPI, feature: Feature, screen: Screen) -> None:
    """A screen that reads a missing route would fail in front of an operator."""
    for path in screen.reads:
        asked = {"type": "http", "method": "GET", "path": path, "root_path": "", "headers": []}
        if all(route.matches(asked)[0] is Match.NONE for route in api.routes):
            raise FeatureError(
                f"the screen {screen.name!r} of the feature {feature.name!r} reads {path}, "
                "which is not a route"
            )


def _files(feature: Feature, screen: Screen) -> dict[str, PageFile]:
    """Read when the API is made: a request names no path on the disk."""
    found = {
        one.relative_to(screen.folder).as_posix(): PageFile.read(one.name, one.read_bytes())
        for one in sorted(screen.folder.rglob("*"))
        if one.is_file()
    }
    if screen.module not in found:
        raise FeatureError(
            f"the screen {screen.name!r} of the feature {feature.name!r} has no {screen.module} in "
            f"{screen.folder}"
        )
    return found


def _add(api: FastAPI, path: str, file: PageFile) -> None:
    answer: Any = answer_with(file)
    api.add_api_route(
        path, answer, methods=["GET", "HEAD"], include_in_schema=False, response_class=Response
    )
