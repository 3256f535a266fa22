-- Ended jobs by state.
-- serves: 1

CREATE TABLE tally_counts (
    state TEXT    NOT NULL PRIMARY KEY,
    jobs  INTEGER NOT NULL
);
