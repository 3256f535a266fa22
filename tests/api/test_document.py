"""The OpenAPI document: checked in, complete, and true of the running server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tenure import Tenure
from tenure.api import create_api
from tenure.api.openapi import as_text, document
from tests.api.conftest import Served

CHECKED_IN = Path(__file__).parents[2] / "docs" / "openapi.json"


@pytest.fixture
def made() -> dict[str, Any]:
    return document(create_api(Tenure("sqlite:///nowhere.db")))


def operations(made: dict[str, Any]) -> dict[str, Any]:
    return {one["operationId"]: one for item in made["paths"].values() for one in item.values()}


def test_the_document_that_is_checked_in_is_this_one(made: dict[str, Any]) -> None:
    assert CHECKED_IN.read_text() == as_text(made), "run: tenure api --openapi > docs/openapi.json"


def test_ids_are_opaque_to_clients(made: dict[str, Any]) -> None:
    text = as_text(made)

    assert "^[0-9]+$" not in text
    [path] = [one for one in operations(made)["getJob"]["parameters"] if one["name"] == "jobId"]
    assert path["schema"]["pattern"] == "^[!-.0-~]+$"
    assert (path["schema"]["minLength"], path["schema"]["maxLength"]) == (1, 64)


def test_it_is_served_to_anybody(served: Served) -> None:
    answer = served.get("/openapi.json", headers={"authorization": ""})

    assert answer.json() == json.loads(CHECKED_IN.read_text())


def test_every_operation_has_a_name_of_its_own_a_summary_and_its_problems(
    made: dict[str, Any],
) -> None:
    count = sum(len(item) for item in made["paths"].values())
    assert len(operations(made)) == count > 30
    for name, one in operations(made).items():
        assert one["summary"] and one["description"], name
        assert {"400", "503"} <= set(one["responses"]), name
        if one.get("security"):
            assert {"401", "403", "429"} <= set(one["responses"]), name
        if "requestBody" in one:
            assert {"413", "415", "422"} <= set(one["responses"]), name
    assert "HTTPValidationError" not in json.dumps(made)


def test_every_body_has_an_example(made: dict[str, Any]) -> None:
    schemas = made["components"]["schemas"]
    for name, one in operations(made).items():
        body = one.get("requestBody", {}).get("content", {}).get("application/json")
        if body is not None:
            schema = schemas[body["schema"]["$ref"].rpartition("/")[2]]
            examples = [*schema.get("examples", ()), *_of_fields(schema)]
            assert examples, f"{name} has no example"


def _of_fields(schema: dict[str, Any]) -> list[Any]:
    return [one["examples"] for one in schema["properties"].values() if "examples" in one]
