-- What screens read: counts by minute, groups of errors, the failures of a group, the jobs that a job enqueued.
-- serves: 2

CREATE TABLE IF NOT EXISTS tenure_rollups (
    span    integer          NOT NULL,
    at      bigint           NOT NULL,
    queue   text COLLATE "C" NOT NULL,
    kind    text COLLATE "C" NOT NULL,
    measure integer          NOT NULL,
    source  integer          NOT NULL,
    n       bigint           NOT NULL,
    PRIMARY KEY (span, queue, kind, at, measure, source)
);

CREATE INDEX IF NOT EXISTS tenure_rollups_age ON tenure_rollups (span, at);

CREATE TABLE IF NOT EXISTS tenure_error_groups (
    whose          text COLLATE "C" NOT NULL,
    kind           text COLLATE "C" NOT NULL,
    error_group    bigint           NOT NULL,
    failures       bigint           NOT NULL,
    first_at       bigint           NOT NULL,
    last_at        bigint           NOT NULL,
    sample_job     bigint           NOT NULL,
    type           text             NOT NULL,
    message        text             NOT NULL,
    sample_message text             NOT NULL,
    PRIMARY KEY (whose, kind, error_group)
);

CREATE INDEX IF NOT EXISTS tenure_error_groups_last ON tenure_error_groups (whose, last_at);

CREATE TABLE IF NOT EXISTS tenure_error_hours (
    whose       text COLLATE "C" NOT NULL,
    kind        text COLLATE "C" NOT NULL,
    error_group bigint           NOT NULL,
    at          bigint           NOT NULL,
    n           bigint           NOT NULL,
    PRIMARY KEY (whose, kind, error_group, at)
);

CREATE INDEX IF NOT EXISTS tenure_error_hours_age ON tenure_error_hours (at);

ALTER TABLE tenure_attempts ADD COLUMN IF NOT EXISTS error_group bigint;

CREATE INDEX IF NOT EXISTS tenure_attempts_group ON tenure_attempts (error_group, job_id, fence)
    WHERE error_group IS NOT NULL;

CREATE INDEX IF NOT EXISTS tenure_jobs_children ON tenure_jobs (enqueued_by, id)
    WHERE enqueued_by >= 'job:' AND enqueued_by < 'job;';
