"""Keeps the broker's client from logging for us: what it has to say comes as an exception, and is
told once a minute. What a program does with the client itself is logged as usual.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

LOGGERS = ("aio_pika.connection", "aio_pika.channel", "aiormq.connection", "aiormq.channel")
_ours: ContextVar[bool] = ContextVar("tenure_broker", default=False)


@contextmanager
def hushed() -> Iterator[None]:
    """Nothing but debug lines inside, nor from tasks that begin inside."""
    for name in LOGGERS:
        logging.getLogger(name).addFilter(_is_theirs)
    token = _ours.set(True)
    try:
        yield
    finally:
        _ours.reset(token)


def _is_theirs(record: logging.LogRecord) -> bool:
    return record.levelno <= logging.DEBUG or not _ours.get()
