-- The first schema: jobs, their history and log lines, keys with a window, queues, locks, records.
-- serves: 1
-- DDL commits by itself here, so every statement may run again after a stop.
-- There are no partial indexes: generated columns that are NULL unless the row matters lead theirs.
-- Names compare by bytes, trailing spaces included; each server has its own word for that.

CREATE TABLE IF NOT EXISTS tenure_jobs (
    id               BIGINT       NOT NULL AUTO_INCREMENT PRIMARY KEY,
    kind             VARCHAR(150) NOT NULL,
    queue            VARCHAR(100) NOT NULL,
    priority         INT          NOT NULL,
    tenant           VARCHAR(100) NOT NULL,
    state            TINYINT      NOT NULL DEFAULT 0,
    hold             INT          NOT NULL DEFAULT 0,
    run_at           BIGINT       NOT NULL,
    attempt          INT          NOT NULL DEFAULT 0,
    max_attempts     INT          NOT NULL,
    fence            BIGINT       NOT NULL DEFAULT 0,
    lease_until      BIGINT,
    lease_owner      VARCHAR(255),
    cancel_requested TINYINT      NOT NULL DEFAULT 0,
    snoozes          INT          NOT NULL DEFAULT 0,
    refunds          INT          NOT NULL DEFAULT 0,
    repeats          INT          NOT NULL DEFAULT 0,
    created_at       BIGINT       NOT NULL,
    started_at       BIGINT,
    finished_at      BIGINT,
    expires_at       BIGINT,
    owner            VARCHAR(200),
    unique_key       VARCHAR(255),
    payload_hash     VARCHAR(64),
    ordering_key     VARCHAR(255),
    bucket           SMALLINT     NOT NULL,
    batch_id         BIGINT,
    seq              BIGINT,
    correlation_id   VARCHAR(200),
    trace            VARCHAR(200),
    enqueued_by      VARCHAR(200),
    progress         DOUBLE,
    progress_note    TEXT,
    reason           TEXT,
    payload          VARCHAR(1000),
    result           LONGTEXT,
    due_queue        VARCHAR(100)
        GENERATED ALWAYS AS (CASE WHEN state = 0 AND hold = 0 THEN queue END) STORED,
    running_until    BIGINT
        GENERATED ALWAYS AS (CASE WHEN state = 1 THEN lease_until END) STORED,
    live_key         VARCHAR(255)
        GENERATED ALWAYS AS (CASE WHEN state IN (0, 1) THEN unique_key END) STORED,
    expiring_at      BIGINT
        GENERATED ALWAYS AS (CASE WHEN state = 0 AND started_at IS NULL THEN expires_at END) STORED,
    aside            TINYINT
        GENERATED ALWAYS AS (CASE WHEN state IN (3, 4) THEN 1
            WHEN state = 0 AND hold <> 0 THEN 2 END) STORED,
    KEY tenure_jobs_due (due_queue, priority, tenant, run_at, id),
    KEY tenure_jobs_leased (running_until),
    KEY tenure_jobs_expiring (expiring_at),
    KEY tenure_jobs_aside (aside, id),
    UNIQUE KEY tenure_jobs_key (tenant, kind, live_key)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4
/*M! COLLATE=utf8mb4_nopad_bin */ /*!80017 COLLATE=utf8mb4_0900_bin */;

CREATE TABLE IF NOT EXISTS tenure_payloads (
    job_id  BIGINT   PRIMARY KEY,
    payload LONGTEXT NOT NULL
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4
/*M! COLLATE=utf8mb4_nopad_bin */ /*!80017 COLLATE=utf8mb4_0900_bin */;

CREATE TABLE IF NOT EXISTS tenure_attempts (
    job_id      BIGINT      NOT NULL,
    fence       BIGINT      NOT NULL,
    attempt     INT         NOT NULL,
    entry       VARCHAR(50) NOT NULL,
    worker      VARCHAR(255),
    started_at  BIGINT,
    finished_at BIGINT      NOT NULL,
    failure     MEDIUMTEXT,
    PRIMARY KEY (job_id, fence)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4
/*M! COLLATE=utf8mb4_nopad_bin */ /*!80017 COLLATE=utf8mb4_0900_bin */;

CREATE TABLE IF NOT EXISTS tenure_logs (
    id      BIGINT      NOT NULL AUTO_INCREMENT PRIMARY KEY,
    job_id  BIGINT      NOT NULL,
    fence   BIGINT      NOT NULL,
    at      BIGINT      NOT NULL,
    level   VARCHAR(50) NOT NULL,
    message MEDIUMTEXT  NOT NULL,
    KEY tenure_logs_job (job_id, id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4
/*M! COLLATE=utf8mb4_nopad_bin */ /*!80017 COLLATE=utf8mb4_0900_bin */;

CREATE TABLE IF NOT EXISTS tenure_keys (
    tenant       VARCHAR(100) NOT NULL,
    kind         VARCHAR(150) NOT NULL,
    unique_key   VARCHAR(255) NOT NULL,
    payload_hash VARCHAR(64)  NOT NULL,
    job_id       BIGINT,
    until        BIGINT       NOT NULL,
    PRIMARY KEY (tenant, kind, unique_key),
    KEY tenure_keys_until (until)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4
/*M! COLLATE=utf8mb4_nopad_bin */ /*!80017 COLLATE=utf8mb4_0900_bin */;

CREATE TABLE IF NOT EXISTS tenure_queues (
    name      VARCHAR(100) NOT NULL PRIMARY KEY,
    paused    TINYINT      NOT NULL DEFAULT 0,
    paused_at BIGINT,
    paused_by VARCHAR(255)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4
/*M! COLLATE=utf8mb4_nopad_bin */ /*!80017 COLLATE=utf8mb4_0900_bin */;

CREATE TABLE IF NOT EXISTS tenure_locks (
    name  VARCHAR(255) NOT NULL PRIMARY KEY,
    owner VARCHAR(255) NOT NULL,
    fence BIGINT       NOT NULL,
    until BIGINT       NOT NULL
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4
/*M! COLLATE=utf8mb4_nopad_bin */ /*!80017 COLLATE=utf8mb4_0900_bin */;

CREATE TABLE IF NOT EXISTS tenure_records (
    collection VARCHAR(100) NOT NULL,
    name       VARCHAR(255) NOT NULL,
    version    BIGINT       NOT NULL,
    data       LONGTEXT     NOT NULL,
    updated_at BIGINT       NOT NULL,
    PRIMARY KEY (collection, name)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4
/*M! COLLATE=utf8mb4_nopad_bin */ /*!80017 COLLATE=utf8mb4_0900_bin */;
