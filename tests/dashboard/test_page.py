"""The files of the page: served with strict headers, nothing from elsewhere, nothing inline."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tenure import Tenure
from tenure.api import create_api
from tenure.api.kit.shapes.jobs import NewJobInput
from tenure.cli.up.sample_app import app as sample_app
from tenure.dashboard import install_page, sample_jobs
from tenure.dashboard.page import FILES, page_files
from tests.api.conftest import listening

NAMES = sorted(file.name for file in FILES.iterdir())
TEXT = {name: (FILES / name).read_text() for name in NAMES}


@pytest.fixture
def client(tmp_path: Path) -> Iterator[httpx.Client]:
    engine = Tenure(f"sqlite:///{tmp_path / 'jobs.db'}")
    api = create_api(engine)
    install_page(api)
    with listening(api) as url, httpx.Client(base_url=url) as client:
        yield client
    engine.close()


def path_of(name: str) -> str:
    return "/" if name == "index.html" else f"/page/{name}"


@pytest.mark.parametrize("name", NAMES)
def test_every_file_is_served_with_a_policy_that_forbids_the_rest(
    client: httpx.Client, name: str
) -> None:
    answer = client.get(path_of(name))

    assert answer.status_code == 200
    assert answer.text == TEXT[name]
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize(
    ("name", "media_type"),
    [("index.html", "text/html"), ("app.js", "text/javascript"), ("style.css", "text/css"),
     ("logo.svg", "image/svg+xml"), ("sample.json", "application/json")],
)  # fmt: skip
def test_browsers_are_told_what_a_file_is(client: httpx.Client, name: str, media_type: str) -> None:
    assert client.get(path_of(name)).headers["content-type"].partition(";")[0] == media_type


def test_a_file_that_the_browser_has_is_not_sent_again(client: httpx.Client) -> None:
    tag = client.get("/").headers["etag"]

    again = client.get("/", headers={"if-none-match": tag})
    changed = client.get("/", headers={"if-none-match": '"another"'})

    assert (again.status_code, again.content) == (304, b"")
    assert changed.status_code == 200


def test_the_page_is_no_part_of_the_api_document(client: httpx.Client) -> None:
    paths = client.get("/openapi.json").json()["paths"]

    assert not [path for path in paths if path == "/" or path.startswith("/page")]


def test_there_is_nothing_inline_and_nothing_from_elsewhere() -> None:
    page = TEXT["index.html"]

    assert re.findall(r"<script[^>]*>(.*?)</script>", page, re.DOTALL) == [""]
    assert not re.search(r"<style|\sstyle=|\son\w+=", page)
    for name in NAMES:
        if name != "logo.svg":
            assert not re.search(r"https?://", TEXT[name]), name


def test_text_is_never_made_into_markup() -> None:
    sinks = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|Function\(")
    for name in NAMES:
        assert not sinks.search(TEXT[name]), name


def test_every_file_that_is_named_is_there() -> None:
    named = {found for text in TEXT.values() for found in re.findall(r'"/page/([\w.]+)"', text)}
    imported = {
        found for text in TEXT.values() for found in re.findall(r'from "\./([\w.]+)"', text)
    }

    assert named | imported | {"index.html"} == set(page_files())


def test_the_sample_jobs_fit_the_api_and_the_sample_app() -> None:
    jobs = [NewJobInput.model_validate(body) for body in sample_jobs()]

    assert {job.kind for job in jobs} <= set(sample_app.handlers.kinds)
    assert any(job.delay_seconds for job in jobs)
