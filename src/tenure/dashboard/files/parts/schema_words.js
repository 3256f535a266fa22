// JSON schemas of the API document as words and examples.
const target = (ref, api) => ref.replace("#/", "").split("/").reduce((found, name) => found?.[name], api) ?? {};
const whole = (schema, api) => (schema.$ref ? target(schema.$ref, api) : schema);
const options = (schema) => (schema.anyOf ?? schema.oneOf ?? []).filter((one) => one.type !== "null");

export function typeOf(schema, api) {
  const one = whole(schema, api);
  if (one.enum) return one.enum.join(" | ");
  if (options(one).length) return options(one).map((each) => typeOf(each, api)).join(" or ");
  if (one.type === "array") return `list of ${typeOf(one.items ?? {}, api)}`;
  return one.format ? `${one.type}, ${one.format}` : one.type ?? "any JSON";
}

export function fieldsOf(schema, api) {
  const one = whole(schema, api);
  return Object.entries(one.properties ?? {}).map(([name, field]) => ({ name, required: one.required?.includes(name), type: typeOf(field, api), about: field.description ?? "" }));
}

// An example from what the schema says; `least` leaves optional fields out.
export function exampleOf(schema, api, least = false, depth = 0) {
  const one = whole(schema, api);
  if (one.examples?.length) return one.examples[0];
  if (one.default !== undefined && one.default !== null) return one.default;
  if (one.enum) return one.enum[0];
  if (options(one).length) return exampleOf(options(one)[0], api, least, depth);
  if (one.type === "array") return depth > 4 ? [] : [exampleOf(one.items ?? {}, api, least, depth + 1)];
  if (one.type === "object" || one.properties) {
    if (depth > 4) return {};
    const names = Object.keys(one.properties ?? {}).filter((name) => !least || one.required?.includes(name));
    return Object.fromEntries(names.map((name) => [name, exampleOf(one.properties[name], api, least, depth + 1)]));
  }
  return { integer: 1, number: 1.5, boolean: true, string: one.format === "date-time" ? "2026-11-16T10:00:00.000000Z" : "text" }[one.type] ?? null;
}
