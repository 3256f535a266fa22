-- Limits of single keys, and holds: rules of gates that every claim knows half a second later.
-- serves: 2

CREATE TABLE IF NOT EXISTS tenure_gate_rules (
    name       TEXT    PRIMARY KEY,
    kind       TEXT    NOT NULL,
    version    INTEGER NOT NULL,
    running    INTEGER,
    rate       REAL,
    per        REAL,
    burst      INTEGER,
    held_since INTEGER,
    held_until INTEGER,
    held_for   INTEGER,
    probes     INTEGER NOT NULL DEFAULT 0,
    reason     TEXT,
    changed_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS tenure_gate_rules_version ON tenure_gate_rules (version);
