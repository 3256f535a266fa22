"""A tab in which the page is open."""

from __future__ import annotations

import json
from typing import Any

from tests.support.browser import Browser
from tests.support.until import until

SCREENS = {
    "/": "Overview", "/jobs": "Jobs", "/failures": "Failures", "/queues": "Queues",
    "/workers": "Workers", "/kinds": "Kinds", "/schedules": "Schedules", "/outbox": "Outbox",
    "/tenants": "Tenants and limits", "/audit": "Audit", "/docs": "API reference",
    "/new": "New job",
}  # fmt: skip
# Whether what was asked for has been drawn.
SETTLED = """(title => {
    const heading = document.querySelector("main h1")?.textContent ?? "";
    return heading.includes(title) && !document.querySelector("[aria-busy=true]");
})"""


class PageTab(Browser):
    """With the words of these tests: enter, visit, see."""

    url = ""

    def start(self, url: str) -> None:
        """Nothing open, nobody logged in, a large light window."""
        self.url = url
        self.ask("Network.clearBrowserCookies")
        self.open("about:blank")
        self.look(1280, 900)
        self.complaints.clear()

    def enter(self, link: str) -> None:
        """By a login link."""
        self.open(link)
        until(lambda: self.run("Boolean(document.querySelector('.frame'))"))
        self.run("localStorage.clear()")

    def visit(self, address: str, title: str | None = None) -> None:
        """Open an address as if it was pasted, and wait until it is drawn."""
        self.open(self.url + address)
        self.drawn(title if title is not None else SCREENS.get(address.partition("?")[0], ""))

    def reload(self, title: str) -> None:
        """As with F5, and wait until it is drawn anew."""
        self.run("window.before = true")
        self.ask("Page.reload")
        until(lambda: self.run("!window.before && document.readyState === 'complete'"))
        self.drawn(title)

    def drawn(self, title: str) -> None:
        """The screen with this heading is there."""
        until(lambda: self.run(f"{SETTLED}({json.dumps(title)})"))

    def sees(self, text: str, where: str = "body") -> None:
        """Wait for a text."""
        until(lambda: text in self.text(where))

    def press_button(self, label: str, within: str = "body") -> None:
        """The first that can be pressed, by its words. What is drawn above it may still move it."""
        mark = f"""(() => {{
            document.querySelectorAll("[data-found]").forEach(one => delete one.dataset.found);
            const all = document.querySelectorAll({json.dumps(within)} + " :is(button, a)");
            const named = [...all].filter(each => each.textContent.trim() === {json.dumps(label)});
            const one = named.find(each => !each.disabled && each.getClientRects().length);
            if (one) one.dataset.found = "";
            return Boolean(one);
        }})()"""
        until(lambda: self.run(mark))
        self.click("[data-found]")

    def search(self, text: str) -> None:
        """In the search field of the jobs."""
        self.click("[data-search]")
        self.run("document.querySelector('[data-search]').select()")
        self.type(text)
        self.press("Enter", 13)

    def focused(self) -> str:
        """What has the focus, by its words."""
        found = "(e => (e?.getAttribute('aria-label') ?? e?.textContent ?? '').trim())"
        return str(self.run(f"{found}(document.activeElement)"))

    def violations(self, axe: str, *, colours: bool = False) -> list[dict[str, Any]]:
        """What axe-core finds on this screen; `colours`: by the rule that a theme can break."""
        if not self.run("typeof axe !== 'undefined'"):
            self.ask("Runtime.evaluate", expression=axe)
        found: list[dict[str, Any]] = json.loads(
            self.run(f"{CHECK}({json.dumps(CONTRAST if colours else EVERYTHING)})")
        )
        return found


EVERYTHING = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
CONTRAST = {"type": "rule", "values": ["color-contrast"]}
CHECK = """(async rules => {
    const said = node => node.html.slice(0, 160) + " :: " + node.failureSummary.slice(0, 240);
    const found = await axe.run(document, {resultTypes: ["violations"], runOnly: rules});
    return JSON.stringify(found.violations.map(
        one => ({rule: one.id, nodes: one.nodes.slice(0, 3).map(said)})));
})"""
