"""Two sorted streams of rows side by side, and a checksum over a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import blake2b

from tenure.stores.sql.statement import Row

Pair = tuple[Row | None, Row | None]


def pairs(
    source: Iterator[Row], target: Iterator[Row], key: Callable[[Row], Row]
) -> Iterator[Pair]:
    """Rows with the same key together; None where one side has no such row."""
    left, right = next(source, None), next(target, None)
    while left is not None or right is not None:
        if right is None or (left is not None and key(left) < key(right)):
            yield left, None
            left = next(source, None)
        elif left is None or key(right) < key(left):
            yield None, right
            right = next(target, None)
        else:
            yield left, right
            left, right = next(source, None), next(target, None)


class Checksum:
    """Count and digest of rows: computed here, in the same way for every database."""

    def __init__(self) -> None:
        self.rows = 0
        self._digest = blake2b(digest_size=16)

    def add(self, row: Row) -> None:
        """In the order of the key. Whole numbers, texts, floats and None: all exact as text."""
        self.rows += 1
        self._digest.update(repr(row).encode("utf-8", "surrogatepass"))

    @property
    def digest(self) -> str:
        """So far."""
        return self._digest.hexdigest()
