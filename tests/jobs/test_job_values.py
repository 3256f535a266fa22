"""A job holds values; the stored JSON texts have names of their own."""

from __future__ import annotations

from tenure import JobFilter, RunningJob, Tenure
from tenure.testing import run_until_idle


def test_payload_and_result_are_values_and_their_texts_are_kept(app: Tenure) -> None:
    @app.job("add")
    def add(job: RunningJob, a: int, b: int) -> dict[str, int]:
        return {"sum": a + b}

    ref = add.enqueue(a=1, b=2)
    run_until_idle(app)

    job = app.get(ref)
    assert (job.payload, job.result) == ({"a": 1, "b": 2}, {"sum": 3})
    assert (job.payload_json, job.result_json) == ('{"a":1,"b":2}', '{"sum":3}')


def test_lists_leave_them_out(app: Tenure) -> None:
    app.enqueue("add", {"a": 1})

    [row] = app.insight.page(JobFilter()).rows
    assert (row.payload, row.result, row.payload_json, row.result_json) == (None,) * 4
