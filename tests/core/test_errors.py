"""The error tree: each has a code of its own and a sentence of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tenure.core import capability, endings, errors, refusals
from tenure.core.errors import TenureError
from tenure.jobs import reference

OURS = tuple(module.__name__ for module in (errors, refusals, capability, endings, reference))


def family(kind: type[TenureError]) -> Iterator[type[TenureError]]:
    yield kind
    for child in kind.__subclasses__():
        if child.__module__ in OURS:
            yield from family(child)


def test_every_error_has_its_own_code() -> None:
    codes = [kind.code for kind in family(TenureError)]

    assert len(codes) == len(set(codes))


def test_every_error_has_a_sentence() -> None:
    for kind in family(TenureError):
        assert kind.__doc__, kind
        assert "code" in vars(kind), kind


def test_the_tree_at_the_top_names_every_error() -> None:
    drawn = re.findall(r"[├└]── (\w+)", errors.__doc__ or "")

    assert sorted(drawn) == sorted(k.__name__ for k in family(TenureError) if k is not TenureError)
