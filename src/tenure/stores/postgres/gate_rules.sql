-- Rules of gates: limits of single keys, and holds of kinds and keys. Versions grow in the order of commits: whoever
-- writes a rule holds the lock of the gate `rules` (lock_gates) until the commit.

-- fragment: rule
-- In the order of gate_rules.RuleRow.
name, version, running, rate, per, burst, held_since, held_until, held_for, probes, reason

-- name: changed_rules
-- What has changed since a version, and the store's time. Usually nothing: one look at the index.
SELECT {rule}, {now} FROM tenure_gate_rules WHERE version > :seen::bigint AND kind = ANY(:kinds::text[])

-- name: named_rules
SELECT {rule}, {now} FROM tenure_gate_rules WHERE name = ANY(:gates::text[])

-- name: list_rules
-- Those that say something. What is over stays until it is purged.
SELECT {rule}, {now} FROM tenure_gate_rules
WHERE name > :after::text AND coalesce(running, rate, held_until) IS NOT NULL
ORDER BY name LIMIT :limit::bigint

-- name: lock_rule
-- A probe may move `held_until` without the lock of all rules.
SELECT {rule}, {now} FROM tenure_gate_rules WHERE name = :gate::text FOR UPDATE

-- name: write_rule
INSERT INTO tenure_gate_rules (name, kind, version, running, rate, per, burst, held_since, held_until, held_for,
    probes, reason, changed_at)
SELECT :gate::text, :kind::text, coalesce(max(version), 0) + 1, :running::bigint, :rate::float8, :per::float8,
    :burst::bigint, :held_since::bigint, :held_until::bigint, :held_for::bigint, :probes::int, :reason::text, {now}
FROM tenure_gate_rules
ON CONFLICT (name) DO UPDATE SET version = excluded.version, running = excluded.running, rate = excluded.rate,
    per = excluded.per, burst = excluded.burst, held_since = excluded.held_since,
    held_until = excluded.held_until, held_for = excluded.held_for, probes = excluded.probes,
    reason = excluded.reason, changed_at = excluded.changed_at

-- name: take_probes
-- A hold is over that lets some jobs try: the next ones may do so after another time as long as the hold.
UPDATE tenure_gate_rules SET held_until = {now} + held_for
WHERE name = ANY(:gate::text[]) AND probes > 0 AND held_until <= {now}
RETURNING 1, name, probes

-- name: return_probes
-- No job was there to try.
UPDATE tenure_gate_rules SET held_until = {now} WHERE name = ANY(:gate::text[]) AND probes > 0

-- name: gates_of_jobs
SELECT id, limit_key FROM tenure_jobs WHERE id = ANY(:ids::bigint[])

-- name: rated_kinds
-- Kinds that must not be claimed ahead: a rate, and a probe, count what begins.
SELECT DISTINCT kind FROM tenure_gate_rules
WHERE kind = ANY(:kinds::text[]) AND (rate IS NOT NULL OR probes > 0)

-- name: purge_rules
-- They say nothing any more. The newest stays: its version must not be given out twice.
DELETE FROM tenure_gate_rules
WHERE name = ANY(ARRAY(SELECT name FROM tenure_gate_rules
    WHERE running IS NULL AND rate IS NULL AND (held_until IS NULL OR (probes = 0 AND held_until < {now} - :age::bigint))
        AND changed_at < {now} - :age::bigint AND version < (SELECT max(version) FROM tenure_gate_rules)
    LIMIT :limit::bigint FOR UPDATE SKIP LOCKED))
