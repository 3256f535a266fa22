"""Checks of the options that need more than a type: keys, order, dependencies, times."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tenure.core.errors import OptionError
from tenure.core.job import KeyMode, NewJob, UniqueKey
from tenure.core.rules.order import AfterFailure, OnFailure

if TYPE_CHECKING:
    from tenure.jobs.options import Options

TEN_YEARS = 10 * 366 * 86_400.0
# Each is a row that is locked while the job is added.
AFTER_AT_MOST = 1_000
ID_LENGTH = 64
ID = re.compile("[!-.0-~]{1,64}")
"""An id is visible ASCII without a slash. What is in it is the business of the store alone."""
# What all databases can store, with room for time zones at both ends.
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
LATEST = datetime(9998, 12, 31, tzinfo=UTC)


def unique_key(options: Options) -> UniqueKey | None:
    """The unique key with its mode and window."""
    value = options.get("key")
    if value is None:
        if "key_mode" in options or options.get("key_window") is not None:
            raise OptionError("key_mode and key_window need a key")
        return None
    mode = options.get("key_mode", KeyMode.KEEP)
    if mode not in list(KeyMode):
        raise OptionError(f"key_mode {mode!r} is not one of {', '.join(KeyMode)}")
    window = options.get("key_window")
    seconds = None if window is None else check_seconds("key_window", window)
    if seconds == 0:
        raise OptionError("key_window must be greater than 0")
    return UniqueKey(value=value, mode=KeyMode(mode), window_seconds=seconds)


def skips(options: Options) -> bool:
    """Whether a failed job lets the next of its ordering key run."""
    rule = options.get("ordering_failure", OnFailure.BLOCK)
    if rule not in list(OnFailure):
        raise OptionError(f"ordering_failure {rule!r} is not one of {', '.join(OnFailure)}")
    if "ordering_failure" in options and options.get("ordering_key") is None:
        raise OptionError("ordering_failure needs an ordering_key")
    return rule == OnFailure.SKIP


def awaited_ids(options: Options) -> tuple[str, ...]:
    """The ids of one job or several, each once and in a stable order."""
    given = options.get("after")
    if given is None:
        return ()
    alone = isinstance(given, str | NewJob) or not isinstance(given, Iterable)
    ids = {_awaited(one) for one in ([given] if alone else given)}
    if len(ids) > AFTER_AT_MOST:
        raise OptionError(f"a job may wait for {AFTER_AT_MOST:,} others, not for {len(ids):,}")
    return tuple(sorted(ids, key=lambda one: (len(one), one)))


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


def runs_anyway(options: Options) -> bool:
    """Whether the job runs even if one that it waits for has failed."""
    rule = options.get("after_failure", AfterFailure.CANCEL)
    if rule not in list(AfterFailure):
        raise OptionError(f"after_failure {rule!r} is not one of {', '.join(AfterFailure)}")
    if "after_failure" in options and options.get("after") is None:
        raise OptionError("after_failure needs after")
    return rule == AfterFailure.RUN


def check_seconds(name: str, value: object) -> float:
    """A number of seconds from 0 to ten years."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise OptionError(f"{name} must be a number of seconds, not {value!r}")
    if not 0 <= value <= TEN_YEARS:
        raise OptionError(f"{name} must be between 0 and ten years of seconds, not {value!r}")
    return float(value)


def check_moment(name: str, value: object) -> datetime:
    """A time with a zone that every database can store."""
    if not isinstance(value, datetime) or value.tzinfo is None:
        raise OptionError(f"{name} must be a datetime with a time zone, not {value!r}")
    if not EARLIEST <= value <= LATEST:
        raise OptionError(f"{name} must lie between the years 1970 and 9998, not {value!r}")
    return value
