"""A payment provider that is not always well: `uvicorn provider:web --port 8001`.

Of the first requests for a charge one in three is turned away, one in three is done but its answer
gets lost, and one is answered. The cards tok_declined and tok_slow are what they are called.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import Counter, deque
from typing import Annotated

from fastapi import FastAPI, Header, HTTPException
from pydantic import BaseModel, Field

MOST_A_SECOND = 50
SLOW_SECONDS = 60


class Request(BaseModel):
    """What is to be paid, for which order, from which card."""

    reference: str = Field(max_length=64)
    card: str = Field(max_length=50)
    amount: int = Field(gt=0)


class Charge(Request):
    """A card was charged."""

    id: str


web = FastAPI(title="Payments")
ledger: list[Charge] = []
answers: dict[str, Charge] = {}
tries: Counter[str] = Counter()
luck = itertools.cycle(["refused", "lost", "answered"])
recent: deque[float] = deque(maxlen=MOST_A_SECOND)


@web.post("/charges")
async def charge(
    request: Request, idempotency_key: Annotated[str, Header(max_length=100)]
) -> Charge:
    """Charges a card; the same key again is answered with the same charge."""
    check_rate(time.monotonic())
    tries[idempotency_key] += 1
    first = tries[idempotency_key] == 1
    fate = next(luck) if first else "answered"
    if request.card == "tok_declined":
        raise HTTPException(402, "declined")
    if fate == "refused" and request.card != "tok_slow":
        raise HTTPException(503, "come again later")
    if idempotency_key not in answers:
        answers[idempotency_key] = Charge(id=f"ch_{len(ledger) + 1}", **request.model_dump())
        ledger.append(answers[idempotency_key])
    if request.card == "tok_slow" and first:
        await asyncio.sleep(SLOW_SECONDS)
    if fate == "lost":
        raise HTTPException(502, "the card was charged, but you do not get to know")
    return answers[idempotency_key]


def check_rate(now: float) -> None:
    """Who asks too often is asked to wait."""
    if len(recent) == MOST_A_SECOND and now - recent[0] < 1:
        raise HTTPException(429, "too many requests", {"Retry-After": "1"})
    recent.append(now)


@web.get("/charges")
def charges() -> list[Charge]:
    """Every card that was charged, in this order."""
    return ledger
