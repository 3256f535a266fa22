"""The options of a job, checked where it is enqueued."""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache
from typing import Any, TypedDict, cast

from tenure.core.errors import OptionError
from tenure.core.job import KeyMode, NewJob
from tenure.core.rules.order import AfterFailure, OnFailure
from tenure.jobs.option_values import (
    awaited_ids,
    check_moment,
    check_seconds,
    runs_anyway,
    skips,
    unique_key,
)

LENGTHS = {
    "kind": 150,
    "queue": 100,
    "tenant": 100,
    "owner": 200,
    "key": 255,
    "correlation_id": 200,
    "trace": 200,
    "enqueued_by": 200,
    "ordering_key": 255,
    "limit_key": 200,
    "step": 200,
    "schedule": 100,
    "key_name": 100,
    "event type": 100,
    "holder kind": 40,
    "holder": 200,
    "event id": 255,
    "aggregate type": 100,
    "aggregate id": 200,
    "subscriber": 40,
    "consumer": 140,
}
REQUIRED = tuple(LENGTHS.keys() - {"tenant", "owner", "correlation_id", "trace", "enqueued_by"})
FORBIDDEN = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")


class Options(TypedDict, total=False):
    """The options of `using(...)` and of `enqueue(...)` by name."""

    queue: str
    priority: int
    tenant: str
    owner: str | None
    key: str | None
    key_mode: KeyMode | str
    key_window: float | None
    delay: float
    run_at: datetime | None
    expires: float | datetime | None
    max_attempts: int
    correlation_id: str | None
    trace: str | None
    enqueued_by: str | None
    ordering_key: str | None
    ordering_failure: OnFailure | str
    limit_key: str | None
    after: Any
    after_failure: AfterFailure | str
    tx: Any
    notify: str | None


KNOWN = Options.__optional_keys__
NAMES = (
    "queue", "tenant", "owner", "key", "correlation_id", "trace", "enqueued_by", "ordering_key",
    "limit_key",
)  # fmt: skip
PLAIN = (
    "queue", "priority", "tenant", "owner", "max_attempts", "correlation_id", "trace",
    "enqueued_by", "ordering_key", "limit_key",
)  # fmt: skip


# Options with a new value in nearly every job: caching them would only fill the cache.
CHANGING = frozenset(
    {
        "key",
        "key_mode",
        "key_window",
        "run_at",
        "expires",
        "ordering_key",
        "limit_key",
        "after",
        "tx",
        "notify",
    }
)
TX_OPTIONS = frozenset({"tx", "notify"})
IN_TRANSACTION = "transaction"


class TxOptions(TypedDict):
    """Options that say in which transaction a job is added; they are not part of the job."""

    tx: Any
    notify: str | None


def tx_options(options: Options) -> TxOptions:
    """The transaction, and `notify="transaction"` for one whose commit we do not see."""
    tx, notify = options.get("tx"), options.get("notify")
    if notify not in (None, IN_TRANSACTION):
        raise OptionError(f"notify must be {IN_TRANSACTION!r} or None, not {notify!r}")
    if notify is not None and tx is None:
        raise OptionError("notify='transaction' needs tx: without one workers are told anyway")
    return TxOptions(tx=tx, notify=notify)


def take_tx_options(options: Options) -> TxOptions:
    """The same, removed from the options."""
    found = tx_options(options)
    options.pop("tx", None)
    options.pop("notify", None)
    return found


def new_job(kind: str, payload: str, options: Options) -> NewJob:
    """A job to add; OptionError if an option is wrong."""
    if CHANGING.isdisjoint(options):
        try:
            return _known(kind, **options).with_payload(payload)
        except TypeError:  # an unhashable value: checked below, without the cache
            pass
    return _checked(kind, options).with_payload(payload)


@lru_cache(maxsize=1024, typed=True)
def _known(kind: str, **options: Any) -> NewJob:
    """Cached: most jobs have the same few options. Typed: True equals 1, but is no priority."""
    return _checked(kind, cast(Options, options))


def _checked(kind: str, options: Options) -> NewJob:
    if unknown := options.keys() - KNOWN:
        raise OptionError(f"unknown option {sorted(unknown)[0]!r}; there are: {sorted(KNOWN)}")
    check_name("kind", kind)
    for name in NAMES:
        if name in options:
            check_name(name, options[name])  # type: ignore[literal-required]
    expires = options.get("expires")
    if expires is not None and not isinstance(expires, datetime):
        check_seconds("expires", expires)
    run_at = options.get("run_at")
    job = NewJob(
        kind=kind,
        key=unique_key(options),
        delay_seconds=check_seconds("delay", options["delay"]) if "delay" in options else 0.0,
        run_at=None if run_at is None else check_moment("run_at", run_at),
        expires_at=check_moment("expires", expires) if isinstance(expires, datetime) else None,
        expires_seconds=check_seconds("expires", expires)
        if isinstance(expires, int | float)
        else None,
        skips=skips(options),
        after=awaited_ids(options),
        runs_anyway=runs_anyway(options),
        **{name: options[name] for name in PLAIN if name in options},  # type: ignore[literal-required]
    )
    _check_numbers(job)
    return job


def check_name(name: str, value: object) -> None:
    """Refuse text that is too long, or that databases would store differently."""
    if value is None and name not in ("kind", "queue", "tenant", "step", "holder kind", "holder"):
        return
    if not isinstance(value, str):
        raise OptionError(f"{name} must be text, not {type(value).__name__}")
    _check_text(name, value)


@lru_cache(maxsize=4096)
def _check_text(name: str, value: str) -> None:
    """Cached: most jobs have the same few kinds, queues and tenants."""
    if name in REQUIRED and not value:
        raise OptionError(f"{name} cannot be empty")
    if len(value) > LENGTHS[name]:
        raise OptionError(f"{name} has {len(value)} characters; at most {LENGTHS[name]} are kept")
    if FORBIDDEN.search(value):
        raise OptionError(f"{name} {value!r} holds a control character or a lone surrogate")
    if value != value.strip():
        raise OptionError(f"{name} {value!r} begins or ends with a space")


def _check_numbers(job: NewJob) -> None:
    if type(job.priority) is not int or not 0 <= job.priority <= 1_000:
        raise OptionError(
            f"priority must be a whole number from 0 (first) to 1000, not {job.priority!r}"
        )
    if type(job.max_attempts) is not int or not 1 <= job.max_attempts <= 1_000:
        raise OptionError(
            f"max_attempts must be a whole number from 1 to 1000, not {job.max_attempts!r}"
        )
    if job.run_at is not None and job.delay_seconds:
        raise OptionError("give delay or run_at, not both")
