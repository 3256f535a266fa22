-- Limits of single keys, and holds: rules of gates that every claim knows half a second later.
-- serves: 2

CREATE TABLE IF NOT EXISTS tenure_gate_rules (
    name       VARCHAR(400) NOT NULL PRIMARY KEY,
    kind       VARCHAR(150) NOT NULL,
    version    BIGINT       NOT NULL,
    running    BIGINT,
    rate       DOUBLE,
    per        DOUBLE,
    burst      BIGINT,
    held_since BIGINT,
    held_until BIGINT,
    held_for   BIGINT,
    probes     INT          NOT NULL DEFAULT 0,
    reason     VARCHAR(500),
    changed_at BIGINT       NOT NULL,
    KEY tenure_gate_rules_version (version)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4
/*M! COLLATE=utf8mb4_nopad_bin */ /*!80017 COLLATE=utf8mb4_0900_bin */;
