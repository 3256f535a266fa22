"""From a request to its caller: read the credential, look it up, cache that for some seconds."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import nullcontext
from datetime import datetime

from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection

from tenure.access.caller import Caller, How
from tenure.access.keys import Keys
from tenure.access.settings import IdentitySettings
from tenure.access.tickets import LOGIN_LINKS, SESSIONS, Tickets
from tenure.api.kit.identity.credential import INVALID, Credential, credential_of
from tenure.api.kit.identity.csrf import check_csrf
from tenure.api.kit.identity.jwks import KeySet
from tenure.api.kit.identity.remembered import Known, Remembered
from tenure.api.kit.identity.tokens import Tokens
from tenure.app import Tenure
from tenure.core.refusals import (
    Unauthenticated,
)
from tenure.core.signals import Signals
from tenure.core.timing.clock import Clock

# Of the 40 threads that the framework has: a slow issuer must not block other requests.
TOKENS_AT_ONCE = 8
ENDED = ("key.revoked", "session.ended")


class Identity:
    """One per API. A revoked key or ended session is refused at once in this process, and within
    TENURE_IDENTITY_CACHE_SECONDS in others.
    """

    def __init__(
        self, engine: Tenure, settings: IdentitySettings, clock: Clock | None = None
    ) -> None:
        self.engine = engine
        self.settings = settings
        self.keys = Keys(engine, clock)
        self.sessions = Tickets(engine, SESSIONS, clock)
        self.links = Tickets(engine, LOGIN_LINKS, clock)
        self.elapsed = time.monotonic if clock is None else lambda: clock.now().timestamp()
        self.remembered = Remembered(settings.identity_cache_seconds, self.elapsed)
        self._tokens = _tokens(settings, engine.signals, self.elapsed)
        self._tokens_at_once = asyncio.Semaphore(TOKENS_AT_ONCE)
        self._clock = clock
        engine.signals.subscribe(lambda name, facts: self.remembered.forget(), *ENDED)

    async def caller_of(self, request: HTTPConnection) -> Caller:
        """The caller of a request; Unauthenticated if the credential is missing or invalid."""
        credential = credential_of(request)
        found = self.remembered.find(credential)
        if found is None:
            found = await self._recognised(credential)
        # After the lookup and also for a cached session: the token is checked with every request.
        if credential.how is How.SESSION:
            check_csrf(request, credential.text)
        return found

    def end_session(self, secret: str) -> None:
        """End a session."""
        if self.sessions.end(secret):
            self.engine.signals.emit("session.ended")

    async def _recognised(self, credential: Credential) -> Caller:
        """Tokens may wait for their issuer: a semaphore leaves threads for other requests."""
        async with self._tokens_at_once if credential.how is How.TOKEN else nullcontext():
            return await run_in_threadpool(self._recognise, credential)

    def _recognise(self, credential: Credential) -> Caller:
        # Read before the lookup: see `Remembered.keep`.
        since = self.remembered.generation
        try:
            known = self._known(credential)
        except Unauthenticated as refused:
            self.engine.signals.emit("caller.refused", how=credential.how, reason=str(refused))
            raise
        self.remembered.keep(credential, known, since)
        return known.caller

    def _known(self, credential: Credential) -> Known:
        found = self._look(credential)
        if found is None:
            raise Unauthenticated(f"this {credential.how} is not valid or has expired", INVALID)
        return found

    def _look(self, credential: Credential) -> Known | None:
        match credential.how:
            case How.KEY:
                key = self.keys.find(credential.text)
                return None if key is None else Known(key.caller, self._left(key.expires_at))
            case How.SESSION:
                ticket = self.sessions.find(credential.text)
                return (
                    None if ticket is None else Known(ticket.caller, self._left(ticket.expires_at))
                )
            case How.TOKEN:
                return None if self._tokens is None else self._tokens.find(credential.text)

    def _left(self, until: datetime | None) -> float:
        """Seconds left, by the store's clock unless another one is given."""
        if until is None:
            return float("inf")
        now = self.engine.store.now() if self._clock is None else self._clock.now()
        return (until - now).total_seconds()


def _tokens(
    settings: IdentitySettings, signals: Signals, elapsed: Callable[[], float]
) -> Tokens | None:
    """None if no issuer is configured: then every token is refused."""
    if not settings.takes_tokens:
        return None
    keys = KeySet(settings.jwt_jwks_url, settings.jwt_keys_seconds, signals, elapsed)
    return Tokens(settings, keys)
