"""Types of names and ids with the limits that `tenure.jobs.options` checks."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tenure.jobs.option_values import ID_LENGTH
from tenure.jobs.options import LENGTHS

PLAIN = r"^[^\x00-\x1f\x7f]*$"
JOB_ID = "^[!-.0-~]+$"
NAME = r"^[^\x00-\x1f\x7f\s]([^\x00-\x1f\x7f]*[^\x00-\x1f\x7f\s])?$"

Kind = Annotated[
    str, Field(max_length=LENGTHS["kind"], pattern=NAME, examples=["invoice.pdf.render"])
]
Queue = Annotated[str, Field(max_length=LENGTHS["queue"], pattern=NAME, examples=["default"])]
Key = Annotated[str, Field(max_length=LENGTHS["key"], pattern=NAME, examples=["inv:42"])]
OrderingKey = Annotated[str, Field(max_length=LENGTHS["ordering_key"], pattern=NAME)]
LimitKey = Annotated[str, Field(max_length=LENGTHS["limit_key"], pattern=NAME)]
Tenant = Annotated[
    str, Field(max_length=LENGTHS["tenant"], pattern=f"{NAME}|^$", examples=["acme"])
]
User = Annotated[str, Field(max_length=LENGTHS["owner"], pattern=NAME, examples=["ada"])]
CorrelationId = Annotated[str, Field(max_length=LENGTHS["correlation_id"], pattern=NAME)]
JobId = Annotated[str, Field(min_length=1, max_length=ID_LENGTH, pattern=JOB_ID, examples=["42"])]
