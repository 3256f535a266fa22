// A chart over time, with its figures as a table for those who cannot see it.
import uPlot from "../vendor/uplot.js";
import { html, useEffect, useRef, useState } from "../vendor/ui.js";
import { systemDark, theme } from "../shell/theme.js";
import { clock, number } from "../shell/words.js";

const HEIGHT = 168;
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

// Canvases know no custom properties; a probe resolves them, light-dark() included.
function resolved(name) {
  const probe = document.createElement("i");
  probe.className = `colour-${name}`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found || colour(name);
}

function faded(name, part) {
  const [red, green, blue] = resolved(name).match(/[\d.]+/g);
  return `rgb(${red} ${green} ${blue} / ${part})`;
}

function options(series, format, width, days, show) {
  const axis = { stroke: resolved("quiet"), font: "11px system-ui, sans-serif", ticks: { show: false } };
  return {
    width, height: HEIGHT, legend: { show: false }, padding: [10, 8, 0, 0],
    cursor: { y: false, sync: { key: "overview" }, points: { size: 6 }, drag: { x: false, y: false } },
    hooks: { setCursor: [(plot) => show(plot.cursor.idx ?? null)] },
    scales: { y: { range: (_, low, high) => [0, high > 0 ? high * 1.08 : 1] } },
    axes: [
      { ...axis, grid: { show: false }, size: 26, values: (_, at) => at.map((one) => label(one, days)) },
      { ...axis, grid: { stroke: faded("line", 1), width: 1 }, size: 54, splits: undefined, space: 36,
        values: (_, at) => at.map((one) => (Number.isInteger(one) || one < 10 ? format(one) : "")) },
    ],
    series: [{}, ...series.map((one) => ({
      stroke: resolved(one.colour), width: 1.75, points: { show: sparse(one.values), size: 5 },
      fill: one.bars ? faded(one.colour, 0.75) : one.fill && faded(one.colour, 0.14),
      paths: one.bars ? uPlot.paths.bars({ size: [0.7, 22] }) : undefined, spanGaps: false,
    }))],
  };
}

function label(seconds, days) {
  const at = new Date(seconds * 1000);
  return days ? at.toLocaleDateString("en-GB", { day: "numeric", month: "short" }) : clock(at).slice(0, 5);
}

// series: [{ name, values, colour, fill, bars }]; times in seconds.
export function Chart({ title, times, series, format = number, days = false }) {
  const box = useRef();
  const plot = useRef(null);
  const [at, setAt] = useState(null);
  const dark = theme.value === "system" ? systemDark.value : theme.value === "dark";
  const shape = `${series.map((one) => one.name)} ${dark} ${days}`;
  const data = [times, ...series.map((one) => one.values)];
  useEffect(() => {
    const width = () => Math.max(160, box.current.clientWidth);
    plot.current = new uPlot(options(series, format, width(), days, setAt), data, box.current);
    const sizes = new ResizeObserver(() => plot.current.setSize({ width: width(), height: HEIGHT }));
    sizes.observe(box.current);
    return () => { sizes.disconnect(); plot.current.destroy(); };
  }, [shape]);
  useEffect(() => { plot.current?.setData(data); });
  const shown = at ?? null;
  return html`<figure class="chart">
    <figcaption><h2>${title}</h2><span class="legend">${series.map((one) => html`<span key=${one.name}><i class=${`dot colour-${one.colour}`}></i>${one.name}${shown !== null && html`<b>${value(one.values[shown], format)}</b>`}</span>`)}</span>
      <span class="quiet moment">${shown !== null && times[shown] ? moment(times[shown], days) : ""}</span></figcaption>
    <div class="plot" role="img" aria-label=${`${title}: ${summary(series, format)}`} ref=${box}></div>
    <details><summary>Show as table</summary><div class="scroll short" tabindex="0" role="region" aria-label=${`${title}, table`}><table>
      <thead><tr><th scope="col">Time</th>${series.map((one) => html`<th scope="col" class="number">${one.name}</th>`)}</tr></thead>
      <tbody>${rows(times, series).map((row) => html`<tr key=${row}><th scope="row">${moment(times[row], days)}</th>${series.map((one) => html`<td class="number">${value(one.values[row], format)}</td>`)}</tr>`)}</tbody></table></div></details>
  </figure>`;
}

const value = (one, format) => (one === null || one === undefined ? "–" : format(one));
const moment = (seconds, days) => (days ? `${label(seconds, true)} ` : "") + label(seconds, false);

// Newest first, and only steps in which something happened.
function rows(times, series) {
  return times.map((_, at) => at).filter((at) => series.some((one) => one.values[at])).reverse();
}

function summary(series, format) {
  return series.map((one) => {
    const known = one.values.filter((each) => each !== null);
    return `${one.name} at most ${known.length ? format(Math.max(...known)) : "nothing"}`;
  }).join(", ");
}

// A line needs two neighbours to be seen: few values get points.
const sparse = (values) => values.some((one) => one === null) && values.filter((one) => one !== null).length < 30;
