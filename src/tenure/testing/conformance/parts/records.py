"""Small records with optimistic versions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tenure.core.capability import Capability
from tenure.core.errors import VersionConflict
from tenure.stores.contract import Store
from tenure.stores.contract.parts import Record
from tenure.testing.conformance.actions import at_once

NEEDS = (Capability.RECORDS,)

DATA = {"text": "é🙂 % :x {y}", "list": [1, 2.5, None, True], "nested": {"a": {}}}


def record(name: str = "nightly", **options: object) -> Record:
    """A record of the collection `schedules`."""
    return Record(collection="schedules", name=name, **options)  # type: ignore[arg-type]


def test_a_record_is_found_as_it_was_put(store: Store) -> None:
    before = store.now()
    created = store.records.put(record(data=DATA))

    found = store.records.find("schedules", "nightly")
    assert created.version == 1
    assert found is not None
    assert (found.collection, found.name) == ("schedules", "nightly")
    assert (found.version, found.data) == (1, DATA)
    assert found.updated_at is not None
    assert before <= found.updated_at <= store.now()


def test_a_record_that_is_not_there_is_none(store: Store) -> None:
    store.records.put(record())

    assert store.records.find("schedules", "other") is None
    assert store.records.find("other", "nightly") is None


def test_many_records_are_found_by_name(store: Store) -> None:
    for name in ("nightly", "invoice.*", "é🙂", "other"):
        store.records.put(record(name, data={"of": name}))

    found = store.records.find_all("schedules", ["invoice.*", "é🙂", "nightly", "missing", "*"])

    assert {one.name: one.data["of"] for one in found} == {
        name: name for name in ("nightly", "invoice.*", "é🙂")
    }
    assert list(store.records.find_all("others", ["nightly"])) == []


def test_a_record_is_created_once(store: Store) -> None:
    store.records.put(record(data={"n": 1}))

    with pytest.raises(VersionConflict):
        store.records.put(record(data={"n": 2}))


def test_a_record_changes_only_over_the_version_that_was_read(store: Store) -> None:
    first = store.records.put(record(data={"n": 1}))
    second = store.records.put(replace(first, data={"n": 2}))
    assert second.version == 2

    with pytest.raises(VersionConflict):
        store.records.put(replace(first, data={"n": 3}))

    found = store.records.find("schedules", "nightly")
    assert found is not None
    assert (found.data, found.version) == ({"n": 2}, 2)


def test_the_same_data_again_is_a_new_version(store: Store) -> None:
    first = store.records.put(record(data={"n": 1}))

    assert store.records.put(first).version == 2


def test_a_record_that_is_gone_cannot_be_changed(store: Store) -> None:
    first = store.records.put(record())
    store.records.remove("schedules", "nightly")

    with pytest.raises(VersionConflict):
        store.records.put(first)


def test_of_many_writers_at_once_one_wins(store: Store) -> None:
    first = store.records.put(record())
    answers = at_once(6, lambda number: store.records.put(replace(first, data={"n": number})))

    assert sum(isinstance(answer, Record) for answer in answers) == 1
    assert sum(isinstance(answer, VersionConflict) for answer in answers) == 5


def test_of_many_creators_at_once_one_wins(store: Store) -> None:
    answers = at_once(6, lambda number: store.records.put(record(data={"n": number})))

    assert sum(isinstance(answer, Record) for answer in answers) == 1
    assert sum(isinstance(answer, VersionConflict) for answer in answers) == 5


def test_an_upsert_writes_whatever_the_version(store: Store) -> None:
    store.records.upsert(record(data={"n": 1}))
    store.records.upsert(record(data={"n": 2}))

    found = store.records.find("schedules", "nightly")
    assert found is not None
    assert (found.data, found.version) == ({"n": 2}, 2)


def test_a_list_is_in_order_of_name_and_in_pages(store: Store) -> None:
    for name in ("c", "a", "e", "b", "d"):
        store.records.put(record(name))
    store.records.put(Record(collection="other", name="aa"))

    first = [found.name for found in store.records.list("schedules", limit=2)]
    rest = [found.name for found in store.records.list("schedules", after=first[-1])]

    assert (first, rest) == (["a", "b"], ["c", "d", "e"])
    assert store.records.list("nothing") == []


def test_names_of_records_differ_by_case(store: Store) -> None:
    for name in ("a", "A", "á", "a "):
        store.records.put(record(name))

    assert len(store.records.list("schedules")) == 4
    assert store.records.remove("schedules", "A")
    assert store.records.find("schedules", "a") is not None


def test_a_record_is_removed_once(store: Store) -> None:
    store.records.put(record())

    assert store.records.remove("schedules", "nightly")
    assert not store.records.remove("schedules", "nightly")
    assert store.records.find("schedules", "nightly") is None
