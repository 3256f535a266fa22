// A line of small bars; the sentence beside it says the same.
import { html } from "../vendor/ui.js";

export function Sparkline({ values, label, tone = "failed" }) {
  const top = Math.max(1, ...values);
  return html`<svg class=${`sparkline ${tone}`} viewBox=${`0 0 ${values.length * 4} 24`} role="img" aria-label=${label} preserveAspectRatio="none">
    ${values.map((one, at) => {
      const height = one ? Math.max(2, (22 * one) / top) : 1;
      return html`<rect x=${at * 4} y=${24 - height} width="3" height=${height} class=${one ? "" : "none"} />`;
    })}</svg>`;
}
