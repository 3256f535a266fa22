"""Every error as a problem document. The engine's statuses are here, a feature's in the feature."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from tenure.api.kit.errors import BrokenBody
from tenure.asgi.messages import PROBLEM, Scope, Send, note, problem, problem_document
from tenure.core.errors import TenureError
from tenure.core.refusals import Unauthenticated
from tenure.feature import Feature

STATUSES: Mapping[str, int] = {
    "bad_input": 422,
    "bad_wait": 400,
    "key_conflict": 409,
    "job_not_found": 404,
    "api_key_not_found": 404,
    "operation_not_found": 404,
    "limit_not_found": 404,
    "worker_not_found": 404,
    "move_refused": 409,
    "feature_needed": 409,
    "lease_lost": 409,
    "version_conflict": 409,
    "worker_state": 409,
    "store_error": 503,
    "not_ready": 503,
    "broken_json": 400,
    "nested_too_deeply": 400,
    "invalid_cursor": 400,
    "unauthenticated": 401,
    "forbidden": 403,
    "access_error": 403,
    "identity_unavailable": 503,
    "body_too_large": 413,
    "unsupported_media_type": 415,
    "idempotency_key_reused": 422,
    "idempotency_key_in_use": 409,
    "too_many_requests": 429,
    "too_many_streams": 503,
    "tenure_error": 500,
}
ERRORS_SHOWN = 50
INVALID = "the request does not match its schema; see `errors`"


def add_problems(api: FastAPI, features: Iterable[Feature] = ()) -> None:
    """From now on every error of a route is answered by a problem document."""
    own = {
        kind.code: problem.status
        for feature in features
        for kind, problem in feature.problems.items()
    }
    api.state.statuses = {**STATUSES, **own}
    api.add_exception_handler(TenureError, _answer_known)
    api.add_exception_handler(RequestValidationError, _answer_invalid)
    api.add_exception_handler(HTTPException, _answer_http)


def status_of(error: TenureError, statuses: Mapping[str, int] = STATUSES) -> int:
    """By the code of its class, or of the nearest class above that has a status."""
    codes = (str(vars(one).get("code")) for one in type(error).__mro__)
    return next(statuses[code] for code in codes if code in statuses)


def headers_of(error: TenureError) -> dict[str, str]:
    """What an error says beside the document; whatever may work again says when."""
    if own := getattr(error, "headers", None):
        return dict(own)
    if isinstance(error, Unauthenticated):
        return {"www-authenticate": error.challenge}
    return {"retry-after": "1"} if error.retryable else {}


def document_of(
    error: TenureError, request_id: str | None, statuses: Mapping[str, int] = STATUSES
) -> dict[str, Any]:
    """What is told of an error that has a name."""
    return problem_document(
        status_of(error, statuses),
        str(error),
        code=error.code,
        title=title_of(type(error)),
        request_id=request_id,
        **extensions_of(error),
    )


def title_of(kind: type[TenureError]) -> str:
    """The error's own sentence, the same for every occurrence."""
    return (kind.__doc__ or kind.__name__).strip().splitlines()[0].rstrip(".")


def extensions_of(error: TenureError) -> dict[str, Any]:
    """Which job is meant, where one is."""
    named = {"jobId": getattr(error, "job_id", None), "checks": getattr(error, "checks", None)}
    return {name: value for name, value in named.items() if value}


async def send_problem(scope: Scope, send: Send, error: TenureError) -> None:
    """The same from a middleware."""
    await problem(
        scope,
        send,
        status_of(error),
        str(error),
        headers_of(error),
        code=error.code,
        title=title_of(type(error)),
    )


def _answer_known(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, TenureError):
        raise error
    statuses = request.app.state.statuses
    document = document_of(error, note(request.scope, "request_id"), statuses)
    return JSONResponse(document, document["status"], headers_of(error), PROBLEM)


def _answer_invalid(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, RequestValidationError):
        raise error
    found = error.errors()
    if broken := [one for one in found if one["type"] == "json_invalid"]:
        return _answer_known(request, BrokenBody(_broken(broken[0])))
    listed = list(_places(found))
    document = problem_document(
        422,
        INVALID,
        code="invalid_request",
        title="The request does not match its schema",
        request_id=note(request.scope, "request_id"),
        errors=listed,
    )
    return JSONResponse(document, 422, media_type=PROBLEM)


def _broken(one: Mapping[str, Any]) -> str:
    why = one.get("ctx", {}).get("error", "it cannot be read")
    return f"the body is not JSON: {why} at character {one['loc'][-1]}"


def _places(found: Sequence[Mapping[str, Any]]) -> Iterable[dict[str, str]]:
    """Each with where it is (`in`) and a JSON pointer inside that."""
    for one in found[:ERRORS_SHOWN]:
        place, *path = one["loc"]
        yield {"in": str(place), "pointer": pointer(path), "detail": _told(one)}


def _told(one: Mapping[str, Any]) -> str:
    if one["type"] == "extra_forbidden":
        return f"there is no field {str(one['loc'][-1])[:80]!r} here"
    return str(one["msg"])


def pointer(path: Iterable[object]) -> str:
    """RFC 6901."""
    steps = (str(step).replace("~", "~0").replace("/", "~1") for step in path)
    return "".join(f"/{step}" for step in steps)


def _answer_http(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, HTTPException):
        raise error
    if error.status_code == 400:  # the framework's word for a body that no parser takes
        return _answer_known(request, BrokenBody("the body is not JSON that can be read"))
    headers = {name.lower(): value for name, value in (error.headers or {}).items()}
    if error.status_code == 405 and (allowed := _allowed(request)):
        headers["allow"] = ", ".join(allowed)
    document = problem_document(
        error.status_code, str(error.detail), request_id=note(request.scope, "request_id")
    )
    return JSONResponse(document, error.status_code, headers, PROBLEM)


def _allowed(request: Request) -> list[str]:
    """What the document says of this path; the framework tells the methods of one route. A path
    that is written out is no id: `/api/jobs/replay` is not read as a job.
    """
    paths: dict[str, Any] = request.app.openapi()["paths"]
    path = request.url.path
    found = [path] if path in paths else [one for one in paths if _fits(one, path)]
    methods = {method.upper() for one in found for method in paths[one]}
    return sorted(methods | {"HEAD"} if "GET" in methods else methods)


def _fits(template: str, path: str) -> bool:
    return re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), path) is not None
