// The search of jobs: its tokens, and what they say in words.
import { stateWord } from "./words.js";

const TOKEN = /(?:[^\s"]|"(?:[^"\\]|\\.)*"?)+/g;
export const FIELDS = ["kind", "state", "queue", "tenant", "user", "key", "error", "group", "payload.", "parent", "id"];

export function tokens(q) {
  return (q.match(TOKEN) ?? []).map((text) => {
    const at = text.indexOf(":");
    const value = (at < 0 ? text : text.slice(at + 1)).replace(/^"|"$/g, "");
    return { text, field: at < 0 ? "" : text.slice(0, at), value };
  });
}

export const token = (field, value) => `${field}:${/[\s"]/.test(value) ? JSON.stringify(value) : value}`;
export const valuesOf = (q, field) => tokens(q).filter((one) => one.field === field).map((one) => one.value);
export const without = (q, field) => tokens(q).filter((one) => one.field !== field).map((one) => one.text).join(" ");

export function toggled(q, field, value) {
  const all = tokens(q);
  const kept = all.filter((one) => one.field !== field || one.value !== value);
  const added = kept.length === all.length ? [token(field, value)] : [];
  return [...kept.map((one) => one.text), ...added].join(" ");
}

export const jobsAt = (...pairs) => `/jobs?q=${encodeURIComponent(pairs.map(([field, value]) => token(field, value)).join(" "))}`;

// An address of the API for this search; an empty one is left out.
export const searched = (path, q) => (q ? `${path}${path.includes("?") ? "&" : "?"}q=${encodeURIComponent(q)}` : path);

const PHRASES = {
  kind: (all) => `of the kind ${either(all)}`,
  state: (all) => `that are ${either(all.map(stateWord))}`,
  queue: (all) => `in the queue ${either(all)}`,
  tenant: (all) => `of the tenant ${either(all)}`,
  user: (all) => `of the user ${either(all)}`,
  key: (all) => `with the key ${either(all)}`,
  error: (all) => `whose error contains “${either(all)}”`,
  group: (all) => `of the error group ${either(all)}`,
  parent: (all) => `that job ${either(all)} enqueued`,
  id: (all) => `with the id ${either(all)}`,
  "": (all) => `found by “${either(all)}”`,
};
const either = (all) => all.join(" or ");

// "jobs of the kind mail.send that are dead": what a question names before many jobs are moved.
export function inWords(q) {
  const by = new Map();
  for (const { field, value } of tokens(q)) by.set(field, [...(by.get(field) ?? []), value]);
  if (!by.size) return "all jobs";
  const phrases = [...by].map(([field, all]) => (PHRASES[field] ?? ((values) => `with ${field} = ${either(values)}`))(all));
  return `jobs ${phrases.join(", ")}`;
}
