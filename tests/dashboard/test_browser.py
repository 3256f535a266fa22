"""The page in a real browser, on a real `tenure up`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import timedelta
from pathlib import Path

import pytest

from tenure import JobFilter, Tenure
from tenure.access import login_link
from tenure.core.job import FINAL_STATES, OPEN_STATES
from tests.conftest import IN_CI
from tests.support.browser import Browser, browsing
from tests.support.servers import ServerMissing
from tests.support.until import until
from tests.support.up import Up, up

EVIL = "<img src=x onerror=window.broken=1>"
A_SECOND = timedelta(seconds=1)
TAB, ENTER, ESCAPE = ("Tab", 9), ("Enter", 13), ("Escape", 27)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """One for all tests of this file; its database is theirs alone."""
    folder = tmp_path_factory.mktemp("up")
    with up(folder, TENURE_DATABASE_URL=f"sqlite:///{folder / 'tenure.db'}") as running:
        yield running


@pytest.fixture
def engine(service: Up) -> Iterator[Tenure]:
    """Another program on the same database, which has no jobs yet."""
    made = Tenure(service.database)
    for job in made.insight.stream(JobFilter(states=OPEN_STATES)):
        made.cancel(job.id)
    until(lambda: not any(made.insight.counts().get(state) for state in OPEN_STATES))
    made.operator.purge(JobFilter(states=FINAL_STATES), made.store.now() + A_SECOND)
    yield made
    made.close()


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A missing browser is a skip on a laptop and a failure where everything must run."""
    try:
        with browsing(tmp_path_factory.mktemp("profile")) as tab:
            yield tab
    except ServerMissing as missing:
        if IN_CI:
            pytest.fail(f"CI runs every test, but there is no {missing}")
        pytest.skip(f"not installed: {missing}")


@pytest.fixture
def browser(tab: Browser) -> Browser:
    """With nothing open. Each service has a port, and so a cookie, of its own."""
    tab.open("about:blank")
    tab.look(1280, 900)
    tab.complaints.clear()
    return tab


@pytest.fixture
def page(browser: Browser, service: Up, engine: Tenure) -> Browser:
    """Let in by a link."""
    browser.open(login_link(engine, service.url))
    until(lambda: browser.text("#health") == "all well" and browser.text("#live") == "live")
    return browser


def open_job(page: Browser, job_id: str) -> None:
    """By its link in the list; lists above it may still grow and push it away from the mouse."""
    for _ in range(10):
        page.click(f"a[href='#/jobs/{job_id}']")
        with suppress(AssertionError):
            until(lambda: page.run("document.querySelector('#job').open"), 2)
            return
    pytest.fail(f"job {job_id} does not open")


def test_a_stranger_reads_how_to_get_in(browser: Browser, service: Up) -> None:
    browser.open(service.url)

    until(lambda: "tenure keys link" in browser.text("#stranger"))
    assert browser.run("document.getElementById('main').hidden")


def test_one_click_adds_the_sample_jobs_and_they_are_seen_as_they_run(page: Browser) -> None:
    until(lambda: "No jobs yet" in page.text("#jobs"))
    assert "Nothing has failed" in page.text("#failures")

    page.click("#sample")

    until(lambda: page.text("#jobs tbody").count("succeeded") == 4)
    until(lambda: "'nobody' is no address (bad_address)" in page.text("#failures"))
    until(lambda: "%" in page.text("#jobs progress + span"))
    assert page.complaints == []


def test_text_of_jobs_is_shown_as_text(page: Browser, engine: Tenure) -> None:
    job = engine.enqueue(EVIL, {"note": "<script>window.broken=2</script>"}, key=EVIL)

    until(lambda: EVIL in page.text("#jobs"))
    open_job(page, job.id)
    until(lambda: "<script>window.broken=2</script>" in page.text("#job pre"))

    assert EVIL in page.text("#job h2")
    assert "no live worker" in page.text("#job .why").lower()
    assert page.run("window.broken ?? null") is None
    assert page.complaints == []


def test_numbers_are_shown_as_they_are(page: Browser, engine: Tenure) -> None:
    """Also those that are none of JavaScript's, and text that looks like one."""
    numbers = [9_007_199_254_740_993, -(10**30) - 7, 2**53 - 1, 0, -1, 1.5, 1e300]
    said = {"numbers": numbers, "text": '"9007199254740993" \\ 9007199254740993', "none": None}
    ref = engine.enqueue("nobody.knows", {"said": said})
    until(lambda: page.text(f"a[href='#/jobs/{ref.id}']"))
    open_job(page, ref.id)

    shown = until(lambda: page.text("#job [data-part=data] pre"))

    assert json.loads(shown) == {"said": said}
    assert page.complaints == []


def test_a_failure_is_retried_and_discarded_with_its_buttons(page: Browser, engine: Tenure) -> None:
    job = engine.enqueue("demo.broken", {"address": "nobody"})
    until(lambda: engine.get(job.id).state == "failed")

    page.click("#failures [data-what=retry]")
    until(lambda: engine.get(job.id).fence > 2 and engine.get(job.id).state == "failed")
    until(lambda: f"#{job.id}" in page.text("#failures"))
    page.click("#failures [data-what=cancel]")

    until(lambda: engine.get(job.id).state == "canceled")
    until(lambda: "Nothing has failed" in page.text("#failures"))


def test_all_failures_are_retried_after_a_question(page: Browser, engine: Tenure) -> None:
    jobs = [engine.enqueue("demo.broken", {"address": name}) for name in "ab"]
    until(lambda: all(engine.get(job.id).state == "failed" for job in jobs))

    page.click("#replay")
    until(lambda: "2 failed jobs" in page.text("#question"))
    page.click("#question .strong")

    until(lambda: all(engine.get(job.id).fence > 2 for job in jobs))


def test_a_queue_is_paused_and_resumed(page: Browser, engine: Tenure) -> None:
    engine.enqueue("demo.mail", {"to": "ada"}, delay=600)

    page.click("#queues [data-what=pause]")
    until(lambda: "paused" in page.text("#queues tbody"))
    assert [queue.paused for queue in engine.insight.queues()] == [True]

    page.click("#queues [data-what=pause]")
    until(lambda: "paused" not in page.text("#queues tbody"))
    assert [queue.paused for queue in engine.insight.queues()] == [False]


def test_progress_is_live_in_the_open_job_and_it_can_be_cancelled(
    page: Browser, engine: Tenure
) -> None:
    job = engine.enqueue("demo.report", {"seconds": 60, "pages": 600})
    open_job(page, job.id)

    first = until(lambda: page.text("#job .progress"))
    until(lambda: page.text("#job .progress") not in ("", first))
    page.click("#job [data-what=cancel]")

    until(lambda: page.text("#job .badge") == "canceled")
    assert engine.get(job.id).state == "canceled"


SLOW_APP = """
import asyncio
from tenure import Tenure

app = Tenure()

@app.job("slow")
async def slow(job):
    job.log("begun well")
    step = 0
    while not job.canceled:
        step += 1
        job.progress(0.5, f"step {step}")
        await asyncio.sleep(0.05)
"""


BROKEN = """performance.getEntriesByType("resource").filter(
    one => /jobs.*events/.test(one.name)).length"""


def test_log_lines_stay_when_the_stream_is_broken_and_goes_on(
    browser: Browser, tmp_path: Path
) -> None:
    """A browser comes again with Last-Event-ID, and gets only what it has not seen."""
    (tmp_path / "slow.py").write_text(SLOW_APP)
    database = {"TENURE_DATABASE_URL": f"sqlite:///{tmp_path / 'tenure.db'}"}
    with (
        up(tmp_path, "--app", "slow:app", TENURE_API_STREAM_SECONDS="0.5", **database) as service,
        closing(Tenure(database["TENURE_DATABASE_URL"])) as engine,
    ):
        job = engine.enqueue("slow")
        browser.open(service.link)
        open_job(browser, job.id)
        until(lambda: "begun well" in browser.text("#job .log"))

        until(lambda: browser.run(BROKEN) >= 3)
        drawn = browser.text("#job .progress")
        until(lambda: browser.text("#job .progress") not in ("", drawn))
        assert browser.text("#job .log").count("begun well") == 1
        engine.cancel(job.id)


def test_lists_are_narrowed_by_state(page: Browser, engine: Tenure) -> None:
    engine.enqueue("demo.mail", {"to": "ada"}, delay=600)
    engine.enqueue("demo.broken", {"address": "nobody"})
    until(lambda: "demo.mail" in page.text("#jobs") and "demo.broken" in page.text("#jobs"))

    page.click("#states button:nth-child(2)")

    until(lambda: "demo.broken" not in page.text("#jobs tbody"))
    assert "demo.mail" in page.text("#jobs tbody")


def test_the_keyboard_is_enough(page: Browser, engine: Tenure) -> None:
    job = engine.enqueue("demo.mail", {"to": "ada"})
    until(lambda: "succeeded" in page.text("#jobs tbody"))
    focused = "document.activeElement.getAttribute('href')"

    for _ in range(40):
        page.press(*TAB)
        if page.run(focused) == f"#/jobs/{job.id}":
            break
    page.press(*ENTER)
    until(lambda: "demo.mail" in page.text("#job h2"))
    page.press(*ESCAPE)

    until(lambda: not page.run("document.getElementById('job').open"))
    until(lambda: page.run("location.hash") == "")


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_window(page: Browser, engine: Tenure, width: int) -> None:
    job = engine.enqueue("kind." + "x" * 90, {"text": "y" * 500})
    page.look(width, 844)
    until(lambda: "xxx" in page.text("#jobs"))
    assert page.run("document.documentElement.scrollWidth") <= width

    open_job(page, job.id)
    until(lambda: "yyy" in page.text("#job"))
    assert page.run("document.getElementById('job').scrollWidth") <= width


def test_colours_follow_what_the_person_likes(page: Browser) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.run(ground)
    page.look(1280, 900, dark=True)
    dark = page.run(ground)

    assert brightness(light) > 200 > 60 > brightness(dark)


def brightness(colour: str) -> float:
    return float(sum(json.loads(f"[{colour.removeprefix('rgb(').removesuffix(')')}]")) / 3)
