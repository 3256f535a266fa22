// JSON whose whole numbers stay what they are: beyond 2^53 a number of JavaScript is another one.
// Those become BigInts here, and digits again when they are shown.

const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const WHOLE = /^-?\d+$/;

const large = (token) => WHOLE.test(token) && !Number.isSafeInteger(Number(token));

export function parse(text) {
  const mark = newMark();
  let marked = false;
  const kept = text.replace(TOKENS, (token) => {
    if (!large(token)) return token;
    marked = true;
    return `"${mark}${token}"`;
  });
  if (!marked) return JSON.parse(text);
  return JSON.parse(kept, (_, value) =>
    typeof value === "string" && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value);
}

export function stringify(value, indent) {
  const mark = newMark();
  const text = JSON.stringify(value, (_, one) => (typeof one === "bigint" ? `${mark}${one}` : one), indent);
  return text?.replace(new RegExp(`"${mark}(-?\\d+)"`, "g"), "$1");
}

// Nothing that a job says can be mistaken for it: it is made anew each time.
const newMark = () => `${[...crypto.getRandomValues(new Uint32Array(4))].join("-")}:`;
