"""The OpenAPI document: what the framework derives from the routes, and what holds for all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from tenure.api.shapes.problem import Place, Problem
from tenure.asgi.messages import PROBLEM, problem_document

ALWAYS = (400, 503)
OF_CALLERS = (401, 403, 429)
OF_BODIES = (413, 415)
WRONG = 422
SECURITY: list[dict[str, list[str]]] = [{"key": []}, {"bearer": []}, {"session": []}]
SCHEMES = {
    "key": {"type": "apiKey", "in": "header", "name": "x-api-key"},
    "bearer": {"type": "http", "scheme": "bearer", "description": "An API key, or a JWT."},
    "session": {"type": "apiKey", "in": "cookie", "name": "tenure_session"},
}
METHODS = ("get", "put", "post", "patch", "delete")
FRAMEWORKS_OWN = ("HTTPValidationError", "ValidationError")
Operation = dict[str, Any]


def add_document(api: FastAPI) -> None:
    """`/openapi.json` answers this one."""
    api.openapi = lambda: document(api)  # type: ignore[method-assign]


def document(api: FastAPI) -> dict[str, Any]:
    """Made once; the routes do not change afterwards."""
    if api.openapi_schema is None:
        made = get_openapi(
            title=api.title, version=api.version, description=api.description, routes=api.routes
        )
        for path, operation in _operations(made):
            _complete(operation, public=_public(path, operation))
        _complete_components(made)
        made["security"] = SECURITY
        api.openapi_schema = made
    return api.openapi_schema


def as_text(made: dict[str, Any]) -> str:
    """As it is checked in."""
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n"


def _operations(made: dict[str, Any]) -> Iterator[tuple[str, Operation]]:
    for path, item in made["paths"].items():
        for method in METHODS:
            if method in item:
                yield path, item[method]


def _public(path: str, operation: Operation) -> bool:
    """A one-time link is a credential of its own, and may be refused like any."""
    if path == "/login":
        operation["responses"]["401"] = _problem(401)
    if path.startswith("/v1/health/") or path == "/login":
        operation["security"] = []
    return operation.get("security") == []


def _complete(operation: Operation, *, public: bool) -> None:
    """Every problem that the operation can answer, beside those that its route names itself."""
    responses = operation["responses"]
    if _is_frameworks(responses.get(str(WRONG), {})):
        responses[str(WRONG)] = _problem(WRONG)
    statuses = [*ALWAYS, *(() if public else OF_CALLERS)]
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
    """A word of the route's own, where it is more than the status says."""
    said = response.get("description")
    plain = said is None or said in {status.phrase for status in HTTPStatus}
    return {} if plain else {"description": said}


def _complete_components(made: dict[str, Any]) -> None:
    components = made["components"]
    for name in FRAMEWORKS_OWN:
        components["schemas"].pop(name, None)
    for model in (Place, Problem):
        components["schemas"][model.__name__] = model.model_json_schema(
            ref_template="#/components/schemas/{model}"
        )
        components["schemas"][model.__name__].pop("$defs", None)
    components["schemas"] = dict(sorted(components["schemas"].items()))
    components["securitySchemes"] = SCHEMES
    components["responses"] = {
        f"Problem{status}": _response(status) for status in sorted(_used(made))
    }


def _used(made: dict[str, Any]) -> set[int]:
    texts = json.dumps(made["paths"]).split("#/components/responses/Problem")[1:]
    return {int(text[:3]) for text in texts}


def _response(status: int) -> dict[str, Any]:
    phrase = HTTPStatus(status).phrase
    example = problem_document(status, "what exactly is wrong", request_id="9f86d081884c7d65")
    schema = {"$ref": "#/components/schemas/Problem"}
    return {"description": phrase, "content": {PROBLEM: {"schema": schema, "example": example}}}
