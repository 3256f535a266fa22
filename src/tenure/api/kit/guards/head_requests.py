"""`HEAD` for every `GET` route: the same answer without its body."""

from __future__ import annotations

from starlette.requests import Request

from tenure.asgi.messages import Application, Message, Receive, Scope, Send


class HeadRequests:
    """Routes see a GET. Those that last or change something check `is_head` first."""

    def __init__(self, inner: Application) -> None:
        self._inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._inner(scope, receive, send)
            return
        # A copy: outer middlewares (metrics, logs) still see a HEAD.
        state = {**scope.get("state", {}), "head": True}

        async def sending(message: Message) -> None:
            await send({**message, "body": b""} if "body" in message else message)

        await self._inner({**scope, "method": "GET", "state": state}, receive, sending)


def is_head(request: Request) -> bool:
    """Whether the request was a HEAD."""
    return bool(request.scope.get("state", {}).get("head"))
