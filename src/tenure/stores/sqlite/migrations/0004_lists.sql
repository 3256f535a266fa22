-- Lists of one tenant or owner do not walk over everybody's jobs; who has neither pays nothing.
-- serves: 2

CREATE INDEX tenure_jobs_of_tenant ON tenure_jobs (tenant, id) WHERE tenant <> '';

CREATE INDEX tenure_jobs_of_owner ON tenure_jobs (owner, id) WHERE owner IS NOT NULL;
