"""What a caller may say about a job, checked at the caller."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, TypedDict, cast

from tenure.core.errors import OptionError
from tenure.core.job import KeyMode, NewJob, UniqueKey
from tenure.core.rules.order import AfterFailure, OnFailure

TEN_YEARS = 10 * 366 * 86_400.0
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
    "event id": 255,
    "aggregate type": 100,
    "aggregate id": 200,
    "subscriber": 40,
    "consumer": 140,
}
REQUIRED = tuple(LENGTHS.keys() - {"tenant", "owner", "correlation_id", "trace", "enqueued_by"})
AFTER_AT_MOST = 1_000
ID = re.compile("[!-~]{1,64}")
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
LATEST = datetime(9998, 12, 31, tzinfo=UTC)
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
PLACING = frozenset({"tx", "notify"})
IN_TRANSACTION = "transaction"


class Place(TypedDict):
    """Where a job is added, and who says so: what `enqueue` keeps to itself."""

    tx: Any
    notify: str | None


def place_of(options: Options) -> Place:
    """The transaction; `notify="transaction"` is for one that we do not see commit."""
    tx, notify = options.get("tx"), options.get("notify")
    if notify not in (None, IN_TRANSACTION):
        raise OptionError(f"notify must be {IN_TRANSACTION!r} or None, not {notify!r}")
    if notify is not None and tx is None:
        raise OptionError("notify='transaction' needs tx: without one workers are told anyway")
    return Place(tx=tx, notify=notify)


def take_place(options: Options) -> Place:
    """The same, and the options no longer hold it."""
    place = place_of(options)
    options.pop("tx", None)
    options.pop("notify", None)
    return place


def new_job(kind: str, payload: str, options: Options) -> NewJob:
    """A job to add; whatever is wrong with the options is said here."""
    if CHANGING.isdisjoint(options):
        try:
            return _known(kind, **options).with_payload(payload)
        except TypeError:  # what cannot be remembered is looked at below
            pass
    return _checked(kind, options).with_payload(payload)


@lru_cache(maxsize=1024, typed=True)
def _known(kind: str, **options: Any) -> NewJob:
    """The same few options come again and again. Typed: True is no priority, though it equals 1."""
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
        _seconds("expires", expires)
    run_at = options.get("run_at")
    job = NewJob(
        kind=kind,
        key=_key(options),
        delay_seconds=_seconds("delay", options["delay"]) if "delay" in options else 0.0,
        run_at=None if run_at is None else _moment("run_at", run_at),
        expires_at=_moment("expires", expires) if isinstance(expires, datetime) else None,
        expires_seconds=_seconds("expires", expires) if isinstance(expires, int | float) else None,
        skips=_skips(options),
        after=_after(options),
        runs_anyway=_runs_anyway(options),
        **{name: options[name] for name in PLAIN if name in options},  # type: ignore[literal-required]
    )
    _check_numbers(job)
    return job


def check_name(name: str, value: object) -> None:
    """Text of a bounded length that every database stores alike."""
    if value is None and name not in ("kind", "queue", "tenant", "step"):
        return
    if not isinstance(value, str):
        raise OptionError(f"{name} must be text, not {type(value).__name__}")
    _check_text(name, value)


@lru_cache(maxsize=4096)
def _check_text(name: str, value: str) -> None:
    """The same few kinds, queues and tenants come again and again."""
    if name in REQUIRED and not value:
        raise OptionError(f"{name} cannot be empty")
    if len(value) > LENGTHS[name]:
        raise OptionError(f"{name} has {len(value)} characters; at most {LENGTHS[name]} are kept")
    if FORBIDDEN.search(value):
        raise OptionError(f"{name} {value!r} holds a control character or a lone surrogate")
    if value != value.strip():
        raise OptionError(f"{name} {value!r} begins or ends with a space")


def _key(options: Options) -> UniqueKey | None:
    value = options.get("key")
    if value is None:
        if "key_mode" in options or options.get("key_window") is not None:
            raise OptionError("key_mode and key_window need a key")
        return None
    mode = options.get("key_mode", KeyMode.KEEP)
    if mode not in list(KeyMode):
        raise OptionError(f"key_mode {mode!r} is not one of {', '.join(KeyMode)}")
    window = options.get("key_window")
    seconds = None if window is None else _seconds("key_window", window)
    if seconds == 0:
        raise OptionError("key_window must be longer than nothing")
    return UniqueKey(value=value, mode=KeyMode(mode), window_seconds=seconds)


def _skips(options: Options) -> bool:
    rule = options.get("ordering_failure", OnFailure.BLOCK)
    if rule not in list(OnFailure):
        raise OptionError(f"ordering_failure {rule!r} is not one of {', '.join(OnFailure)}")
    if "ordering_failure" in options and options.get("ordering_key") is None:
        raise OptionError("ordering_failure needs an ordering_key")
    return rule == OnFailure.SKIP


def _after(options: Options) -> tuple[str, ...]:
    """One job or several, by id or by anything that has one; each once."""
    given = options.get("after")
    if given is None:
        return ()
    alone = isinstance(given, str | NewJob) or not isinstance(given, Iterable)
    ids = dict.fromkeys(map(_awaited, [given] if alone else given))
    if len(ids) > AFTER_AT_MOST:
        raise OptionError(f"a job may wait for {AFTER_AT_MOST:,} others, not for {len(ids):,}")
    return tuple(ids)


def _awaited(job: object) -> str:
    if isinstance(job, NewJob):
        raise OptionError(
            f"after names a {job.kind!r} that is not yet added: enqueue it first, in the same "
            "transaction where both are to be added or neither"
        )
    found = getattr(job, "id", job)
    if not isinstance(found, str) or not ID.fullmatch(found):
        raise OptionError(f"after takes jobs or their ids, not {job!r}")
    return found


def _runs_anyway(options: Options) -> bool:
    rule = options.get("after_failure", AfterFailure.CANCEL)
    if rule not in list(AfterFailure):
        raise OptionError(f"after_failure {rule!r} is not one of {', '.join(AfterFailure)}")
    if "after_failure" in options and options.get("after") is None:
        raise OptionError("after_failure needs after")
    return rule == AfterFailure.RUN


def _seconds(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise OptionError(f"{name} must be a number of seconds, not {value!r}")
    if not 0 <= value <= TEN_YEARS:
        raise OptionError(f"{name} must be between 0 and ten years of seconds, not {value!r}")
    return float(value)


def _moment(name: str, value: object) -> datetime:
    if not isinstance(value, datetime) or value.tzinfo is None:
        raise OptionError(f"{name} must be a datetime with a time zone, not {value!r}")
    if not EARLIEST <= value <= LATEST:
        raise OptionError(f"{name} must lie between the years 1970 and 9998, not {value!r}")
    return value


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
