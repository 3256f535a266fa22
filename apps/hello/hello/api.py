"""`/api/hello`: greet somebody, and see who was greeted."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field

from hello.feature import Hello
from tenure.api.kit import Engine, Input, Shape, SiteReader, Writer

router = APIRouter(prefix="/api/hello", tags=["hello"])


class Person(Input):
    """Whom to greet."""

    name: Annotated[str, Field(min_length=1, max_length=100)]


class JobShape(Shape):
    """The job that greets."""

    job_id: str


class GreetingShape(Shape):
    """How often somebody was greeted."""

    name: str
    times: int


@router.post("", operation_id="greet", status_code=202)
def greet(person: Person, caller: Writer, engine: Engine) -> JobShape:
    """Greet somebody soon."""
    return JobShape(job_id=Hello.of(engine).greet.enqueue(name=person.name).id)


@router.get("", operation_id="listGreetings")
def list_greetings(caller: SiteReader, engine: Engine) -> list[GreetingShape]:
    """Whom we greeted most."""
    return [GreetingShape(**one._asdict()) for one in Hello.of(engine).greetings()]
