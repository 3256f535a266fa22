-- What screens read: counts by minute, groups of errors, the failures of a group, the jobs that a job enqueued.
-- serves: 2

CREATE TABLE IF NOT EXISTS tenure_rollups (
    span    INT          NOT NULL,
    at      BIGINT       NOT NULL,
    queue   VARCHAR(100) NOT NULL,
    kind    VARCHAR(150) NOT NULL,
    measure INT          NOT NULL,
    source  INT          NOT NULL,
    n       BIGINT       NOT NULL,
    PRIMARY KEY (span, queue, kind, at, measure, source),
    KEY tenure_rollups_age (span, at)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4
/*M! COLLATE=utf8mb4_nopad_bin */ /*!80017 COLLATE=utf8mb4_0900_bin */;

CREATE TABLE IF NOT EXISTS tenure_error_groups (
    whose          VARCHAR(101) NOT NULL,
    kind           VARCHAR(150) NOT NULL,
    error_group    BIGINT       NOT NULL,
    failures       BIGINT       NOT NULL,
    first_at       BIGINT       NOT NULL,
    last_at        BIGINT       NOT NULL,
    sample_job     BIGINT       NOT NULL,
    type           TEXT         NOT NULL,
    message        TEXT         NOT NULL,
    sample_message TEXT         NOT NULL,
    PRIMARY KEY (whose, kind, error_group),
    KEY tenure_error_groups_last (whose, last_at)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4
/*M! COLLATE=utf8mb4_nopad_bin */ /*!80017 COLLATE=utf8mb4_0900_bin */;

CREATE TABLE IF NOT EXISTS tenure_error_hours (
    whose       VARCHAR(101) NOT NULL,
    kind        VARCHAR(150) NOT NULL,
    error_group BIGINT       NOT NULL,
    at          BIGINT       NOT NULL,
    n           BIGINT       NOT NULL,
    PRIMARY KEY (whose, kind, error_group, at),
    KEY tenure_error_hours_age (at)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4
/*M! COLLATE=utf8mb4_nopad_bin */ /*!80017 COLLATE=utf8mb4_0900_bin */;

ALTER TABLE tenure_attempts
    ADD COLUMN /*M! IF NOT EXISTS */ error_group BIGINT;

ALTER TABLE tenure_attempts
    ADD KEY /*M! IF NOT EXISTS */ tenure_attempts_group (error_group, job_id, fence);

ALTER TABLE tenure_jobs
    ADD KEY /*M! IF NOT EXISTS */ tenure_jobs_children (enqueued_by, id);
