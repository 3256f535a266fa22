-- Rules of gates: limits of single keys, and holds of kinds and keys. Versions grow in the order of commits: whoever
-- writes a rule holds the lock of the gate `rules` (lock_gates) until the commit.

-- fragment: rule
-- In the order of gate_rules.RuleRow.
name, version, running, rate, per, burst, held_since, held_until, held_for, probes, reason

-- name: changed_rules
-- What has changed since a version, and the store's time. Usually nothing: one look at the index.
SELECT {rule}, {now} FROM tenure_gate_rules FORCE INDEX (tenure_gate_rules_version)
WHERE version > :seen AND kind IN :kinds

-- name: named_rules
SELECT {rule}, {now} FROM tenure_gate_rules WHERE name IN :gates

-- name: list_rules
-- Those that say something. What is over stays until it is purged.
SELECT {rule}, {now} FROM tenure_gate_rules
WHERE name > :after AND coalesce(running, rate, held_until) IS NOT NULL
ORDER BY name LIMIT :limit

-- name: lock_rule
-- A probe may move `held_until` without the lock of all rules.
SELECT {rule}, {now} FROM tenure_gate_rules FORCE INDEX (PRIMARY) WHERE name = :gate FOR UPDATE

-- name: write_rule
INSERT INTO tenure_gate_rules (name, kind, version, running, rate, per, burst, held_since, held_until, held_for,
    probes, reason, changed_at)
SELECT :gate, :kind, last.version + 1, :running, :rate, :per, :burst, :held_since, :held_until, :held_for,
    :probes, :reason, {now}
FROM (SELECT coalesce(max(version), 0) AS version FROM tenure_gate_rules) last
ON DUPLICATE KEY UPDATE version = last.version + 1, running = :running, rate = :rate, per = :per,
    burst = :burst, held_since = :held_since, held_until = :held_until, held_for = :held_for, probes = :probes,
    reason = :reason, changed_at = {now}

-- name: take_probes
-- each
-- A hold is over that lets some jobs try: the next ones may do so after another time as long as the hold. The UPDATE is
-- left out if there is no such row.
SELECT 1, name, probes FROM tenure_gate_rules FORCE INDEX (PRIMARY)
WHERE name = :gate AND probes > 0 AND held_until <= {now} FOR UPDATE;
UPDATE tenure_gate_rules FORCE INDEX (PRIMARY) SET held_until = {now} + held_for
WHERE name = :gate AND 1 IN :ids

-- name: return_probes
-- each
-- No job was there to try.
UPDATE tenure_gate_rules FORCE INDEX (PRIMARY) SET held_until = {now} WHERE name = :gate AND probes > 0

-- name: gates_of_jobs
SELECT id, limit_key FROM tenure_jobs WHERE id IN :ids

-- name: rated_kinds
-- Kinds that must not be claimed ahead: a rate, and a probe, count what begins.
SELECT DISTINCT kind FROM tenure_gate_rules
WHERE kind IN :kinds AND (rate IS NOT NULL OR probes > 0)

-- name: purge_rules
-- They say nothing any more. The newest stays: its version must not be given out twice.
DELETE FROM tenure_gate_rules
WHERE running IS NULL AND rate IS NULL AND (held_until IS NULL OR (probes = 0 AND held_until < {now} - :age))
    AND changed_at < {now} - :age
    AND version < (SELECT version FROM (SELECT max(version) AS version FROM tenure_gate_rules) newest)
LIMIT :limit
