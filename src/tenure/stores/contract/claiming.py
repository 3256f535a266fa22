"""Claiming jobs from a store, and keeping them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tenure.core.job import State
from tenure.core.lease import ClaimedJob, Lease
from tenure.core.rules.limits import NO_LIMITS, Limits
from tenure.core.rules.shard import Shard
from tenure.core.rules.shares import Weights


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRequest:
    """Who claims, which kinds it can run, and how many slots of each queue are free.

    `weights` and `limits` hold for the whole fleet. `woken` names queues that are said to have due
    jobs: a hint where to look first. A `thorough` claim looks everywhere, whatever that costs. With
    a `shard` only its tenants' jobs are taken. Jobs of queues in `reserving` are claimed ahead:
    they have not started yet. In `unfair` queues tenants do not share: the oldest job goes first.
    """

    owner: str
    kinds: Collection[str]
    slots: Mapping[str, int]
    lease_seconds: float
    weights: Weights = field(default_factory=dict)
    limits: Limits = NO_LIMITS
    woken: Collection[str] = ()
    thorough: bool = False
    shard: Shard | None = None
    reserving: Collection[str] = ()
    unfair: Collection[str] = ()

    def may_take(self, tenant: str) -> bool:
        """Whether this tenant's jobs belong to the claimant's shard."""
        return self.shard is None or self.shard.has(tenant)


@dataclass(frozen=True, slots=True)
class Claim:
    """The claimed jobs, and what the claim ended on the way: jobs of lost leases, expired jobs.

    `released` are jobs of lost leases that went back, by id, with their queues. `look_in` is in how
    many seconds there are likely to be more jobs, if that is known. `unended` are jobs that were to
    end, by id, with the error of the feature that follows them: they are tried again later. `held`
    are gates that are held since the last claim: what was claimed ahead must not begin.
    """

    jobs: Sequence[ClaimedJob] = ()
    ended: Sequence[tuple[str, State, str]] = ()
    released: Mapping[str, str] = field(default_factory=dict)
    look_in: float | None = None
    unended: Mapping[str, Exception] = field(default_factory=dict)
    held: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class Extension:
    """The answer to a heartbeat, by job id."""

    lost: frozenset[str] = frozenset()
    cancel: frozenset[str] = frozenset()


class Claiming(Protocol):
    """How jobs get to a worker, and stay with it."""

    def claim(self, request: ClaimRequest) -> Claim:
        """Due jobs of known kinds within the slots, best first, each under one live lease (2, 4,
        7, 8, 11, 14). Lost leases go back to their queues first, or are buried (4).

        It may bring fewer jobs than there are; what is due is found within a second or so.
        """
        ...

    def extend(self, leases: Sequence[Lease], seconds: float) -> Extension:
        """Prolong what is still held; answer what is lost and what to cancel (2, 3)."""
        ...
