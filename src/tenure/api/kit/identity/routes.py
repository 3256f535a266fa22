"""`/login`, `/logout` and `/session`: sessions of people at a browser."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from starlette.responses import RedirectResponse

from tenure.access.caller import How, Permission
from tenure.access.links import use_link
from tenure.api.kit.guards.head_requests import is_head
from tenure.api.kit.identity.cookie import clear_cookie, cookie_name, set_cookie
from tenure.api.kit.identity.csrf import csrf_token
from tenure.api.kit.identity.dead_link import dead_link, wants_page
from tenure.api.kit.identity.needs import Reader, identity_of
from tenure.api.kit.shapes.shape import Shape
from tenure.core.refusals import Unauthenticated

router = APIRouter(tags=["session"])
PRIVATE = {"cache-control": "no-store", "referrer-policy": "no-referrer"}
Token = Annotated[str, Query(max_length=200, description="The secret of the single-use link.")]


class SessionShape(Shape):
    """The caller of this request."""

    name: str
    how: How
    tenant: str | None
    user_id: str | None
    permissions: list[Permission]
    site: bool
    csrf_token: str | None


@router.get(
    "/login",
    operation_id="login",
    status_code=303,
    response_class=RedirectResponse,
    responses={401: {}},
)
def login(request: Request, token: Token) -> Response:
    """Open a session with a single-use link. A link that was used or has expired is refused."""
    if is_head(request):  # a link preview must not use it up
        return Response(headers=PRIVATE)
    identity = identity_of(request)
    try:
        caller = use_link(identity.links, token)
    except Unauthenticated as error:
        if not wants_page(request):
            raise
        return dead_link({**PRIVATE, "www-authenticate": error.challenge})
    if before := request.cookies.get(cookie_name(request)):
        identity.end_session(before)
    seconds = identity.settings.session_seconds
    answer = RedirectResponse("/", 303, headers=PRIVATE)
    set_cookie(request, answer, identity.sessions.issue(caller, seconds), seconds)
    return answer


@router.post("/logout", operation_id="logout", status_code=204)
def logout(request: Request, caller: Reader) -> Response:
    """End the session."""
    answer = Response(status_code=204, headers=PRIVATE)
    if caller.how is How.SESSION:
        identity_of(request).end_session(request.cookies[cookie_name(request)])
        clear_cookie(request, answer)
    return answer


@router.get("/session", operation_id="readSession")
def session(request: Request, response: Response, caller: Reader) -> SessionShape:
    """The caller, its permissions, and the CSRF token that a page must send with changes."""
    response.headers.update(PRIVATE)
    ours = caller.how is How.SESSION
    return SessionShape(
        name=caller.name,
        how=caller.how,
        tenant=caller.tenant,
        user_id=caller.owner,
        permissions=sorted(caller.permissions, key=list(Permission).index),
        site=caller.site,
        csrf_token=csrf_token(request.cookies[cookie_name(request)]) if ours else None,
    )
