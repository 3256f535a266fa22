"""The page for a login link that was used or has expired."""

from __future__ import annotations

from fastapi import Request, Response
from starlette.responses import HTMLResponse

PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>This link does not work any more</title>
<h1>This link does not work any more</h1>
<p>A login link works once, and for a few minutes. This one has been used, or is too old.</p>
<p>Whoever runs the service makes a new one with</p>
<pre>tenure keys link NAME --permission read --base-url URL</pre>
<p>If you are logged in already, <a href="/">open the dashboard</a>.</p>
</html>
"""


def wants_page(request: Request) -> bool:
    """Whether the client is a browser: it accepts HTML by name."""
    return "text/html" in request.headers.get("accept", "")


def dead_link(headers: dict[str, str]) -> Response:
    """The page, with the status 401."""
    return HTMLResponse(PAGE, 401, headers=headers)
