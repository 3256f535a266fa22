-- Claimed ahead or at work, suspected of killing its worker or not; and how often a worker died with it.
-- serves: 2

ALTER TABLE tenure_jobs ADD COLUMN standing smallint NOT NULL DEFAULT 0;

ALTER TABLE tenure_jobs ADD COLUMN crashes integer NOT NULL DEFAULT 0;
