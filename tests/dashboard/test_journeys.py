"""What operators do, in a real browser on a real `tenure up`."""

from __future__ import annotations

from tenure import JobFilter, Tenure
from tenure.core.job import State
from tenure.stores.contract import Change, Move
from tests.dashboard.page_tab import PageTab
from tests.support.until import until
from tests.support.up import Up

TAB, ENTER, ESCAPE = ("Tab", 9), ("Enter", 13), ("Escape", 27)


def newest(engine: Tenure, kind: str) -> str:
    return next(iter(engine.insight.stream(JobFilter(kinds=(kind,))))).id


def test_a_group_of_failures_is_replayed_after_a_preview(page: PageTab, engine: Tenure) -> None:
    jobs = [engine.enqueue("mail.send", {"to": "void", "subject": str(n)}) for n in range(2)]
    until(lambda: all(engine.get(job.id).state == "failed" for job in jobs))
    page.visit("/failures")
    page.sees("is no address")

    page.press_button("Retry…", ".errors li[data-type=Fail]")
    page.sees("whose last error is", "dialog.question")
    failed = JobFilter(kinds=("mail.send",), states=(State.FAILED,))
    total = len(list(engine.insight.stream(failed)))
    page.sees(f"Retry {total} jobs", "dialog.question button.strong")
    page.click("dialog.question button.strong")

    until(lambda: all(engine.get(job.id).fence > 2 for job in jobs))
    page.sees("will run again", ".said")
    assert page.complaints == []


def test_what_needs_a_person_is_mended_from_the_first_screen(page: PageTab, engine: Tenure) -> None:
    """A paused queue with waiting jobs: found within 10 s, resumed with its button."""
    engine.operator.pause("mail", "operator")
    job = engine.enqueue("mail.send", {"to": "ada@example.org", "subject": "Hi"})
    try:
        page.visit("/")
        page.sees("mail", "#needs-you")
        page.press_button("Resume mail", "#needs-you li:has(p)")
        until(lambda: engine.get(job.id).state == "succeeded")
    finally:
        engine.operator.resume("mail", "operator")


def test_jobs_are_found_by_tokens_and_the_address_restores_it(
    page: PageTab, filled: Tenure
) -> None:
    page.visit("/jobs")
    page.search("kind:order.pay tenant:acme")
    until(lambda: "globex" not in page.text(".jobs tbody") and "acme" in page.text(".jobs tbody"))
    assert "q=kind%3Aorder.pay+tenant%3Aacme" in page.run("location.search")

    page.reload("Jobs")
    page.sees("order.pay", ".jobs tbody")
    assert page.run("document.querySelector('[data-search]').value") == "kind:order.pay tenant:acme"

    page.search("payload.order_id:order-3")
    until(lambda: page.run("document.querySelectorAll('.jobs tr[data-row]').length") == 1)
    page.sees("#", ".jobs tbody")
    page.run("history.back()")
    until(lambda: page.run("document.querySelectorAll('.jobs tr[data-row]').length") > 1)


def test_a_wrong_token_is_named(page: PageTab, filled: Tenure) -> None:
    page.visit("/jobs?q=colour%3Ared")
    page.sees("colour", ".empty")


def test_suggestions_complete_a_token(page: PageTab, filled: Tenure) -> None:
    page.visit("/jobs")
    page.click("[data-search]")
    page.type("kind:stock.s")
    page.sees("kind:stock.sync", ".search ul")
    page.press("ArrowDown", 40)
    page.press(*ENTER)
    until(lambda: "order.pay" not in page.text(".jobs tbody"))
    page.sees("stock.sync", ".jobs tbody")


def test_states_narrow_the_list(page: PageTab, filled: Tenure) -> None:
    page.visit("/jobs")
    page.click(".states .dead")
    until(lambda: "succeeded" not in page.text(".jobs tbody") and page.text(".jobs tbody"))
    page.sees("dead", ".jobs tbody")
    assert page.run("location.search") == "?q=state%3Adead"


def test_selected_jobs_are_canceled_with_the_number_on_the_button(
    page: PageTab, engine: Tenure
) -> None:
    jobs = [engine.enqueue("nobody.knows", {"n": n}) for n in range(3)]
    page.visit("/jobs?q=kind%3Anobody.knows+state%3Aqueued")
    page.sees("nobody.knows", ".jobs tbody")
    page.click(".jobs thead input")
    page.sees("3 jobs selected", ".bulk")
    page.press_button("Cancel 3", ".bulk")
    page.sees("Cancel 3 jobs?", "dialog.question")
    page.click("dialog.question button.strong")

    until(lambda: all(engine.get(job.id).state == "canceled" for job in jobs))


def test_all_that_match_are_moved_by_their_filter(page: PageTab, engine: Tenure) -> None:
    jobs = [engine.enqueue("nobody.asks", {"n": n}) for n in range(130)]
    page.visit("/jobs?q=kind%3Anobody.asks")
    page.sees("nobody.asks", ".jobs tbody")
    page.press("a", 65)
    page.sees("All jobs of the kind nobody.asks are selected", ".bulk")
    page.press_button("Cancel 130", ".bulk")
    page.sees("jobs of the kind nobody.asks", "dialog.question")
    page.click("dialog.question button.strong")

    until(lambda: all(engine.get(job.id).state == "canceled" for job in jobs))
    page.sees("130 jobs canceled", ".said")


def test_a_move_is_followed_after_a_reload(page: PageTab, engine: Tenure) -> None:
    """Its id is kept in the browser; the service answers how far it is."""
    for n in range(2):
        engine.enqueue("nobody.waits", {"n": n})
    page.visit("/queues")
    moved = """(async () => {
        const session = await (await fetch("/session")).json();
        const headers = {"x-csrf-token": session.csrfToken, "content-type": "application/json"};
        const body = JSON.stringify({kind: ["nobody.waits"]});
        const answer = await fetch("/api/jobs/cancel", {method: "POST", headers, body});
        return (await answer.json()).operationId;
    })()"""
    kept = f"localStorage.setItem('tenure.operations', '[\"{page.run(moved)}\"]')"
    page.run(kept)
    page.visit("/queues")

    page.sees("2 jobs canceled", ".operations")
    page.press_button("Dismiss", ".operations")
    until(lambda: not page.text(".operations"))


def test_thousands_of_rows_keep_the_document_small(page: PageTab, engine: Tenure) -> None:
    engine.enqueue_many([engine.new("many.rows", {"n": n}, delay=3600) for n in range(700)])
    page.visit("/jobs?q=kind%3Amany.rows")
    rows = "document.querySelectorAll('.jobs tr[data-row]').length"
    until(lambda: page.run(rows) > 10)

    until(lambda: page.run("(scrollTo(0, 1e7), document.body.innerText.includes('700 loaded'))"))
    assert page.run(rows) < 80
    engine.operator.move_all(JobFilter(kinds=("many.rows",)), Change(move=Move.CANCEL))


def test_progress_and_log_lines_are_live_and_a_job_can_be_canceled(
    page: PageTab, engine: Tenure
) -> None:
    job = engine.enqueue("report.build", {"pages": 600, "seconds": 60})
    page.visit(f"/jobs?q=kind%3Areport.build&job={job.id}", "Jobs")
    first = until(lambda: page.text("#job .progress"))
    until(lambda: page.text("#job .progress") not in ("", first))
    page.sees("page 1 is drawn", "#job .log")
    page.press_button("Cancel", "#job")

    until(lambda: page.text("#job .badge") == "canceled")
    assert engine.get(job.id).state == "canceled"


def test_a_canceled_job_is_queued_again_with_undo(page: PageTab, engine: Tenure) -> None:
    job = engine.enqueue("mail.send", {"to": "a@b", "subject": "x"}, delay=600)
    page.visit(f"/jobs/{job.id}", "mail.send")
    page.press_button("Cancel", ".job")
    until(lambda: engine.get(job.id).state == "canceled")
    page.press_button("Undo", ".said")
    until(lambda: engine.get(job.id).state != "canceled")


def test_a_job_shows_its_steps_children_and_dependents(page: PageTab, filled: Tenure) -> None:
    page.visit(f"/jobs/{newest(filled, 'order.pay')}", "order.pay")
    page.sees("charge", "[data-part=steps]")
    page.sees("mail.send", "[data-part=family]")
    page.press_button("Show the flow", "[data-part=family]")
    page.drawn("Flow of job")
    page.sees("mail.send", ".canvas")


def test_a_queue_is_paused_with_its_button_and_undo_resumes_it(
    page: PageTab, engine: Tenure
) -> None:
    page.visit("/queues")
    page.press_button("Pause", "tr:has(a[href*='slow'])")
    page.sees("paused", "tr:has(a[href*='slow'])")
    until(lambda: any(one.paused and one.name == "slow" for one in engine.insight.queues()))

    page.press_button("Undo", ".said")
    until(lambda: not any(one.paused and one.name == "slow" for one in engine.insight.queues()))


def test_a_new_job_is_made_with_the_form_of_its_handler(page: PageTab, engine: Tenure) -> None:
    page.visit("/new?kind=mail.send")
    page.sees("subject", "fieldset")
    page.run("document.querySelector('fieldset input').focus()")
    page.type("eve@example.org")
    page.run("document.querySelectorAll('fieldset input')[1].focus()")
    page.type("From the form")
    page.press(*ENTER)

    until(lambda: page.run("location.pathname").startswith("/jobs/"))
    job = engine.get(page.run("location.pathname").removeprefix("/jobs/"))
    assert job.payload == {"to": "eve@example.org", "subject": "From the form"}


def test_limits_and_weights_are_set_and_audited(page: PageTab, engine: Tenure) -> None:
    page.visit("/kinds")
    page.press_button("Limit…", "li:has(a[href*='stock.sync'])")
    page.click("form.edit input")
    page.type("3")
    page.press_button("Set limit", "form.edit")
    page.sees("3 at a time", "li:has(a[href*='stock.sync'])")

    page.visit("/audit")
    page.sees("stock.sync", "table")


def test_the_keyboard_is_enough(page: PageTab, filled: Tenure) -> None:
    """From the first screen to a retried job without the mouse."""
    page.visit("/")
    page.press("g", 71)
    page.press("j", 74)
    page.drawn("Jobs")
    page.press("/", 191)
    until(lambda: page.focused() == "Search jobs")
    page.type("kind:stock.sync state:dead")
    page.press(*ENTER)
    until(lambda: page.run("document.querySelectorAll('.jobs tr[data-row]').length") == 2)
    page.press(*ESCAPE)
    page.press("j", 74)
    until(lambda: page.focused() == "stock.sync")
    page.press(*ENTER)
    page.sees("Last error", "#job")
    for _ in range(12):
        page.press(*TAB)
        if page.focused() == "Retry":
            break
    page.press(*ENTER)
    page.sees("will run again", ".said")
    page.press(*ESCAPE)

    until(lambda: not page.run("document.querySelector('dialog[open]')"))
    until(lambda: "job=" not in page.run("location.search"))


def test_the_palette_opens_screens_and_jobs(page: PageTab, filled: Tenure) -> None:
    job = newest(filled, "order.pay")
    page.visit("/queues")
    page.press("k", 75, control=True)
    page.sees("Overview", ".palette")
    page.type("audit")
    page.press(*ENTER)
    page.drawn("Audit")
    page.press("k", 75, control=True)
    page.sees("Overview", ".palette")
    page.type(job)
    page.press(*ENTER)
    page.drawn("order.pay")


def test_the_api_is_described_for_people(page: PageTab) -> None:
    page.visit("/docs")
    page.sees("/api/jobs/replay")
    page.click("[data-search]")
    page.type("replayjobs")
    until(lambda: "/api/queues" not in page.text("main"))
    page.click("main summary")
    page.sees("dryRun", ".about")
    page.sees("curl -X POST", ".about")


def test_the_theme_is_chosen_and_kept(page: PageTab) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    page.visit("/queues")
    light = page.run(ground)
    page.press("t", 84)
    page.press("t", 84)
    until(lambda: page.run(ground) != light)
    page.reload("Queues")
    assert page.run(ground) != light
    page.run("localStorage.clear()")


def test_a_server_that_goes_away_leaves_dimmed_figures(page: PageTab, service: Up) -> None:
    page.visit("/queues")
    page.ask("Network.emulateNetworkConditions", offline=True, latency=0,
             downloadThroughput=-1, uploadThroughput=-1)  # fmt: skip
    try:
        page.sees("Figures are as of", ".banner")
        assert "default" in page.text("main") or "slow" in page.text("main")
    finally:
        page.ask("Network.emulateNetworkConditions", offline=False, latency=0,
                 downloadThroughput=-1, uploadThroughput=-1)  # fmt: skip
    until(lambda: "Figures are as of" not in page.text("body"))
    until(lambda: page.text(".live") == "live")


def test_a_hidden_tab_holds_no_stream(page: PageTab) -> None:
    page.visit("/queues")
    until(lambda: page.text(".live") == "live")
    page.run("Object.defineProperty(document, 'hidden', {value: true, configurable: true})")
    page.run("document.dispatchEvent(new Event('visibilitychange'))")
    until(lambda: page.text(".live") == "not live")
    page.run("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))")
    until(lambda: page.text(".live") == "live")
