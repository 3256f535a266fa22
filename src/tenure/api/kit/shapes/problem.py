"""A problem as the document describes it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class FieldProblem(BaseModel):
    """One thing that is wrong, and where: a JSON pointer inside `in`."""

    where: str = Field(alias="in", examples=["body"])
    pointer: str = Field(examples=["/kind"])
    detail: str


class Problem(BaseModel):
    """RFC 9457. `type` and `code` name the sort of problem and never change."""

    model_config = ConfigDict(extra="allow")

    type: str = Field(examples=["urn:tenure:problem:job-not-found"])
    title: str
    status: int
    detail: str
    code: str = Field(examples=["job-not-found"])
    requestId: str | None = None
    errors: list[FieldProblem] | None = None
