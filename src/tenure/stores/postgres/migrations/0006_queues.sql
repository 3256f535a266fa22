-- Jobs that were added without knowing their handler are placed when a worker knows it; a queue may lift what is old.
-- serves: 2

ALTER TABLE tenure_jobs ADD COLUMN IF NOT EXISTS unplaced smallint NOT NULL DEFAULT 0;

ALTER TABLE tenure_jobs ADD COLUMN IF NOT EXISTS lifted smallint NOT NULL DEFAULT 0;

CREATE INDEX IF NOT EXISTS tenure_jobs_unplaced ON tenure_jobs (kind, unplaced)
    WHERE unplaced <> 0 AND state = 0;
