"""A mail server for trying things out: `python postbox.py` prints every mail that it gets.

It knows just enough of SMTP for a client that behaves.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from contextlib import closing, suppress

PORT = 8025
MOST_BYTES = 1 << 20

Deliver = Callable[[bytes], Awaitable[None]]


class Postbox:
    """Hands over each mail as it came; the sender is told only after that."""

    def __init__(self, deliver: Deliver) -> None:
        self._deliver = deliver

    async def open(self, port: int = PORT) -> asyncio.Server:
        """Listen on loopback; 0 finds a free port."""
        return await asyncio.start_server(self._talk, "127.0.0.1", port, limit=MOST_BYTES)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One client, until it leaves."""
        gone = (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError)
        with closing(writer), suppress(*gone):
            answer = "220 postbox"
            while answer:
                writer.write(answer.encode() + b"\r\n")
                await writer.drain()
                line = await reader.readuntil(b"\r\n")
                answer = await self._answer(line[:4].upper(), reader, writer)
            writer.write(b"221 bye\r\n")
            await writer.drain()

    async def _answer(
        self, verb: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> str:
        match verb:
            case b"QUIT":
                return ""
            case b"DATA":
                writer.write(b"354 go on\r\n")
                mail = await reader.readuntil(b"\r\n.\r\n")
                await self._deliver(re.sub(rb"(?m)^\.", b"", mail[:-3]))
                return "250 delivered"
            case b"EHLO" | b"HELO" | b"MAIL" | b"RCPT" | b"RSET" | b"NOOP":
                return "250 ok"
            case _:
                return "502 not here"


async def show(mail: bytes) -> None:
    """On the terminal."""
    print(mail.decode(errors="replace"), flush=True)


async def main() -> None:
    """Until it is stopped."""
    async with await Postbox(show).open() as server:
        print(f"mails to 127.0.0.1:{PORT} are shown here", flush=True)
        await server.serve_forever()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        asyncio.run(main())
