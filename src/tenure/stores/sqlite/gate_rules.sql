-- Rules of gates: limits of single keys, and holds of kinds and keys. Versions grow in the order of commits: there is
-- one writer.

-- fragment: rule
-- In the order of gate_rules.RuleRow.
name, version, running, rate, per, burst, held_since, held_until, held_for, probes, reason

-- name: changed_rules
-- What has changed since a version, and the store's time. Usually nothing: one look at the index.
SELECT {rule}, {now} FROM tenure_gate_rules
WHERE version > :seen AND +kind IN (SELECT value FROM json_each(:kinds))

-- name: named_rules
SELECT {rule}, {now} FROM tenure_gate_rules WHERE name IN (SELECT value FROM json_each(:gates))

-- name: list_rules
-- Those that say something. What is over stays until it is purged.
SELECT {rule}, {now} FROM tenure_gate_rules
WHERE name > :after AND coalesce(running, rate, held_until) IS NOT NULL
ORDER BY name LIMIT :limit

-- name: lock_rule
-- The one writer is the lock.
SELECT {rule}, {now} FROM tenure_gate_rules WHERE name = :gate

-- name: write_rule
INSERT INTO tenure_gate_rules (name, kind, version, running, rate, per, burst, held_since, held_until, held_for,
    probes, reason, changed_at)
SELECT :gate, :kind, coalesce(max(version), 0) + 1, :running, :rate, :per, :burst, :held_since, :held_until,
    :held_for, :probes, :reason, {now}
FROM tenure_gate_rules WHERE true
ON CONFLICT (name) DO UPDATE SET version = excluded.version, running = excluded.running, rate = excluded.rate,
    per = excluded.per, burst = excluded.burst, held_since = excluded.held_since,
    held_until = excluded.held_until, held_for = excluded.held_for, probes = excluded.probes,
    reason = excluded.reason, changed_at = excluded.changed_at

-- name: take_probes
-- each
-- A hold is over that lets some jobs try: the next ones may do so after another time as long as the hold.
UPDATE tenure_gate_rules SET held_until = {now} + held_for
WHERE name = :gate AND probes > 0 AND held_until <= {now}
RETURNING 1, name, probes

-- name: return_probes
-- each
-- No job was there to try.
UPDATE tenure_gate_rules SET held_until = {now} WHERE name = :gate AND probes > 0

-- name: gates_of_jobs
SELECT id, limit_key FROM tenure_jobs WHERE id IN (SELECT value FROM json_each(:ids))

-- name: rated_kinds
-- Kinds that must not be claimed ahead: a rate, and a probe, count what begins.
SELECT DISTINCT kind FROM tenure_gate_rules
WHERE kind IN (SELECT value FROM json_each(:kinds)) AND (rate IS NOT NULL OR probes > 0)

-- name: purge_rules
-- They say nothing any more. The newest stays: its version must not be given out twice.
DELETE FROM tenure_gate_rules WHERE name IN (SELECT name FROM tenure_gate_rules
    WHERE running IS NULL AND rate IS NULL AND (held_until IS NULL OR (probes = 0 AND held_until < {now} - :age))
        AND changed_at < {now} - :age AND version < (SELECT max(version) FROM tenure_gate_rules)
    LIMIT :limit)
