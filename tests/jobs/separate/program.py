"""The app that includes the handlers of the other module."""

from __future__ import annotations

from tenure import Tenure
from tests.jobs.separate.handlers import jobs

app = Tenure("sqlite:///never-opened.db")
app.include(jobs)
