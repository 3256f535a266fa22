-- Lists of one tenant or owner do not walk over everybody's jobs.
-- serves: 2

ALTER TABLE tenure_jobs
    ADD KEY tenure_jobs_of_tenant (tenant, id),
    ADD KEY tenure_jobs_of_owner (owner, id);
