"""Waiting for jobs to end: `app.wait`, `ref.result`, and the waits of the HTTP API."""
