"""What is counted is what happened: every metric against a run of real jobs."""

from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tenure import RunningJob, Tenure, Worker
from tenure.feature.metrics import DURATIONS_MS, Histogram
from tenure.features.documents import Documents, DocumentSettings
from tenure.stores.contract import parts as beside
from tenure.testing import run_until_idle
from tenure.watch import fleet
from tenure.watch.counting import Lately, Names
from tenure.watch.metric_families import with_features
from tenure.watch.metrics import Metrics
from tenure.watch.settings import WatchSettings
from tests.support.until import until

KINDS = ("well", "flaky", "doomed", "refused", "absent", "later", "self_settled")


class Scrape(dict[str, float]):
    """Samples by `name{label="value"}`, as they were read back from the text."""


def scrape(metrics: Metrics) -> Scrape:
    text = metrics.exposition("")[0].decode()
    found = Scrape()
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = ",".join(f'{name}="{value}"' for name, value in sorted(sample.labels.items()))
            found[f"{sample.name}{{{labels}}}" if labels else sample.name] = sample.value
    return found


@pytest.fixture
def metrics(app: Tenure, settings: WatchSettings, monkeypatch: pytest.MonkeyPatch) -> Metrics:
    monkeypatch.setattr(fleet, "FRESH_SECONDS", 0.0)
    return Metrics.of(app, settings)


def test_endings_are_counted_by_queue_kind_and_state(app: Tenure, metrics: Metrics) -> None:
    for kind in KINDS:
        app.enqueue(kind)
    app.enqueue("well")
    run_until_idle(app)

    seen = scrape(metrics)
    processed = {name: n for name, n in seen.items() if name.startswith("processed_total")}
    assert processed == {
        'processed_total{kind="well",queue="default",state="succeeded"}': 2,
        'processed_total{kind="flaky",queue="default",state="retried"}': 2,
        'processed_total{kind="flaky",queue="default",state="succeeded"}': 1,
        'processed_total{kind="doomed",queue="default",state="retried"}': 1,
        'processed_total{kind="doomed",queue="default",state="dead"}': 1,
        'processed_total{kind="refused",queue="mail",state="failed"}': 1,
        'processed_total{kind="absent",queue="default",state="not_found"}': 1,
        'processed_total{kind="later",queue="default",state="snoozed"}': 1,
        'processed_total{kind="self_settled",queue="default",state="succeeded"}': 1,
    }


def test_retries_by_attempt_number_and_failures(app: Tenure, metrics: Metrics) -> None:
    for kind in KINDS:
        app.enqueue(kind)
    run_until_idle(app)

    seen = scrape(metrics)
    for name in ("retries_total", "retry_total"):
        assert seen[f'{name}{{attempt="1"}}'] == 2
        assert seen[f'{name}{{attempt="2"}}'] == 1
    assert seen['failed_total{kind="well",state="dead"}'] == 0
    assert seen['failed_total{kind="doomed",state="dead"}'] == 1
    assert seen['failed_total{kind="refused",state="failed"}'] == 1
    ended, repeated = 6, 3
    assert seen["failure_rate"] == pytest.approx(2 / ended)
    assert seen["not_found_rate"] == pytest.approx(1 / ended)
    assert seen["retry_churn"] == pytest.approx(repeated / ended)
    assert seen["error_rate"] == pytest.approx(4 / (ended + repeated))
    assert seen["processing_rate"] == seen["items_sec"] > seen["retry_rate"] > 0


def test_durations_are_a_histogram_of_every_run(app: Tenure, metrics: Metrics) -> None:
    for _ in range(100):
        app.enqueue("well")
    app.enqueue("flaky")
    run_until_idle(app)

    seen = scrape(metrics)
    place = 'kind="well",queue="default"'
    assert seen[f"processing_duration_ms_count{{{place}}}"] == 100
    assert seen['processing_duration_ms_bucket{kind="well",le="+Inf",queue="default"}'] == 100
    assert seen[f"processing_duration_ms_sum{{{place}}}"] > 0
    assert seen['processing_duration_ms_count{kind="flaky",queue="default"}'] == 3


def test_document_kinds_feed_the_documents_metrics_and_no_others(
    app: Tenure, metrics: Metrics
) -> None:
    Documents(app, settings=DocumentSettings(docgen_kinds=("refused", "fla*")))
    for kind in KINDS:
        app.enqueue(kind)
    run_until_idle(app)

    seen = scrape(metrics)
    assert seen['docgen_failures_total{reason="no_such_template"}'] == 1
    assert seen['docgen_duration_ms_count{kind="flaky"}'] == 3
    assert {name for name in seen if name.startswith("docgen_duration_ms_count")} == {
        'docgen_duration_ms_count{kind="flaky"}',
        'docgen_duration_ms_count{kind="refused"}',
    }


def test_depths_are_what_the_database_says(app: Tenure, metrics: Metrics) -> None:
    first = app.enqueue("well")
    app.enqueue("well", delay=3_600)
    app.enqueue("well", after=first)
    app.enqueue("refused", queue="mail")

    seen = scrape(metrics)
    assert seen['queue_depth{queue="default"}'] == 3
    assert seen['due_pending{queue="default"}'] == 1
    assert seen['held_jobs{queue="default"}'] == 1
    assert seen['queue_depth{queue="mail"}'] == 1
    assert seen["pending_count"] == 4
    assert seen['oldest_pending_age_seconds{queue="mail"}'] >= 0
    assert seen["enqueued_total"] == 4
    assert (seen["workers_alive"], seen["stuck_jobs"], seen["database_up"]) == (0, 0, 1)


def test_no_more_jobs_are_counted_than_a_bound(
    app: Tenure, metrics: Metrics, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tenure.stores.sql.parts import queues as side

    monkeypatch.setattr(side, "COUNTED_AT_MOST", 5)
    app.enqueue_many([app.new("well") for _ in range(8)])
    app.enqueue("refused", queue="mail")

    seen = scrape(metrics)
    assert seen['queue_depth{queue="default"}'] == 5
    assert seen['queue_depth{queue="mail"}'] == 1
    assert beside.COUNTED_AT_MOST == 20_000


def test_a_poller_tells_how_long_it_is_up_and_what_it_does(app: Tenure, metrics: Metrics) -> None:
    assert "poller_running" not in scrape(metrics)
    let_go: list[bool] = []

    @app.job("slow")
    def slow(job: RunningJob) -> None:
        until(lambda: bool(let_go))

    with Worker(app):
        app.enqueue("slow")
        seen = until(lambda: scrape(metrics).get("in_flight_jobs") == 1 and scrape(metrics))
        assert isinstance(seen, Scrape)
        assert (seen["poller_running"], seen["workers_alive"]) == (1, 1)
        assert seen['running_jobs{queue="default"}'] == 1
        assert seen["poller_uptime_seconds"] > 0
        assert seen["poller_last_poll_timestamp_seconds"] > 1.7e9
        assert seen["claim_duration_ms_count"] >= 1
        let_go.append(True)
        until(lambda: scrape(metrics)["in_flight_jobs"] == 0)
        until(lambda: scrape(metrics).get('tick_processed_total{runner="jobs"}') == 1)

    assert scrape(metrics)["poller_running"] == 0
    stats = metrics.stats()
    assert (stats.running, stats.processed, stats.succeeded, stats.failed) == (False, 1, 1, 0)


def test_a_tick_counts_what_its_runners_did(app: Tenure, metrics: Metrics) -> None:
    app.enqueue("well")
    Worker(app).tick()

    seen = scrape(metrics)
    assert seen['tick_processed_total{runner="jobs"}'] == 1
    assert seen['tick_duration_ms_count{runner="pruning"}'] == 1


def test_stats_are_those_of_seed_001(app: Tenure, metrics: Metrics) -> None:
    for kind in KINDS:
        app.enqueue(kind)
    run_until_idle(app)

    stats = metrics.stats()
    assert (stats.processed, stats.succeeded, stats.failed, stats.retries) == (6, 3, 2, 3)
    assert (stats.queue_depth, stats.in_flight, stats.uptime_seconds) == (1, 0, 0.0)
    assert stats.last_poll_at is not None


def test_the_database_is_timed(app: Tenure, metrics: Metrics) -> None:
    app.enqueue("well")
    run_until_idle(app)

    seen = scrape(metrics)
    assert 0 < seen["db_latency_ewma"] < 10_000
    assert seen["pool_wait_ms_count"] > 0


def test_a_slow_statement_is_told_by_name(app: Tenure, metrics: Metrics) -> None:
    metrics._store_times.hear("queue_load", 0.25)
    metrics._store_times.hear("get_job", 0.01)

    seen = scrape(metrics)
    assert seen['slow_query_ms_sum{statement="queue_load"}'] == 250
    assert 'slow_query_ms_sum{statement="get_job"}' not in seen


def test_a_database_that_is_away_is_no_error_of_the_scrape(
    app: Tenure, metrics: Metrics, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = Tenure("postgresql://someone@127.0.0.1:1/nowhere")

    seen = scrape(Metrics.of(away))

    assert seen["database_up"] == 0
    assert not any(name.startswith("queue_depth") for name in seen)


def test_apps_feed_what_the_engine_cannot_know(app: Tenure, metrics: Metrics) -> None:
    assert not any(name.startswith(("api_", "ingest_")) for name in scrape(metrics))
    app.signals.emit("api.usage", api="salesforce", used=72_000, limit=100_000)
    app.signals.emit("api.called", provider="shop", throttled=True)
    app.signals.emit("api.called", provider="shop", throttled=False)
    app.signals.emit("ingest.done", seconds=0.2)

    seen = scrape(metrics)
    assert seen['api_usage_ratio{api="salesforce"}'] == 0.72
    assert seen['api_throttle_rate{provider="shop"}'] == 0.5
    assert seen["ingest_ms_sum"] == 200


def test_troubles_are_counted_by_their_signal(app: Tenure, metrics: Metrics) -> None:
    app.signals.emit("store.unavailable", error=ValueError(), step="claim")

    assert scrape(metrics)['troubles_total{what="store.unavailable"}'] == 1


def test_apps_have_metrics_of_their_own(app: Tenure, metrics: Metrics) -> None:
    other = Tenure("sqlite:///other.db")
    app.enqueue("well")

    assert Metrics.of(app) is metrics
    assert Metrics.of(other) is not metrics
    assert "enqueued_total" not in scrape(Metrics.of(other))


def test_every_family_of_the_table_is_exported_and_no_other(app: Tenure, metrics: Metrics) -> None:
    exported = {one.name + ("_total" if one.type == "counter" else "") for one in metrics.collect()}

    assert exported == set(with_features(app.features))


def test_many_durations_at_once_are_the_same_as_one_by_one() -> None:
    durations = [bound + shift for bound in DURATIONS_MS for shift in (-0.1, 0, 0.1)] * 2
    together, alone = Histogram(), Histogram()
    together.add_all(list(durations))
    for one in durations:
        alone.add(one)

    assert together.buckets == alone.buckets
    assert together.total == pytest.approx(alone.total)
    assert dict(alone.shown())["1.0"] == 4


def test_lately_forgets() -> None:
    now = [1_000.0]
    lately = Lately(lambda: now[0])
    for _ in range(100):
        lately.add(1)
        now[0] += 1

    assert (lately.total(), lately.total(60)) == (100, 60)
    assert lately.rate(60) == 1.0
    now[0] += 1_000
    assert lately.total() == 0


def test_labels_from_outside_are_bounded() -> None:
    names = Names(2)

    assert [names(one) for one in ("a", "b", "c", "a", "d")] == ["a", "b", "other", "a", "other"]
