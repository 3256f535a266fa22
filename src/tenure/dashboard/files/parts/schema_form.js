// Fields for a JSON schema of arguments. What a field cannot express is entered as JSON.
import { html } from "../vendor/ui.js";
import { parse } from "../shell/exact.js";

const whole = (schema, root) => (schema.$ref ? root.$defs?.[schema.$ref.split("/").at(-1)] ?? {} : schema);
// `str | None` is a choice of two: the field is of the other one, and empty means null.
function plain(schema, root) {
  const one = whole(schema, root);
  const others = one.anyOf?.map((each) => whole(each, root)).filter((each) => each.type !== "null");
  return others?.length === 1 ? { ...one, ...others[0], nullable: true } : one;
}

function sort(schema) {
  if (schema.enum) return "enum";
  return { string: "text", integer: "integer", number: "number", boolean: "boolean" }[schema.type] ?? "json";
}

export function SchemaForm({ schema, values, onChange }) {
  const names = Object.keys(schema.properties);
  if (!names.length) return html`<p class="quiet">It takes no arguments.</p>`;
  return html`<div class="grid">${names.map((name) => {
    const field = plain(schema.properties[name], schema);
    const required = schema.required?.includes(name);
    const set = (value) => onChange({ ...values, [name]: value });
    return html`<label class="field" key=${name}><span><code>${name}</code>${required ? "" : html` <small>optional</small>`}</span><${Input} field=${field} value=${values[name]} set=${set} required=${required} /><small>${note(field)}</small></label>`;
  })}</div>`;
}

function Input({ field, value, set, required }) {
  const given = value ?? "";
  const heard = (event) => set(event.target.value);
  switch (sort(field)) {
    case "enum": return html`<select value=${given} onChange=${heard} required=${required}><option value="">choose…</option>${field.enum.map((one) => html`<option key=${one} value=${one}>${one}</option>`)}</select>`;
    case "boolean": return html`<select value=${given} onChange=${heard} required=${required}><option value="">${required ? "choose…" : "default"}</option><option value="true">true</option><option value="false">false</option></select>`;
    case "integer": return html`<input type="text" inputmode="numeric" pattern="-?[0-9]+" value=${given} onInput=${heard} required=${required} />`;
    case "number": return html`<input type="number" step="any" value=${given} onInput=${heard} required=${required} />`;
    case "json": return html`<textarea rows="3" spellcheck="false" placeholder="JSON" value=${given} onInput=${heard} required=${required}></textarea>`;
    default: return html`<input type="text" value=${given} onInput=${heard} required=${required && field.minLength > 0} />`;
  }
}

function note(field) {
  const base = field.description ?? field.type ?? "JSON";
  return field.default === undefined || field.default === null ? base : `${base}, default ${JSON.stringify(field.default)}`;
}

// The payload that the fields describe. Empty optional fields are left out, so defaults hold.
export function collect(schema, values) {
  const payload = {};
  for (const [name, given] of Object.entries(schema.properties)) {
    const field = plain(given, schema);
    const text = values[name];
    if (text === undefined || (text === "" && sort(field) !== "text")) continue;
    if (text === "" && !schema.required?.includes(name)) continue;
    payload[name] = sort(field) === "text" ? text : sort(field) === "enum" ? field.enum.find((one) => String(one) === text) : parse(text);
  }
  for (const name of schema.required ?? []) if (!(name in payload) && sort(plain(schema.properties[name], schema)) === "text") payload[name] = "";
  return payload;
}
