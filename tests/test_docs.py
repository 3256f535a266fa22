"""Documentation is tested: settings, promises and the walk are as written."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
import tomllib
from importlib.metadata import requires
from pathlib import Path
from typing import Any

import pytest
from pydantic_settings import BaseSettings

from tenure.testing.conformance import kept_promises
from tests.support.settings import all_settings, names_of

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
SOURCE = ROOT / "src" / "tenure"
ALL_SETTINGS = all_settings()
EXAMPLES = ROOT / "examples"
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


def run_first_example(page: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """The first program on a page, as a reader would run it."""
    code = re.search(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    assert code
    program = folder / "shop.py"
    program.write_text(code[1])
    return subprocess.run(
        [sys.executable, program], cwd=folder, capture_output=True, text=True, timeout=60
    )


def test_the_quick_start_of_the_readme_runs(tmp_path: Path) -> None:
    done = run_first_example(ROOT / "README.md", tmp_path)

    assert done.stdout == "{'file': '42.pdf'}\n", done.stderr


def test_the_example_of_the_outbox_runs(tmp_path: Path) -> None:
    done = run_first_example(DOCS / "guides" / "outbox.md", tmp_path)

    assert sorted(done.stdout.splitlines()) == [
        "FAILED tax.noted None NO_HANDLER: nobody subscribes to 'tax.noted': "
        "run a worker that does, then retry this",
        "SENT invoice.created mailer None",
        "SENT invoice.created tax None",
        "counted",
        "mail for 42 100",
    ], done.stderr


@pytest.mark.parametrize(
    ("guide", "said"),
    [
        ("transactions", ["the customer has left", "1 job ran", "[(1, 1)]"]),
        (
            "retries",
            [
                "succeeded shipped at attempt 1 ['succeeded']",
                "succeeded shipped at attempt 3 ['snoozed', 'error', 'error', 'succeeded']",
                "not_found None ['not_found']",
            ],
        ),
        ("testing", ["reminded of 42"]),
        ("features", ["Hello Ada", "friendly"]),
        (
            "hooks",
            [
                "the worker has 10 slots",
                "invoice.mail begins for acme",
                "mail 42 over smtp.example.com",
                "invoice.mail ended",
                "connection closed",
            ],
        ),
    ],
)
def test_the_example_of_a_guide_runs(tmp_path: Path, guide: str, said: list[str]) -> None:
    done = run_first_example(DOCS / "guides" / f"{guide}.md", tmp_path)

    assert done.stdout.splitlines() == said, done.stderr


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

    assert [int(number) for number, _ in rows] == list(range(1, 20))
    assert {int(number) for number, judge in rows if "suite" in judge} == kept_promises()
    assert {int(number) for number, judge in rows if "to come" in judge} == set()
