-- Limits of single keys, and holds: rules of gates that every claim knows half a second later.
-- serves: 2

CREATE TABLE IF NOT EXISTS tenure_gate_rules (
    name       text COLLATE "C" PRIMARY KEY,
    kind       text COLLATE "C" NOT NULL,
    version    bigint           NOT NULL,
    running    bigint,
    rate       double precision,
    per        double precision,
    burst      bigint,
    held_since bigint,
    held_until bigint,
    held_for   bigint,
    probes     integer          NOT NULL DEFAULT 0,
    reason     text,
    changed_at bigint           NOT NULL
);

CREATE INDEX IF NOT EXISTS tenure_gate_rules_version ON tenure_gate_rules (version);
