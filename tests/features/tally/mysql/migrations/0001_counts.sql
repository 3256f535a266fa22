-- Ended jobs by state.
-- serves: 1

CREATE TABLE IF NOT EXISTS tally_counts (
    state VARCHAR(20) NOT NULL PRIMARY KEY,
    jobs  BIGINT      NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
