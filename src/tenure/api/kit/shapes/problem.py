"""Problem documents, for the OpenAPI document."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class FieldProblem(BaseModel):
    """One wrong field: a JSON pointer inside `in`, and what is wrong."""

    where: str = Field(alias="in", examples=["body"])
    pointer: str = Field(examples=["/kind"])
    detail: str


class Problem(BaseModel):
    """RFC 9457. `type` and `code` identify the kind of problem and never change."""

    model_config = ConfigDict(extra="allow")

    type: str = Field(examples=["urn:tenure:problem:job-not-found"])
    title: str
    status: int
    detail: str
    code: str = Field(examples=["job-not-found"])
    requestId: str | None = None
    errors: list[FieldProblem] | None = None
