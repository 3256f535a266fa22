"""The metrics of the engine: name, type, labels, meaning. docs/guides/metrics.md lists them."""

from __future__ import annotations

from collections.abc import Iterable

from tenure.feature import Family, Feature, FeatureError, Sort


def _gauge(name: str, meaning: str, *labels: str) -> Family:
    return Family(name, Sort.GAUGE, labels, meaning)


def _counter(name: str, meaning: str, *labels: str) -> Family:
    return Family(name, Sort.COUNTER, labels, meaning)


def _histogram(name: str, meaning: str, *labels: str) -> Family:
    return Family(name, Sort.HISTOGRAM, labels, meaning)


FLEET = (
    _gauge("database_up", "1 where the last look at the database was answered"),
    _gauge("queue_depth", "jobs that wait, counted up to 30,000", "queue"),
    _gauge("pending_count", "jobs that wait, over all queues"),
    _gauge("due_pending", "jobs that could run now", "queue"),
    _gauge("held_jobs", "jobs that wait for others, counted up to 10,000", "queue"),
    _gauge("running_jobs", "jobs under a lease, on any worker", "queue"),
    _gauge(
        "oldest_pending_age_seconds", "how long the oldest one that was counted is due", "queue"
    ),
    _gauge("stuck_jobs", "leases that ran out a while ago and nobody took up"),
    _gauge("workers_alive", "worker processes heard of within the last minute"),
)
"""Read from the database: the same from every process, so take `max`, never `sum`."""

RUNS = (
    _counter("processed_total", "runs that ended, by what came of them", "queue", "kind", "state"),
    _histogram("processing_duration_ms", "time in the handler", "queue", "kind"),
    _counter("retries_total", "failed runs to be repeated, by attempt number", "attempt"),
    _counter("retry_total", "the same as retries_total", "attempt"),
    _counter("failed_total", "jobs that ended failed or dead", "kind", "state"),
    _gauge("processing_rate", "jobs ended per second, over the last minute"),
    _gauge("items_sec", "the same as processing_rate"),
    _gauge("retry_rate", "retries per second, over the last minute"),
    _gauge("failure_rate", "share of ended jobs that failed or died, over five minutes"),
    _gauge("error_rate", "share of runs that raised or timed out, over five minutes"),
    _gauge("not_found_rate", "share of ended jobs that ended not_found, over five minutes"),
    _gauge("retry_churn", "retries for each ended job, over five minutes"),
)  # fmt: skip

POLLER = (
    _gauge("poller_running", "1 while a worker runs in this process"),
    _gauge("poller_uptime_seconds", "since the worker of this process started"),
    _gauge("poller_last_poll_timestamp_seconds", "when it last looked for jobs"),
    _gauge("in_flight_jobs", "handlers at work in this process"),
    _histogram("claim_duration_ms", "one look for jobs, there and back"),
    _counter("tick_processed_total", "what the runners of ticks have done", "runner"),
    _histogram("tick_duration_ms", "one tick or turn of a runner", "runner"),
    _counter("enqueued_total", "jobs added by this process"),
    _counter("purged_total", "finished jobs removed"),
    _counter("troubles_total", "what went wrong, by the name of the signal", "what"),
)

STORE = (
    _gauge("db_latency_ewma", "milliseconds of a statement, exponentially weighted"),
    _histogram("pool_wait_ms", "until a call had a connection; on SQLite: the write lock"),
    Family("slow_query_ms", Sort.SUMMARY, ("statement",), "statements of 100 ms and more"),
)

FED = (
    _histogram("ingest_ms", "one batch of rows taken in (signal `ingest.done`)"),
    _gauge("api_throttle_rate", "share of calls that were throttled, over five minutes "
           "(signal `api.called`)", "provider"),
    _gauge("api_usage_ratio", "used part of a daily API limit (signal `api.usage`)", "api"),
)  # fmt: skip
"""Nothing of the engine feeds these: features and apps do, by their signals."""

FAMILIES = {one.name: one for one in (*FLEET, *RUNS, *POLLER, *STORE, *FED)}
"""The engine's own. Features declare theirs: see `with_features`."""


def with_features(features: Iterable[Feature]) -> dict[str, Family]:
    """The engine's and those of these features, by name; a name belongs to one of them."""
    found = dict(FAMILIES)
    for feature in features:
        for metric in feature.metrics:
            if metric.family.name in found:
                raise FeatureError(
                    f"the metric {metric.family.name!r} of the feature {feature.name!r} is "
                    "declared elsewhere already; give it another name"
                )
            found[metric.family.name] = metric.family
    return found
