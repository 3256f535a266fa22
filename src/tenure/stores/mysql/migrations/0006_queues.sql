-- Jobs that were added without knowing their handler are placed when a worker knows it; a queue may lift what is old.
-- serves: 2

ALTER TABLE tenure_jobs
    ADD COLUMN /*M! IF NOT EXISTS */ unplaced SMALLINT NOT NULL DEFAULT 0,
    ADD COLUMN /*M! IF NOT EXISTS */ lifted SMALLINT NOT NULL DEFAULT 0,
    ADD COLUMN /*M! IF NOT EXISTS */ unplaced_kind VARCHAR(150)
        GENERATED ALWAYS AS (CASE WHEN state = 0 AND unplaced <> 0 THEN kind END) STORED,
    ADD KEY /*M! IF NOT EXISTS */ tenure_jobs_unplaced (unplaced_kind);
