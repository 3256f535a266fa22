"""Documentation is tested: settings, promises and the walk are as written."""

from __future__ import annotations

import importlib
import re
import tomllib
from importlib.metadata import requires
from pathlib import Path
from typing import Any

import pytest
from pydantic_settings import BaseSettings

from tenure.testing.conformance import kept_promises
from tests.support.guides import BadGuide, check, first_example
from tests.support.settings import all_settings, names_of

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
SOURCE = ROOT / "src" / "tenure"
ALL_SETTINGS = all_settings()
EXAMPLES = ROOT / "examples"
GUIDES = [ROOT / "README.md", *sorted(DOCS.glob("guides/*.md")), DOCS / "schedules.md"]
STEP = re.compile(r"^\| `([\w/]+\.py)` \| `([\w.]+)` \|", re.MULTILINE)


@pytest.mark.parametrize("settings", ALL_SETTINGS)
def test_every_setting_is_listed_with_its_default(settings: type[BaseSettings]) -> None:
    text = (DOCS / "settings.md").read_text()
    for name, field in settings.model_fields.items():
        variable = variable_of(settings, name)
        row = re.search(rf"^\| `{variable}` \| ([^|]+) \|", text, re.MULTILINE)
        assert row, f"{variable} is missing in docs/settings.md"
        shown = row[1].strip().strip("`")
        if isinstance(field.default, float):
            assert shown == f"{field.default:g}", name
        elif isinstance(field.default, int | str) and not isinstance(field.default, bool):
            assert shown == (str(field.default) or "empty"), name


def test_no_setting_is_listed_that_does_not_exist() -> None:
    text = (DOCS / "settings.md").read_text()
    listed = set(re.findall(r"^\| `((?:TENURE|WORKER|BPC|OUTBOX|PDF)_\w+)` \|", text, re.M))
    known = {
        variable_of(settings, name) for settings in ALL_SETTINGS for name in settings.model_fields
    }

    assert listed == known


def variable_of(settings: type[BaseSettings], name: str) -> str:
    """A setting's variable: its prefix and name, or the whole name that it was given."""
    return names_of(settings, name)[0]


def steps() -> list[tuple[str, str]]:
    return STEP.findall((DOCS / "walk.md").read_text())


def find(path: str, name: str) -> Any:
    module = importlib.import_module("tenure." + path.removesuffix(".py").replace("/", "."))
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part)
    return found


def test_the_walk_names_functions_that_exist() -> None:
    assert len(steps()) > 20
    for path, name in steps():
        assert find(path, name), f"{path} has no {name}"


def test_the_walk_names_files_that_exist() -> None:
    """Also those that are named in the text only."""
    named = set(re.findall(r"`([\w/]+\.py)`", (DOCS / "walk.md").read_text()))

    missing = {path for path in named - {"tests/test_docs.py"} if not (SOURCE / path).exists()}
    assert missing == set()


def test_the_walk_reads_in_3000_lines() -> None:
    """Whole files count, not the functions alone: that is what a reader has to open."""
    files = {path for path, _ in steps()}
    lengths = {path: len((ROOT / "src/tenure" / path).read_text().splitlines()) for path in files}

    assert sum(lengths.values()) <= 3_000, sorted(lengths.items(), key=lambda one: -one[1])


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_the_first_example_of_every_guide_runs(page: Path, tmp_path: Path) -> None:
    check(first_example(page), tmp_path)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("# Mails\n\nThey are sent.\n", "has no example"),
        ("# Mails\n\n```sql\nselect 1\n```\n", "starts with a sql block"),
        ("# Mails\n\n```python\nprint(1)\n```\n", "what it prints"),
        ("# Mails\n\n## Options\n\n```console\n$ true\n```\n", "after one or two sentences"),
    ],
)
def test_a_guide_without_an_example_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    page = tmp_path / "mails.md"
    page.write_text(text)

    with pytest.raises(BadGuide, match=problem):
        first_example(page)


@pytest.mark.parametrize(
    "text",
    [
        "```python\nprint(1)\n```\n\n```text\n2\n```\n",
        "```python\nprint(1)\nraise SystemExit(1)\n```\n\n```text\n1\n```\n",
        "```console\n$ echo one\none\n$ echo two\none\n```\n",
        "```console\n$ false\n```\n",
    ],
)
def test_an_example_that_does_something_else_fails(tmp_path: Path, text: str) -> None:
    page = tmp_path / "mails.md"
    page.write_text(text)

    with pytest.raises(AssertionError):
        check(first_example(page), tmp_path)


def test_every_setting_is_described_as_in_its_class() -> None:
    text = (DOCS / "settings.md").read_text()
    for settings in ALL_SETTINGS:
        for name, field in settings.model_fields.items():
            variable = variable_of(settings, name)
            assert field.description, f"{variable} has no description"
            row = re.search(rf"^\| `{variable}` \|.*\| ([^|]+) \|$", text, re.MULTILINE)
            assert row and row[1] == " ".join(field.description.split()).rstrip("."), variable


@pytest.mark.parametrize("name", ["README.md", "docs/store-contract.md", "docs/guides/deploy.md"])
def test_it_says_plainly_which_of_the_two_is_tested(name: str) -> None:
    assert "MariaDB is tested; MySQL 8 is not" in (ROOT / name).read_text()


def test_the_extra_for_mysql_brings_what_its_usual_passwords_need() -> None:
    """Over a line without TLS, caching_sha2_password encrypts with the server's RSA key."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    assert project["optional-dependencies"]["mysql"] == ["PyMySQL[rsa]"]
    brought = [one for one in requires("PyMySQL") or [] if one.endswith('extra == "rsa"')]
    assert [one for one in brought if one.startswith("cryptography")]


def test_links_between_documents_lead_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *EXAMPLES.rglob("*.md")]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_promise_has_tests_and_every_tested_promise_is_listed() -> None:
    text = (DOCS / "store-contract.md").read_text()
    rows = re.findall(r"^\| (\d+) \| .* \| ([^|]+) \|$", text, re.MULTILINE)

    assert [int(number) for number, _ in rows] == list(range(1, 22))
    assert {int(number) for number, judge in rows if "suite" in judge} == kept_promises()
    assert {int(number) for number, judge in rows if "to come" in judge} == set()
