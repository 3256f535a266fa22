"""Arguments are bound to the signature and checked: at the caller, and again when run."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel

from tenure import ArgumentsError, JobFilter, OptionError, PayloadError, RunningJob, State, Tenure
from tenure.core.errors import UnknownKind
from tenure.testing import run_until_idle


class Address(BaseModel):
    street: str
    number: int


def test_a_handler_takes_exactly_its_own_arguments(app: Tenure) -> None:
    seen: list[Any] = []

    @app.job("invoice")
    def invoice(job: RunningJob, number: int, due: date, to: Address, rate: Decimal) -> None:
        seen.append((number, due, to, rate))

    invoice.enqueue(42, due=date(2030, 1, 31), to=Address(street="Elm", number=1), rate="1.10")  # type: ignore[arg-type]
    run_until_idle(app)

    assert seen == [(42, date(2030, 1, 31), Address(street="Elm", number=1), Decimal("1.10"))]


@pytest.mark.parametrize(
    ("args", "kwargs", "problem"),
    [
        ((), {}, "number: Field required"),
        (("forty",), {}, "number: Input should be a valid integer"),
        ((1, 2, 3), {}, "takes 2 arguments"),
        ((1,), {"number": 2}, "given twice"),
        ((1,), {"nuber": 2}, "nuber: Extra inputs"),
    ],
)
def test_wrong_arguments_are_an_error_at_the_caller(
    app: Tenure, args: tuple[Any, ...], kwargs: dict[str, Any], problem: str
) -> None:
    @app.job("invoice")
    def invoice(job: RunningJob, number: int, note: str = "") -> None: ...

    with pytest.raises(ArgumentsError, match=problem):
        invoice.enqueue(*args, **kwargs)

    assert app.insight.counts(JobFilter()) == {}


def test_the_message_never_repeats_a_value_that_may_be_secret(app: Tenure) -> None:
    @app.job("login")
    def login(job: RunningJob, pin: int) -> None: ...

    with pytest.raises(ArgumentsError) as caught:
        login.enqueue("hunter2")  # type: ignore[arg-type]

    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("payload", [{"number": "x"}, {}, {"number": 1, "more": 2}, [1], "text"])
def test_a_wrong_payload_by_name_is_a_permanent_failure_never_a_crash_loop(
    app: Tenure, payload: Any
) -> None:
    @app.job("invoice")
    def invoice(job: RunningJob, number: int) -> None: ...

    ref = app.enqueue("invoice", payload)
    run_until_idle(app)

    job = app.get(ref)
    assert (job.state, job.reason, job.attempt) == (State.FAILED, "bad_arguments", 1)


def test_a_kind_has_one_handler(app: Tenure) -> None:
    app.job("once")(_handler)

    with pytest.raises(OptionError, match="has a handler already"):
        app.job("once")(_handler)


def test_a_handler_needs_the_job_and_plain_parameters(app: Tenure) -> None:
    def nothing() -> None: ...

    def many(job: RunningJob, *rest: int) -> None: ...

    def named(job: RunningJob, **rest: int) -> None: ...

    for function in (nothing, many, named):
        with pytest.raises(OptionError):
            app.job("bad")(function)  # type: ignore[arg-type]


def test_a_process_handler_stands_at_the_top_of_a_module(app: Tenure) -> None:
    def inner(job: RunningJob) -> None: ...

    with pytest.raises(OptionError, match="top level"):
        app.job("inner", runs_in="process")(inner)


def test_an_async_handler_cannot_ask_for_a_process(app: Tenure) -> None:
    async def later(job: RunningJob) -> None: ...

    with pytest.raises(OptionError, match="async"):
        app.job("later", runs_in="process")(later)


def test_an_unknown_kind_is_accepted_by_name_and_named_where_a_handler_is_needed(
    app: Tenure,
) -> None:
    app.job("known")(_handler)

    assert app.get(app.enqueue("elsewhere")).state is State.QUEUED
    with pytest.raises(UnknownKind, match="known"):
        app.handlers.require("elsewhere")


def _handler(job: RunningJob) -> None: ...


def test_a_payload_is_the_same_text_through_a_handler_and_by_name(app: Tenure) -> None:
    @app.job("flat")
    def flat(job: RunningJob, a: int, b: str = "", c: bool | None = None) -> None: ...

    @app.job("mixed")
    def mixed(job: RunningJob, b: str, a: float, x: Any = None) -> None: ...

    odd = '\x00\x1f\x7f"\\/\u2028ü\U0001f600'
    assert flat.new(10**30, odd).payload == app.new("f", {"a": 10**30, "b": odd, "c": None}).payload
    assert mixed.new(odd, 1e22).payload == app.new("f", {"a": 1e22, "b": odd, "x": None}).payload
    assert flat.new(1, c=True).payload == '{"a":1,"b":"","c":true}'


def test_arguments_over_the_limit_are_refused_with_advice(app: Tenure) -> None:
    @app.job("flat")
    def flat(job: RunningJob, a: str) -> None: ...

    with pytest.raises(PayloadError, match="1,048,576"):
        flat.enqueue("x" * 1_048_577)
