-- Limits: what runs is counted by an index, what must wait for room lies in another, and tokens have a row.
-- serves: 2

DROP TABLE tenure_limits;

DROP INDEX tenure_jobs_parked;

CREATE INDEX tenure_jobs_parked ON tenure_jobs (limit_key, queue, priority, tenant, run_at, id)
    WHERE limit_key IS NOT NULL AND state = 0 AND hold = 4;

CREATE INDEX tenure_jobs_counted ON tenure_jobs (limit_key, lease_until)
    WHERE limit_key IS NOT NULL AND state = 1;

CREATE TABLE tenure_gates (
    name        TEXT    PRIMARY KEY,
    tokens      REAL    NOT NULL,
    refilled_at INTEGER NOT NULL,
    full_at     INTEGER NOT NULL,
    running     INTEGER NOT NULL DEFAULT 9007199254740992
) WITHOUT ROWID;

CREATE INDEX tenure_gates_full ON tenure_gates (full_at);
