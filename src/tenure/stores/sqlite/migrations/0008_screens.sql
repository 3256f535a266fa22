-- What screens read: counts by minute, groups of errors, the failures of a group, the jobs that a job enqueued.
-- serves: 2

CREATE TABLE tenure_rollups (
    span    INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    queue   TEXT    NOT NULL,
    kind    TEXT    NOT NULL,
    measure INTEGER NOT NULL,
    source  INTEGER NOT NULL,
    n       INTEGER NOT NULL,
    PRIMARY KEY (span, queue, kind, at, measure, source)
) WITHOUT ROWID;

CREATE INDEX tenure_rollups_age ON tenure_rollups (span, at);

CREATE TABLE tenure_error_groups (
    whose          TEXT    NOT NULL,
    kind           TEXT    NOT NULL,
    error_group    INTEGER NOT NULL,
    failures       INTEGER NOT NULL,
    first_at       INTEGER NOT NULL,
    last_at        INTEGER NOT NULL,
    sample_job     INTEGER NOT NULL,
    type           TEXT    NOT NULL,
    message        TEXT    NOT NULL,
    sample_message TEXT    NOT NULL,
    PRIMARY KEY (whose, kind, error_group)
);

CREATE INDEX tenure_error_groups_last ON tenure_error_groups (whose, last_at);

CREATE TABLE tenure_error_hours (
    whose       TEXT    NOT NULL,
    kind        TEXT    NOT NULL,
    error_group INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    n           INTEGER NOT NULL,
    PRIMARY KEY (whose, kind, error_group, at)
) WITHOUT ROWID;

CREATE INDEX tenure_error_hours_age ON tenure_error_hours (at);

ALTER TABLE tenure_attempts ADD COLUMN error_group INTEGER;

CREATE INDEX tenure_attempts_group ON tenure_attempts (error_group, job_id, fence)
    WHERE error_group IS NOT NULL;

CREATE INDEX tenure_jobs_children ON tenure_jobs (enqueued_by, id)
    WHERE enqueued_by >= 'job:' AND enqueued_by < 'job;';
