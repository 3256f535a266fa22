"""Loads named queries from `.sql` files and turns `:name` into a driver's parameter style.

-- name: x      a query; statements separated by `;` at a line's end are its steps
-- fragment: x  text that queries include as {x}; {now}, {clock}: the time; {where}: the filter
-- each         (below a name) run once per row of the batch instead of once for all
-- together     (below a name) as `each`, but one round trip for many rows (MySQL)
-- counted      (below a name) changes `:ids`; which of them need be asked only if it was not all
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files

from tenure.core.errors import StoreError

HEADER = re.compile(r"^-- (name|fragment): (\w+)$", re.MULTILINE)
INCLUDE = re.compile(r"\{(\w+)\}")
PARAMETER = re.compile(r"(?<![:\w]):([a-z_]\w*)")
CLOCK_PARAMETER = ":clock_now"
MARKS = ("each", "counted", "together")


@dataclass(frozen=True, slots=True)
class Query:
    """One named query: its steps, in the order in which they run."""

    name: str
    steps: tuple[str, ...]
    each: bool = False
    counted: bool = False
    together: bool = False


class UnknownQuery(StoreError):
    """No `.sql` file defines a query of this name."""

    code = "unknown_query"
    retryable = False

    def __init__(self, name: str, known: Iterable[str]) -> None:
        feature, dot, query = name.rpartition(".")
        prefix = f"{feature}{dot}"
        # Names with a dot are those of features, which must not be offered for the engine's.
        names = sorted(
            one.removeprefix(prefix)
            for one in known
            if one.startswith(prefix) and ("." in one) == bool(feature)
        )
        whose = f"the feature {feature!r} has" if feature else "there is"
        super().__init__(f"{whose} no query {query!r}; known: {', '.join(names) or 'none'}")


class Queries:
    """The queries of one dialect, with its fragments put in."""

    def __init__(self, texts: Mapping[str, str], *, bound_clock: bool = False) -> None:
        self._fragments: dict[str, str] = {}
        self._queries: dict[str, Query] = {}
        for text in texts.values():
            self._read(text)
        if bound_clock:
            self._fragments |= {"now": CLOCK_PARAMETER, "clock": CLOCK_PARAMETER}
        self._cache: dict[tuple[str, tuple[str, ...]], Query] = {}

    @property
    def names(self) -> frozenset[str]:
        """Every query and fragment that is defined."""
        return frozenset(self._queries) | frozenset(self._fragments)

    @property
    def queries(self) -> frozenset[str]:
        """Every query that is defined."""
        return frozenset(self._queries)

    def include(self, prefix: str, texts: Mapping[str, str]) -> None:
        """The queries of a feature, as `prefix.name`: they may have the names of others.

        Its own fragments are put in here; {now} and the other fragments of the dialect stay open.
        """
        own = Queries(texts)
        for query in own._queries.values():
            steps = tuple(_put(step, own._fragments) for step in query.steps)
            name = f"{prefix}.{query.name}"
            self._queries[name] = replace(query, name=name, steps=steps)

    def get(self, name: str, where: tuple[str, ...] = ()) -> Query:
        """A query ready to run, its conditions in place."""
        found = self._cache.get((name, where))
        if found is None:
            raw = self._queries.get(name)
            if raw is None:
                raise UnknownQuery(name, self._queries)
            conditions = " ".join(self._fragments[f"where_{part}"] for part in where)
            steps = tuple(self._fill(step, conditions) for step in raw.steps)
            found = self._cache[name, where] = replace(raw, steps=steps)
        return found

    def _fill(self, text: str, conditions: str) -> str:
        def put(match: re.Match[str]) -> str:
            name = match.group(1)
            return conditions if name == "where" else self._fragments[name]

        while INCLUDE.search(text):
            text = INCLUDE.sub(put, text)
        return text

    def _read(self, text: str) -> None:
        for word, name, body in _sections(text):
            lines = body.splitlines()
            statement = "\n".join(line for line in lines if not line.startswith("--")).strip()
            if word == "fragment":
                self._fragments[name] = statement
                continue
            steps = tuple(step.strip() for step in re.split(r";\s*(?:\n|$)", statement) if step)
            marks = {mark: f"-- {mark}" in lines for mark in MARKS}
            self._queries[name] = Query(name, steps, **marks)


def _put(text: str, fragments: Mapping[str, str]) -> str:
    """The text with these fragments in place, and those inside them."""
    while any(match[1] in fragments for match in INCLUDE.finditer(text)):
        text = INCLUDE.sub(lambda match: fragments.get(match[1], match[0]), text)
    return text


def _sections(text: str) -> Iterator[tuple[str, str, str]]:
    heads = list(HEADER.finditer(text))
    for head, following in zip(heads, [*heads[1:], None], strict=True):
        yield head[1], head[2], text[head.end() : following.start() if following else len(text)]


def read_sql(package: str) -> dict[str, str]:
    """Every `.sql` file beside a dialect's module, by file name."""
    found = [entry for entry in files(package).iterdir() if entry.name.endswith(".sql")]
    return {entry.name: entry.read_text("utf-8") for entry in sorted(found, key=lambda e: e.name)}


@lru_cache(maxsize=2048)
def to_pyformat(sql: str) -> str:
    """`:name` as `%(name)s`; a percent sign that is meant is doubled."""
    return PARAMETER.sub(r"%(\1)s", sql.replace("%", "%%"))


@lru_cache(maxsize=2048)
def to_numbered(sql: str) -> tuple[str, tuple[str, ...]]:
    """`:name` as `$1`, with the names in the order of their numbers."""
    order: dict[str, int] = {}

    def number(match: re.Match[str]) -> str:
        return f"${order.setdefault(match.group(1), len(order) + 1)}"

    return PARAMETER.sub(number, sql), tuple(order)
