"""Shards: every tenant is in exactly one, and stays there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure import OptionError
from tenure.core.rules.shard import Shard, bucket


@given(st.text(), st.integers(1, 256))
def test_a_tenant_is_in_exactly_one_shard(tenant: str, count: int) -> None:
    tenant = tenant.encode("utf-8", "ignore").decode()

    assert sum(Shard(index, count).has(tenant) for index in range(count)) == 1


def test_buckets_are_for_ever() -> None:
    assert [bucket(name) for name in ("", "acme", "globex")] == [0, 62, 250]
    assert Shard(0, 1).has("anybody")


@pytest.mark.parametrize(("index", "count"), [(1, 1), (-1, 2), (0, 0), (0, 257)])
def test_a_shard_that_cannot_be_is_refused(index: int, count: int) -> None:
    with pytest.raises(OptionError, match="there is no shard"):
        Shard(index, count)
