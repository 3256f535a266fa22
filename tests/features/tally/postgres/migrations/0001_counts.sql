-- Ended jobs by state.
-- serves: 1

CREATE TABLE tally_counts (
    state text   NOT NULL PRIMARY KEY,
    jobs  bigint NOT NULL
);
