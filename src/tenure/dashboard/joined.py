"""Joins the modules of the shell into one, when the API is made.

The shell is many small modules. As one file it is one request and compresses better, and it needs
no build: each module can still be read as it is. The modules share a scope once they are joined, so
their top-level names must differ; imports have the form `import { a, b } from "./c.js";`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from posixpath import basename

IMPORT = re.compile(r'^import \{([^}]*)\} from "([^"]+)";\n', re.MULTILINE)
SHELL = re.compile(r'from "(?:\.\./shell|\./shell)/\w+\.js"')


def join_modules(modules: Mapping[str, str]) -> str:
    """One module that exports what they export. Those that others need come first."""
    by_name = {basename(path): text for path, text in modules.items()}
    outside: dict[str, list[str]] = {}
    bodies = []
    for name in _in_order(by_name):
        for names, source in IMPORT.findall(by_name[name]):
            if not source.startswith("./"):
                outside.setdefault(source.removeprefix("../"), []).extend(_names(names))
        bodies.append(IMPORT.sub("", by_name[name]).strip())
    heads = [
        f'import {{ {", ".join(dict.fromkeys(names))} }} from "./{source}";'
        for source, names in outside.items()
    ]
    return "\n".join([*heads, *bodies]) + "\n"


def _in_order(modules: Mapping[str, str]) -> list[str]:
    done: dict[str, None] = {}

    def visit(name: str, path: tuple[str, ...]) -> None:
        if name in path:
            raise ValueError(f"modules of the page need each other: {' -> '.join((*path, name))}")
        if name in done:
            return
        for _, source in IMPORT.findall(modules[name]):
            if source.startswith("./"):
                visit(source.removeprefix("./"), (*path, name))
        done[name] = None

    for name in modules:
        visit(name, ())
    return list(done)


def _names(text: str) -> Iterable[str]:
    return (name.strip() for name in text.split(",") if name.strip())


def to_shell(text: str) -> str:
    """Another module of the page: what it takes from modules of the shell is in the joined one."""
    return SHELL.sub('from "/page/shell.js"', text)


def join_styles(sheets: Iterable[str]) -> str:
    """In the order of their names."""
    return "\n".join(sheet.strip() for sheet in sheets) + "\n"
