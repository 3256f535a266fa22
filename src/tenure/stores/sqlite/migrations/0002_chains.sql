-- What jobs have to do with each other: order, dependencies, limits; and steps that are remembered.
-- serves: 2

ALTER TABLE tenure_jobs ADD COLUMN chained INTEGER NOT NULL DEFAULT 0;

ALTER TABLE tenure_jobs ADD COLUMN limit_key TEXT;

CREATE INDEX tenure_jobs_order ON tenure_jobs (tenant, ordering_key, id)
    WHERE ordering_key IS NOT NULL AND state IN (0, 1, 3, 4);

CREATE INDEX tenure_jobs_parked ON tenure_jobs (limit_key, id)
    WHERE limit_key IS NOT NULL AND state = 0 AND hold >= 4;

CREATE TABLE tenure_order_locks (
    bucket INTEGER PRIMARY KEY
);

CREATE TABLE tenure_after (
    waits_for INTEGER NOT NULL,
    job_id    INTEGER NOT NULL,
    rule      INTEGER NOT NULL,
    PRIMARY KEY (waits_for, job_id)
) WITHOUT ROWID;

CREATE INDEX tenure_after_job ON tenure_after (job_id);

CREATE TABLE tenure_steps (
    job_id INTEGER NOT NULL,
    name   TEXT    NOT NULL,
    at     INTEGER NOT NULL,
    result TEXT,
    PRIMARY KEY (job_id, name)
) WITHOUT ROWID;

CREATE TABLE tenure_limits (
    name        TEXT    PRIMARY KEY,
    running     INTEGER NOT NULL DEFAULT 0,
    parked      INTEGER NOT NULL DEFAULT 0,
    refilled_at INTEGER NOT NULL DEFAULT 0,
    next_at     INTEGER,
    tokens      REAL    NOT NULL DEFAULT 0
) WITHOUT ROWID;

CREATE INDEX tenure_limits_next ON tenure_limits (next_at) WHERE next_at IS NOT NULL;
