"""The statements under question, as PostgreSQL has them."""
# Fixed texts of a measurement, no input of anybody:
# ruff: noqa: S608

from __future__ import annotations

from bench.decisions.engines.postgres import DONE_NOW, TAKEN_NOW

# The next lane.
STEP = """SELECT queue, priority, tenant, run_at FROM tenure_jobs
    WHERE state = 0 AND hold = 0 AND {where}
    ORDER BY queue, priority, tenant, run_at, id LIMIT 1"""
AFTER = "(queue, priority, tenant) > ({})"
BEFORE = "(queue, priority, tenant) < ({})"
EQUAL_PREFIX = "queue = {} AND priority = {} AND tenant > {}"

# All lanes, by jumping from one to the next.
LOOK = f"""WITH RECURSIVE lane AS (
        ({STEP.format(where=AFTER.format("'default', 0, %(cursor)s"))})
        UNION ALL
        SELECT n.* FROM lane l CROSS JOIN LATERAL
            ({STEP.format(where=AFTER.format("l.queue, l.priority, l.tenant"))}) n)
    SELECT * FROM lane LIMIT %(limit)s"""

CLAIM_LANES = f"""UPDATE tenure_jobs SET {TAKEN_NOW}
    WHERE id = ANY(ARRAY(
        SELECT p.id
        FROM unnest(%(queues)s::text[], %(priorities)s::smallint[], %(tenants)s::text[],
            %(takes)s::int[]) AS lane(q, p, t, n)
        CROSS JOIN LATERAL (
            SELECT j.id FROM tenure_jobs j
            WHERE j.queue = lane.q AND j.priority = lane.p AND j.tenant = lane.t
                AND j.state = 0 AND j.hold = 0 AND j.run_at <= (SELECT %(now)s::bigint)
            ORDER BY j.run_at, j.id LIMIT lane.n FOR UPDATE SKIP LOCKED) p))
    RETURNING id, kind, payload, attempt, fence"""

CLAIM_ONE = f"""UPDATE tenure_jobs SET {TAKEN_NOW}
    WHERE id = ANY(ARRAY(
        SELECT id FROM tenure_jobs
        WHERE queue = 'default' AND priority = 0 AND tenant = %(tenant)s
            AND state = 0 AND hold = 0 AND run_at <= %(now)s::bigint {{more}}
        ORDER BY run_at, id LIMIT %(n)s FOR UPDATE SKIP LOCKED))
    RETURNING id, kind, payload, attempt, fence"""
FLOOR = "AND (run_at, id) > (%(at)s::bigint, 0)"

LEASES = """SELECT id FROM tenure_jobs
    WHERE state = 1 AND lease_until < %(now)s {more}
    ORDER BY lease_until LIMIT 100 FOR UPDATE SKIP LOCKED"""

SETTLE = f"""UPDATE tenure_jobs j SET {DONE_NOW}
    FROM unnest(%(ids)s::bigint[], %(fences)s::int[], %(results)s::text[])
        AS s(id, fence, result)
    WHERE j.id = s.id AND j.fence = s.fence AND {{state}}
    RETURNING j.id"""
