"""What moving a database brings to an app: one command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tenure.feature import Feature


class TransferFeature(Feature):
    """The feature `transfer`."""

    name = "transfer"

    def commands(self) -> Mapping[str, Any]:
        """`tenure move`."""
        from tenure.features.transfer.cli import move

        return {"move": move}
