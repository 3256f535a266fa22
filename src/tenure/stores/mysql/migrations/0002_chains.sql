-- What jobs have to do with each other: order, dependencies, limits; and steps that are remembered.
-- serves: 2
-- One sort of change for each ALTER: MySQL makes none of them in place beside another sort. Columns that have an
-- index are STORED: MariaDB adds no further column at once to a table with an index on a VIRTUAL one.

CREATE TABLE IF NOT EXISTS tenure_order_locks (
    bucket INT NOT NULL PRIMARY KEY
) ENGINE=InnoDB;

CREATE TABLE IF NOT EXISTS tenure_after (
    waits_for BIGINT   NOT NULL,
    job_id    BIGINT   NOT NULL,
    rule      SMALLINT NOT NULL,
    PRIMARY KEY (waits_for, job_id),
    KEY tenure_after_job (job_id)
) ENGINE=InnoDB;

CREATE TABLE IF NOT EXISTS tenure_steps (
    job_id BIGINT       NOT NULL,
    name   VARCHAR(200) NOT NULL,
    at     BIGINT       NOT NULL,
    result LONGTEXT,
    PRIMARY KEY (job_id, name)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4
/*M! COLLATE=utf8mb4_nopad_bin */ /*!80017 COLLATE=utf8mb4_0900_bin */;

CREATE TABLE IF NOT EXISTS tenure_limits (
    name        VARCHAR(400) NOT NULL PRIMARY KEY,
    running     BIGINT       NOT NULL DEFAULT 0,
    parked      BIGINT       NOT NULL DEFAULT 0,
    refilled_at BIGINT       NOT NULL DEFAULT 0,
    next_at     BIGINT,
    tokens      DOUBLE       NOT NULL DEFAULT 0,
    KEY tenure_limits_next (next_at)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4
/*M! COLLATE=utf8mb4_nopad_bin */ /*!80017 COLLATE=utf8mb4_0900_bin */;

ALTER TABLE tenure_jobs
    ADD COLUMN chained SMALLINT NOT NULL DEFAULT 0,
    ADD COLUMN limit_key VARCHAR(400);

ALTER TABLE tenure_jobs
    ADD COLUMN order_live VARCHAR(255)
        GENERATED ALWAYS AS (CASE WHEN state IN (0, 1, 3, 4) THEN ordering_key END) STORED,
    ADD COLUMN parked_by VARCHAR(400)
        GENERATED ALWAYS AS (CASE WHEN state = 0 AND hold >= 4 THEN limit_key END) STORED;

ALTER TABLE tenure_jobs
    ADD KEY tenure_jobs_order (tenant, order_live, id),
    ADD KEY tenure_jobs_parked (parked_by, id);
