"""The app that includes the handlers of the other module."""

from __future__ import annotations

from tests.jobs.separate.handlers import jobs

from tenure import Tenure

app = Tenure("sqlite:///never-opened.db")
app.include(jobs)
