"""Who sends a request: a name, tenant and owner, and permissions. Independent of credentials."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tenure.access.scoped_jobs import ScopedJobs
from tenure.app import Tenure
from tenure.core.errors import OptionError
from tenure.core.refusals import Forbidden
from tenure.core.scope import Scope

ME, ALL = "me", "all"


class Permission(StrEnum):
    """Each includes those before it: `write` includes `read`, `admin` includes both."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"

    @property
    def held(self) -> frozenset[Permission]:
        """This permission and those it includes."""
        return frozenset(list(Permission)[: list(Permission).index(self) + 1])


class How(StrEnum):
    """The kind of credential."""

    KEY = "key"
    TOKEN = "token"  # noqa: S105 - a word, not a secret
    SESSION = "session"


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who sends a request. Without `tenant`: of no single tenant; without `owner`: no single user.

    `site` callers may see and change what belongs to no tenant: queues, workers, schedules, locks.
    An admin reaches every owner of the tenant, and with `site` every tenant.
    """

    name: str
    how: How
    tenant: str | None
    owner: str | None
    permissions: frozenset[Permission]
    site: bool = False

    @property
    def scope(self) -> Scope:
        """The jobs that the caller may see and move."""
        if not self.may(Permission.ADMIN):
            return Scope(self.tenant, self.owner)
        return Scope(None if self.site else self.tenant)

    def may(self, permission: Permission) -> bool:
        """Whether the caller has the permission."""
        return permission in self.permissions

    def jobs(self, app: Tenure) -> ScopedJobs:
        """The jobs of an app as this caller may see and move them."""
        return ScopedJobs(app, self.scope, self.name, self.owner)

    def whose(self, user: str | None) -> str | None:
        """`userId=me|all|USER` as the owner to filter by; None if the scope alone decides.

        >>> JobFilter(owner=caller.whose("me"))          # doctest: +SKIP
        """
        # A user may be called "me" or "all"; those words keep their meaning.
        if user is None or (user == self.owner and user not in (ME, ALL)):
            return user
        if user == ME:
            return self._me()
        if not self.may(Permission.ADMIN):
            raise Forbidden("only an admin may ask for the jobs of other users; use userId=me")
        return None if user == ALL else user

    def owner_of_new(self, user: str | None) -> str | None:
        """`userId` of a new job as its owner. Whether the caller may add it is up to the scope."""
        if user == ALL:
            raise OptionError("a job belongs to one user; userId=all is for lists")
        return self._me() if user == ME else user

    def _me(self) -> str:
        if self.owner is None:
            raise Forbidden(
                "your credential belongs to no user, so userId=me has no meaning; leave it out"
            )
        return self.owner
