-- What jobs have to do with each other: order, dependencies, limits; and steps that are remembered.
-- serves: 2

ALTER TABLE tenure_jobs ADD COLUMN chained smallint NOT NULL DEFAULT 0;

ALTER TABLE tenure_jobs ADD COLUMN limit_key text COLLATE "C";

CREATE INDEX tenure_jobs_order ON tenure_jobs (tenant, ordering_key, id)
    WHERE ordering_key IS NOT NULL AND state IN (0, 1, 3, 4);

CREATE INDEX tenure_jobs_parked ON tenure_jobs (limit_key, id)
    WHERE limit_key IS NOT NULL AND state = 0 AND hold >= 4;

CREATE TABLE tenure_order_locks (
    bucket integer PRIMARY KEY
);

CREATE TABLE tenure_after (
    waits_for bigint   NOT NULL,
    job_id    bigint   NOT NULL,
    rule      smallint NOT NULL,
    PRIMARY KEY (waits_for, job_id)
);

CREATE INDEX tenure_after_job ON tenure_after (job_id);

CREATE TABLE tenure_steps (
    job_id bigint           NOT NULL,
    at     bigint           NOT NULL,
    name   text COLLATE "C" NOT NULL,
    result text,
    PRIMARY KEY (job_id, name)
);

CREATE TABLE tenure_limits (
    name        text COLLATE "C" PRIMARY KEY,
    running     bigint           NOT NULL DEFAULT 0,
    parked      bigint           NOT NULL DEFAULT 0,
    refilled_at bigint           NOT NULL DEFAULT 0,
    next_at     bigint,
    tokens      double precision NOT NULL DEFAULT 0
);

CREATE INDEX tenure_limits_next ON tenure_limits (next_at) WHERE next_at IS NOT NULL;
