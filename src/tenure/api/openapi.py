"""The OpenAPI document: FastAPI's, completed by the problems that every route can answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from tenure.api.kit.shapes.problem import FieldProblem, Problem
from tenure.asgi.messages import PROBLEM, phrase_of, problem_document

# Any request can be malformed, and the database can be away.
ALWAYS = (400, 503)
OF_CALLERS = (401, 403, 429)
OF_BODIES = (413, 415)
WRONG = 422
SERVICE_TOKEN = {"type": "apiKey", "in": "header", "name": "x-service-token"}
METHODS = ("get", "put", "post", "patch", "delete")
FRAMEWORKS_OWN = ("HTTPValidationError", "ValidationError")
Operation = dict[str, Any]


def add_document(api: FastAPI) -> None:
    """Let `/openapi.json` answer this document."""
    api.openapi = lambda: document(api)  # type: ignore[method-assign]


def document(api: FastAPI) -> dict[str, Any]:
    """The document, made once: the routes do not change afterwards."""
    if api.openapi_schema is None:
        made = get_openapi(
            title=api.title, version=api.version, description=api.description, routes=api.routes
        )
        for operation in _operations(made):
            _complete(operation)
        _complete_components(made)
        api.openapi_schema = made
    return api.openapi_schema


def as_text(made: dict[str, Any]) -> str:
    """The text that is checked in."""
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n"


def _operations(made: dict[str, Any]) -> Iterator[Operation]:
    for item in made["paths"].values():
        yield from (item[method] for method in METHODS if method in item)


def _complete(operation: Operation) -> None:
    """Add the problems that every operation can answer to those of its route."""
    responses = operation["responses"]
    if _is_frameworks(responses.get(str(WRONG), {})):
        responses[str(WRONG)] = _problem(WRONG)
    statuses = [*ALWAYS, *(OF_CALLERS if operation.get("security") else ())]
    if "requestBody" in operation:
        statuses += [*OF_BODIES, WRONG]
    for status in statuses:
        responses.setdefault(str(status), _problem(status))
    for status, response in responses.items():
        if int(status) >= 400 and "content" not in response:
            responses[status] = {**_problem(int(status)), **_described(response)}
    operation["responses"] = dict(sorted(responses.items()))


def _is_frameworks(response: dict[str, Any]) -> bool:
    return "HTTPValidationError" in json.dumps(response)


def _problem(status: int) -> dict[str, Any]:
    return {"$ref": f"#/components/responses/Problem{status}"}


def _described(response: dict[str, Any]) -> dict[str, Any]:
    """The route's own description, if it is more than the status phrase."""
    said = response.get("description")
    plain = said is None or said in {status.phrase for status in HTTPStatus}
    return {} if plain else {"description": said}


def _complete_components(made: dict[str, Any]) -> None:
    components = made["components"]
    for name in FRAMEWORKS_OWN:
        components["schemas"].pop(name, None)
    for model in (FieldProblem, Problem):
        components["schemas"][model.__name__] = model.model_json_schema(
            ref_template="#/components/schemas/{model}"
        )
        components["schemas"][model.__name__].pop("$defs", None)
    components["schemas"] = dict(sorted(components["schemas"].items()))
    components["securitySchemes"]["serviceToken"] = SERVICE_TOKEN
    components["responses"] = {
        f"Problem{status}": _response(status) for status in sorted(_used(made))
    }


def _used(made: dict[str, Any]) -> set[int]:
    texts = json.dumps(made["paths"]).split("#/components/responses/Problem")[1:]
    return {int(text[:3]) for text in texts}


def _response(status: int) -> dict[str, Any]:
    phrase = phrase_of(status)
    example = problem_document(status, "what exactly is wrong", request_id="9f86d081884c7d65")
    schema = {"$ref": "#/components/schemas/Problem"}
    return {"description": phrase, "content": {PROBLEM: {"schema": schema, "example": example}}}
