"""Server-sent events as bytes. A field is one line, because JSON has no raw line breaks."""

from __future__ import annotations

from pydantic import BaseModel

PING = b": ping\n\n"
# Browsers reconnect after two seconds; without it they choose a time of their own.
RETRY = b"retry: 2000\n\n"
STREAM = "text/event-stream"


def frame(name: str, data: BaseModel | None = None, number: str | None = None) -> bytes:
    """One event. Without a number the client keeps its last event id."""
    text = "{}" if data is None else data.model_dump_json(by_alias=True)
    named = "" if number is None else f"id: {number}\n"
    return f"{named}event: {name}\ndata: {text}\n\n".encode()
