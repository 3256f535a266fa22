-- The first schema: jobs, their history and log lines, keys with a window, queues, locks, records.
-- serves: 1

CREATE TABLE tenure_jobs (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    kind             TEXT    NOT NULL,
    queue            TEXT    NOT NULL,
    priority         INTEGER NOT NULL,
    tenant           TEXT    NOT NULL,
    state            INTEGER NOT NULL DEFAULT 0,
    hold             INTEGER NOT NULL DEFAULT 0,
    run_at           INTEGER NOT NULL,
    attempt          INTEGER NOT NULL DEFAULT 0,
    max_attempts     INTEGER NOT NULL,
    fence            INTEGER NOT NULL DEFAULT 0,
    lease_until      INTEGER,
    lease_owner      TEXT,
    cancel_requested INTEGER NOT NULL DEFAULT 0,
    snoozes          INTEGER NOT NULL DEFAULT 0,
    refunds          INTEGER NOT NULL DEFAULT 0,
    created_at       INTEGER NOT NULL,
    started_at       INTEGER,
    finished_at      INTEGER,
    expires_at       INTEGER,
    owner            TEXT,
    unique_key       TEXT,
    payload_hash     TEXT,
    ordering_key     TEXT,
    bucket           INTEGER NOT NULL,
    batch_id         INTEGER,
    seq              INTEGER,
    correlation_id   TEXT,
    trace            TEXT,
    enqueued_by      TEXT,
    progress         REAL,
    progress_note    TEXT,
    reason           TEXT,
    payload          TEXT,
    result           TEXT
);

CREATE TABLE tenure_payloads (
    job_id  INTEGER PRIMARY KEY,
    payload TEXT NOT NULL
);

CREATE INDEX tenure_jobs_due ON tenure_jobs (queue, priority, tenant, run_at, id)
    WHERE state = 0 AND hold = 0;

CREATE INDEX tenure_jobs_held ON tenure_jobs (id) WHERE state = 0 AND hold <> 0;

CREATE INDEX tenure_jobs_leased ON tenure_jobs (lease_until) WHERE state = 1;

CREATE INDEX tenure_jobs_expiring ON tenure_jobs (expires_at)
    WHERE state = 0 AND expires_at IS NOT NULL AND started_at IS NULL;

CREATE INDEX tenure_jobs_letters ON tenure_jobs (id) WHERE state IN (3, 4);

CREATE UNIQUE INDEX tenure_jobs_key ON tenure_jobs (tenant, kind, unique_key)
    WHERE unique_key IS NOT NULL AND state IN (0, 1);

CREATE TABLE tenure_attempts (
    job_id      INTEGER NOT NULL,
    fence       INTEGER NOT NULL,
    attempt     INTEGER NOT NULL,
    entry       TEXT    NOT NULL,
    worker      TEXT,
    started_at  INTEGER,
    finished_at INTEGER NOT NULL,
    failure     TEXT,
    PRIMARY KEY (job_id, fence)
) WITHOUT ROWID;

CREATE TABLE tenure_logs (
    id      INTEGER PRIMARY KEY,
    job_id  INTEGER NOT NULL,
    fence   INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    level   TEXT    NOT NULL,
    message TEXT    NOT NULL
);

CREATE INDEX tenure_logs_job ON tenure_logs (job_id, id);

CREATE TABLE tenure_keys (
    tenant       TEXT    NOT NULL,
    kind         TEXT    NOT NULL,
    unique_key   TEXT    NOT NULL,
    payload_hash TEXT    NOT NULL,
    job_id       INTEGER,
    until        INTEGER NOT NULL,
    PRIMARY KEY (tenant, kind, unique_key)
) WITHOUT ROWID;

CREATE INDEX tenure_keys_until ON tenure_keys (until);

CREATE TABLE tenure_queues (
    name      TEXT PRIMARY KEY,
    paused    INTEGER NOT NULL DEFAULT 0,
    paused_at INTEGER,
    paused_by TEXT
) WITHOUT ROWID;

CREATE TABLE tenure_locks (
    name  TEXT PRIMARY KEY,
    owner TEXT    NOT NULL,
    fence INTEGER NOT NULL,
    until INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE tenure_records (
    collection TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    version    INTEGER NOT NULL,
    data       TEXT    NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (collection, name)
) WITHOUT ROWID;
