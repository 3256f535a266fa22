"""What a job says is shown as it is: as text, exact, without breaking the layout."""

from __future__ import annotations

import json

import pytest

from tenure import Tenure
from tests.dashboard.page_tab import PageTab
from tests.support.until import until

MARKUP = "<img src=x onerror=window.broken=1>"
SCRIPT = "<script>window.broken=2</script>"
QUOTES = '"it\'s" `${1+1}` \\ </textarea> &amp; %27'
BACKWARDS = "gnp.\u202eexe.doc \u2066\u2069 שלום"
NUMBERS = [9_007_199_254_740_993, -(10**40) - 7, 2**53 - 1, 0, -1, 1.5, 1e300]
TOO_WIDE = "document.documentElement.scrollWidth - innerWidth"


@pytest.mark.parametrize("text", [MARKUP, SCRIPT, QUOTES, BACKWARDS])
def test_text_is_shown_as_text(page: PageTab, engine: Tenure, text: str) -> None:
    kind = text[:60]
    job = engine.enqueue(kind, {"note": text}, key=text)
    page.visit(f"/jobs?q=id%3A{job.id}&job={job.id}", "Jobs")

    page.sees(text, ".jobs tbody")
    assert json.loads(until(lambda: page.text("#job [data-part=payload] pre"))) == {"note": text}
    assert kind in page.text("#job h1")
    assert page.run("window.broken ?? null") is None
    assert page.run(TOO_WIDE) <= 0
    assert page.complaints == []
    engine.cancel(job.id)


def test_numbers_are_exact(page: PageTab, engine: Tenure) -> None:
    """Also those that are none of JavaScript's, and text that looks like one."""
    said = {"numbers": NUMBERS, "text": '"9007199254740993" \\ 9007199254740993', "none": None}
    job = engine.enqueue("nobody.counts", {"said": said})
    page.visit(f"/jobs/{job.id}", "nobody.counts")

    shown = until(lambda: page.text("[data-part=payload] pre"))

    assert json.loads(shown) == {"said": said}
    assert str(-(10**40) - 7) in shown
    engine.cancel(job.id)


def test_a_megabyte_is_cut_until_it_is_asked_for(page: PageTab, engine: Tenure) -> None:
    job = engine.enqueue("nobody.reads", {"text": "ä" * 500_000 + "end"})
    page.visit(f"/jobs/{job.id}", "nobody.reads")
    page.sees("Show all 500,0", "[data-part=payload]")
    assert len(page.text("[data-part=payload] pre")) == 20_000

    page.click("[data-part=payload] button.link")
    until(
        lambda: (
            page.run("document.querySelector('[data-part=payload] pre').textContent.length")
            > 500_000
        )
    )
    assert page.run(TOO_WIDE) <= 0
    engine.cancel(job.id)


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_nothing_is_wider_than_the_window(page: PageTab, engine: Tenure, width: int) -> None:
    job = engine.enqueue("kind." + "x" * 90, {"text": "y" * 500}, key="k" * 200, queue="q" * 60)
    page.look(width, 844)
    page.visit(f"/jobs?q=id%3A{job.id}", "Jobs")
    page.sees("xxx", ".jobs")
    assert page.run(TOO_WIDE) <= 0
    page.visit(f"/jobs/{job.id}", "xxx")
    page.sees("yyy")
    assert page.run(TOO_WIDE) <= 0
    page.visit("/queues")
    assert page.run(TOO_WIDE) <= 0
    engine.cancel(job.id)
