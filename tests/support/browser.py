"""A real browser without a window: Chromium, spoken to over two pipes (its DevTools protocol)."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from tests.support.servers import ServerMissing
from tests.support.until import until

PROGRAMS = ("chromium-headless-shell", "chromium", "google-chrome")
PATIENCE_SECONDS = 30.0
OPTIONS = (
    "--headless", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--no-first-run",
    "--disable-dev-shm-usage", "--disable-extensions", "--disable-background-networking",
    "--hide-scrollbars", "--force-device-scale-factor=1",
)  # fmt: skip
MIDDLE = """e => {
    if (!e?.getClientRects().length || e.disabled) return null;
    e.scrollIntoView({block: "center"});
    return JSON.stringify(e.getClientRects()[0]);  // of a text of several lines, the first
}"""


Tab = TypeVar("Tab", bound="Browser")


class Browser:
    """One tab."""

    def __init__(self, into: int, out: int) -> None:
        self._into, self._out = into, out
        self._number = 0
        self._unread = b""
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.received = 0
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        attached = self._ask("Target.attachToTarget", targetId=target, flatten=True)
        self._session: str | None = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    _session: str | None = None

    def ask(self, method: str, **params: Any) -> Any:
        """A command to the tab, and its answer."""
        return self._ask(method, **params)

    def open(self, url: str) -> None:
        """Go there."""
        self.ask("Page.navigate", url=url)
        until(lambda: self.run("document.readyState") == "complete")

    def run(self, script: str) -> Any:
        """The value of an expression; a promise is waited for."""
        answer = self.ask(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise AssertionError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def text(self, selector: str) -> str:
        """What a person reads there; empty where there is nothing."""
        return str(self.run(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''"))

    def click(self, selector: str) -> None:
        """A press of the mouse in its middle, once it is there."""
        find = f"document.querySelector({json.dumps(selector)})"
        box = until(lambda: self.run(f"({MIDDLE})({find})"))
        at = json.loads(box)
        where = {"x": at["x"] + at["width"] / 2, "y": at["y"] + at["height"] / 2}
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **where)

    def press(self, key: str, code: int = 0, *, control: bool = False) -> None:
        """A key, like Tab, Enter, Escape or a letter."""
        typed = {"text": "\r"} if key == "Enter" else {"text": key} if len(key) == 1 else {}
        if control:
            typed = {}
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, code=key, modifiers=2 * control,
                     windowsVirtualKeyCode=code, **typed)  # fmt: skip

    def type(self, text: str) -> None:
        """Into what has the focus."""
        self.ask("Input.insertText", text=text)

    def forget_requests(self) -> None:
        """Count from here on."""
        self.requests.clear()
        self.received = 0

    def look(self, width: int, height: int, *, dark: bool = False) -> None:
        """How large the window is, and which colours the person likes."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height,
                 deviceScaleFactor=1, mobile=False)  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        still = {"name": "prefers-reduced-motion", "value": "reduce"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme, still])

    def picture(self, path: Path) -> None:
        """What the window shows, as PNG."""
        path.write_bytes(base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"]))

    def _ask(self, method: str, **params: Any) -> Any:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._into, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + PATIENCE_SECONDS
        while (answer := self._message(deadline)).get("id") != self._number:
            self._note(answer)
        if "error" in answer:
            raise AssertionError(f"{method}: {answer['error']}")
        return answer["result"]

    def _note(self, event: dict[str, Any]) -> None:
        """What the browser complains about: scripts that fail, what its policy refuses."""
        match event.get("method"):
            case "Runtime.exceptionThrown":
                self.complaints.append(str(event["params"]["exceptionDetails"]))
            case "Log.entryAdded" if event["params"]["entry"]["level"] == "error":
                entry = event["params"]["entry"]
                self.complaints.append(f"{entry['text']} {entry.get('url', '')}".strip())
            case "Network.requestWillBeSent":
                self.requests.append(event["params"]["request"]["url"])
            case "Network.loadingFinished":
                self.received += int(event["params"]["encodedDataLength"])

    def _message(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._unread:
            ready, _, _ = select.select([self._out], [], [], max(0.0, deadline - time.monotonic()))
            part = os.read(self._out, 1 << 20) if ready else b""
            assert part, "the browser does not answer"
            self._unread += part
        whole, _, self._unread = self._unread.partition(b"\0")
        found: dict[str, Any] = json.loads(whole)
        return found


@contextmanager
def browsing(folder: Path, tab: type[Tab] = Browser) -> Iterator[Tab]:  # type: ignore[assignment]
    """A browser with an empty profile in this folder; ServerMissing where there is none."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        raise ServerMissing("Chromium (apt-get install chromium-headless-shell)")
    their_input, into = os.pipe()
    out, their_output = os.pipe()
    process = _start(program, folder, their_input, their_output)
    os.close(their_input)
    os.close(their_output)
    try:
        yield tab(into, out)
    finally:
        process.kill()
        process.wait()
        for end in (into, out):
            with suppress(OSError):
                os.close(end)


def _start(program: str, folder: Path, reads: int, writes: int) -> subprocess.Popen[bytes]:
    """It reads commands from descriptor 3 and writes answers to 4: a shell puts them there."""
    command = [program, *OPTIONS, f"--user-data-dir={folder}", "about:blank"]
    return subprocess.Popen(
        ["bash", "-c", f'exec "$@" 3<&{reads} 4>&{writes}', "bash", *command],
        pass_fds=(reads, writes),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
