"""Single-use login links, as `tenure up` prints them."""

from __future__ import annotations

from urllib.parse import urlencode

from tenure.access.caller import Caller, How, Permission
from tenure.access.settings import IdentitySettings
from tenure.access.tickets import LOGIN_LINKS, Tickets
from tenure.app import Tenure
from tenure.core.refusals import Unauthenticated

LOOPBACK = "http://127.0.0.1:8000"


def operator(name: str) -> Caller:
    """An operator of the service: every permission, every tenant."""
    return Caller(
        name=f"session:{name}",
        how=How.SESSION,
        tenant=None,
        owner=None,
        permissions=Permission.ADMIN.held,
        site=True,
    )


def login_link(
    engine: Tenure,
    base: str = LOOPBACK,
    *,
    caller: Caller | None = None,
    actor: str = "operator",
    settings: IdentitySettings | None = None,
) -> str:
    """A single-use link that opens a session. Without a caller it is an operator's.

    >>> print(login_link(engine, "http://127.0.0.1:8000"))          # doctest: +SKIP
    http://127.0.0.1:8000/login?token=5f0c...
    """
    seconds = (settings or IdentitySettings()).login_link_seconds
    whose = caller or operator("operator")
    secret = Tickets(engine, LOGIN_LINKS).issue(whose, seconds)
    engine.operator.audit.note(actor, "login.linked", whose.name)
    return f"{base.rstrip('/')}/login?{urlencode({'token': secret})}"


def use_link(links: Tickets, secret: str) -> Caller:
    """The caller of a link, which cannot be used again."""
    ticket = links.take(secret)
    if ticket is None:
        raise Unauthenticated("this link was used already or has expired; create a new one")
    return ticket.caller
