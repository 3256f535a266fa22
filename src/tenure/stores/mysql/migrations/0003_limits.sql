-- Limits: what runs is counted by an index, what must wait for room lies in another, and tokens have a row.
-- serves: 2
-- One sort of change for each ALTER: MySQL makes none of them in place beside another sort. Columns that have an
-- index are STORED: MariaDB adds no further column at once to a table with an index on a VIRTUAL one.

DROP TABLE IF EXISTS tenure_limits;

CREATE TABLE IF NOT EXISTS tenure_gates (
    name        VARCHAR(400) NOT NULL PRIMARY KEY,
    tokens      DOUBLE       NOT NULL,
    refilled_at BIGINT       NOT NULL,
    full_at     BIGINT       NOT NULL,
    running     BIGINT       NOT NULL DEFAULT 9007199254740992,
    KEY tenure_gates_full (full_at)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4
/*M! COLLATE=utf8mb4_nopad_bin */ /*!80017 COLLATE=utf8mb4_0900_bin */;

ALTER TABLE tenure_jobs DROP KEY tenure_jobs_parked;

ALTER TABLE tenure_jobs DROP COLUMN parked_by;

ALTER TABLE tenure_jobs
    ADD COLUMN parked_at_gate VARCHAR(400)
        GENERATED ALWAYS AS (CASE WHEN state = 0 AND hold = 4 THEN limit_key END) STORED,
    ADD COLUMN counted_at_gate VARCHAR(400)
        GENERATED ALWAYS AS (CASE WHEN state = 1 THEN limit_key END) STORED;

ALTER TABLE tenure_jobs
    ADD KEY tenure_jobs_parked_at (parked_at_gate, queue, priority, tenant, run_at, id),
    ADD KEY tenure_jobs_counted (counted_at_gate, lease_until);
