// Columns by distance from the jobs that nothing leads to; rows in the order of ids.
const COLUMN = 256;
const ROW = 76;
const EDGE = 20;

export function arrange(jobs, links) {
  const depth = new Map(jobs.map((job) => [job.jobId, 0]));
  // Links form no cycle: a job exists before those that it enqueues or that wait for it.
  for (let round = 0; round < jobs.length; round += 1) {
    let moved = false;
    for (const { from, to } of links) {
      if (depth.get(to) < depth.get(from) + 1) { depth.set(to, depth.get(from) + 1); moved = true; }
    }
    if (!moved) break;
  }
  const columns = new Map();
  for (const job of [...jobs].sort((one, other) => Number(one.jobId) - Number(other.jobId))) {
    const place = depth.get(job.jobId);
    columns.set(place, [...(columns.get(place) ?? []), job]);
  }
  const tallest = Math.max(...[...columns.values()].map((column) => column.length));
  const nodes = [...columns].flatMap(([place, column]) => column.map((job, row) => ({
    job, x: EDGE + place * COLUMN, y: EDGE + (row + (tallest - column.length) / 2) * ROW,
  })));
  return { nodes, width: 2 * EDGE + Math.max(...columns.keys()) * COLUMN + 200, height: 2 * EDGE + tallest * ROW };
}
