"""Scope: whose jobs a caller may see and move. It fails closed."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tenure.core.filter import JobFilter
from tenure.core.job import Job


@dataclass(frozen=True, slots=True)
class Scope:
    """A tenant and an owner; None means: any. The empty text is a tenant like others.

    >>> Scope("acme").narrow(JobFilter(tenant="globex")) is None
    True
    """

    tenant: str | None = None
    owner: str | None = None

    def narrow(self, where: JobFilter) -> JobFilter | None:
        """The filter within this scope; None if nothing can match, so that no query is needed."""
        if _apart(self.tenant, where.tenant) or _apart(self.owner, where.owner):
            return None
        return replace(
            where,
            tenant=where.tenant if self.tenant is None else self.tenant,
            owner=where.owner if self.owner is None else self.owner,
        )

    def has(self, job: Job) -> bool:
        """Whether the job is in this scope."""
        return self.holds(job.tenant, job.owner)

    def holds(self, tenant: str | None, owner: str | None) -> bool:
        """Whether something of this tenant and owner is in this scope."""
        return self.tenant in (None, tenant) and self.owner in (None, owner)


EVERYTHING = Scope()


def _apart(mine: str | None, asked: str | None) -> bool:
    return mine is not None and asked is not None and mine != asked
