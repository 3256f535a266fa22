"""The files of the page: served with strict headers, nothing from elsewhere, nothing inline."""

from __future__ import annotations

import hashlib
import json
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
from tenure.dashboard.joined import join_modules
from tenure.dashboard.page import ADDRESSES, page_files, source_files
from tests.api.conftest import listening

SOURCES = {name: body.decode() for name, body in source_files().items()}
OWN = {
    name: text
    for name, text in SOURCES.items()
    if not name.startswith("vendor/") and name != "logo.svg"
}
SERVED = sorted(set(page_files()) - {"index.html"})
HERE = Path(__file__).parent
VENDORED = [HERE.parent.parent / "src/tenure/dashboard/files/vendor", HERE / "vendor"]
PAGE = {"accept": "text/html,*/*"}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    engine = Tenure(f"sqlite:///{tmp_path_factory.mktemp('page') / 'jobs.db'}")
    api = create_api(engine)
    install_page(api)
    with listening(api) as url, httpx.Client(base_url=url) as client:
        yield client
    engine.close()


@pytest.mark.parametrize("address", [*ADDRESSES, *(f"/page/{name}" for name in SERVED)])
def test_every_file_is_served_with_a_policy_that_forbids_the_rest(
    client: httpx.Client, address: str
) -> None:
    answer = client.get(address)

    name = address.removeprefix("/page/") if address.startswith("/page/") else "index.html"
    assert (answer.status_code, answer.content) == (200, page_files()[name].body)
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert "require-trusted-types-for 'script'; trusted-types 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize(
    ("address", "media_type"),
    [("/", "text/html"), ("/page/shell.js", "text/javascript"), ("/page/style.css", "text/css"),
     ("/page/logo.svg", "image/svg+xml"), ("/page/sample.json", "application/json")],
)  # fmt: skip
def test_browsers_are_told_what_a_file_is(
    client: httpx.Client, address: str, media_type: str
) -> None:
    assert client.get(address).headers["content-type"].partition(";")[0] == media_type


def test_a_file_that_the_browser_has_is_not_sent_again(client: httpx.Client) -> None:
    tag = client.get("/").headers["etag"]

    again = client.get("/", headers={"if-none-match": tag})
    changed = client.get("/", headers={"if-none-match": '"another"'})

    assert (again.status_code, again.content) == (304, b"")
    assert changed.status_code == 200


def test_files_are_packed_for_those_who_can_unpack_them(client: httpx.Client) -> None:
    packed = client.get("/page/shell.js", headers={"accept-encoding": "gzip"})
    plain = client.get("/page/shell.js", headers={"accept-encoding": "identity"})

    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert int(packed.headers["content-length"]) < 0.5 * int(plain.headers["content-length"])
    assert packed.content == plain.content
    assert packed.headers["vary"] == "accept-encoding"


def test_an_unknown_address_is_a_page_for_people_and_a_problem_for_programs(
    client: httpx.Client,
) -> None:
    person = client.get("/nothing", headers=PAGE)
    program = client.get("/nothing", headers={"accept": "application/json"})
    change = client.post("/nothing", headers=PAGE)

    assert (person.status_code, person.headers["content-type"][:9]) == (404, "text/html")
    for answer in (program, change):
        assert answer.status_code == 404
        assert answer.headers["content-type"] == "application/problem+json"


def test_the_page_is_no_part_of_the_api_document(client: httpx.Client) -> None:
    paths = client.get("/openapi.json").json()["paths"]

    assert not set(paths) & set(ADDRESSES)
    assert not [path for path in paths if path.startswith("/page")]


def test_there_is_nothing_inline_and_nothing_from_elsewhere() -> None:
    page = OWN["index.html"]

    assert re.findall(r"<script[^>]*>(.*?)</script>", page, re.DOTALL) == [""]
    assert not re.search(r"<style|\sstyle=|\son\w+=", page)
    for name, text in OWN.items():
        assert not re.search(r"https?://", text), name


def test_text_is_never_made_into_markup() -> None:
    sinks = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|Function\(|dangerously"
    )
    for name, text in OWN.items():
        assert not sinks.search(text), name


def test_every_file_that_is_named_is_there_and_every_file_is_used() -> None:
    named = set(re.findall(r'"/page/([\w./]+)"', OWN["index.html"]))
    for name, body in page_files().items():
        text = body.body.decode(errors="replace")
        folder = name.rpartition("/")[0]
        if name.endswith(".js") and not name.startswith("vendor/"):
            named |= {found for found in re.findall(r'"/page/([\w./]+)"', text)}
            for found in re.findall(r'from "(\.[\w./]+)"', text):
                named.add(str((Path("/") / folder / found).resolve().relative_to("/")))
    screens = set(re.findall(r'module: "(\w+)"', OWN["shell/screens.js"]))
    named |= {f"screens/{screen}.js" for screen in screens}
    named |= {f"parts/{overlay}.js" for overlay in ("palette", "help")}

    assert named | {"index.html", "vendor/vendor.json"} == set(page_files())


def test_modules_are_small_enough_to_be_read() -> None:
    for name, text in OWN.items():
        assert len(text.splitlines()) <= 250, name


def test_joined_modules_come_in_the_order_of_their_needs() -> None:
    joined = join_modules({
        "shell/a.js": 'import { b } from "./b.js";\nimport { x, y } from "../vendor/ui.js";\n'
        "export const a = b + x + y;\n",
        "shell/b.js": 'import { x } from "../vendor/ui.js";\nexport const b = x;\n',
    })  # fmt: skip

    assert joined.splitlines() == [
        'import { x, y } from "./vendor/ui.js";',
        "export const b = x;",
        "export const a = b + x + y;",
    ]


def test_modules_that_need_each_other_are_refused() -> None:
    with pytest.raises(ValueError, match=r"a\.js -> b\.js -> a\.js"):
        join_modules({
            "shell/a.js": 'import { b } from "./b.js";\n',
            "shell/b.js": 'import { a } from "./a.js";\n',
        })  # fmt: skip


def test_top_level_names_of_the_shell_differ() -> None:
    """They share a scope once they are joined."""
    declared = re.compile(
        r"^(?:export )?(?:async )?(?:function|const|let|class) (\w+)", re.MULTILINE
    )
    names = [
        name
        for path, text in OWN.items()
        if path.startswith("shell/")
        for name in declared.findall(text)
    ]

    assert sorted(set(names)) == sorted(names)


@pytest.mark.parametrize("folder", VENDORED, ids=["page", "tests"])
def test_vendored_files_are_those_that_were_reviewed(folder: Path) -> None:
    listed = json.loads((folder / "vendor.json").read_text())
    licences = (folder / "LICENSES.txt").read_text()

    assert {one["file"] for one in listed} == {file.name for file in folder.glob("*.js")}
    for one in listed:
        body = (folder / one["file"]).read_bytes()
        assert hashlib.sha256(body).hexdigest() == one["sha256"], one["file"]
        for part in one["madeOf"]:
            assert part["license"] in {"MIT", "Apache-2.0", "MPL-2.0"}
            assert f"{part['package']} {part['version']}\n" in licences


def test_the_sample_jobs_fit_the_api_and_the_sample_app() -> None:
    jobs = [NewJobInput.model_validate(body) for body in sample_jobs()]

    assert {job.kind for job in jobs} <= set(sample_app.handlers.kinds)
    assert any(job.delay_seconds for job in jobs)
