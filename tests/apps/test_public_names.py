"""Applications use public names only: what they need and cannot import is missing in the API."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

APPS = Path(__file__).parent.parent.parent / "apps"
PUBLIC = ("tenure", "tenure.feature", "tenure.api", "tenure.api.kit", "tenure.cli.kit",
          "tenure.testing", "tenure.worker", "tenure.asgi")  # fmt: skip
FILES = sorted(APPS.rglob("*.py"))


def imports(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Modules of Tenure, and the names that are taken from them."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "tenure":
            yield str(node.module), [alias.name for alias in node.names]
        if isinstance(node, ast.Import):
            yield from ((one.name, []) for one in node.names if one.name.split(".")[0] == "tenure")


def is_public(module: str) -> bool:
    """A feature's own `__init__` is public, the modules inside it are not."""
    parts = module.split(".")
    return module in PUBLIC or (parts[:2] == ["tenure", "features"] and len(parts) == 3)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(APPS).as_posix())
def test_an_application_imports_public_names_only(path: Path) -> None:
    for module, names in imports(path):
        assert is_public(module), f"{path} imports {module}"
        exported = importlib.import_module(module).__all__
        assert set(names) <= set(exported), f"{module} does not export what {path} takes"


def test_the_walk_finds_the_applications() -> None:
    assert {path.relative_to(APPS).parts[0] for path in FILES} == {
        path.parent.name for path in APPS.glob("*/pyproject.toml")
    }
