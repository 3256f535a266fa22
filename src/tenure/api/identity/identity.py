"""From a request to its caller: read the credential, recognise it, remember that for a moment."""

from __future__ import annotations

from datetime import UTC, datetime

from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection

from tenure.access.caller import Caller, How
from tenure.access.keys import Keys
from tenure.access.settings import IdentitySettings
from tenure.api.identity.credential import INVALID, Credential, credential_of
from tenure.api.identity.remembered import Known, Remembered
from tenure.core.clock import Clock
from tenure.core.errors import Unauthenticated
from tenure.engine import Tenure

ENDED = ("key.revoked", "session.ended")


class Identity:
    """One for an API. A revoked key or ended session is refused at once in this process, and after
    TENURE_IDENTITY_CACHE_SECONDS at most in others.
    """

    def __init__(
        self, engine: Tenure, settings: IdentitySettings, clock: Clock | None = None
    ) -> None:
        self.engine = engine
        self.settings = settings
        self.keys = Keys(engine, clock)
        self.remembered = Remembered(settings.identity_cache_seconds)
        self._clock = clock
        engine.signals.subscribe(lambda name, facts: self.remembered.forget(), *ENDED)

    async def caller_of(self, request: HTTPConnection) -> Caller:
        """Who sends this; Unauthenticated where we do not know."""
        credential = credential_of(request, "tenure_session")
        found = self.remembered.find(credential)
        if found is None:
            found = await run_in_threadpool(self._recognise, credential)
        return found

    def _recognise(self, credential: Credential) -> Caller:
        since = self.remembered.generation
        known = self._known(credential)
        if known is None:
            raise Unauthenticated(f"this {credential.how} is not valid, or no longer", INVALID)
        self.remembered.keep(credential, known, since)
        return known.caller

    def _known(self, credential: Credential) -> Known | None:
        match credential.how:
            case How.KEY:
                key = self.keys.find(credential.text)
                return None if key is None else Known(key.caller, self._left(key.expires_at))
            case _:
                return None

    def _left(self, until: datetime | None) -> float:
        now = datetime.now(UTC) if self._clock is None else self._clock.now()
        return float("inf") if until is None else (until - now).total_seconds()
