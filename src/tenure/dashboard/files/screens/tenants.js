// Shares and caps of tenants, and the limits of kinds.
import { html, useState } from "../vendor/ui.js";
import { mayOperate, send } from "../shell/client.js";
import { refresh, useData } from "../shell/data.js";
import { jobsAt } from "../shell/filter.js";
import { act } from "../shell/notices.js";
import { Empty, Panel, Shown, Table, Title } from "../shell/parts.js";
import { number } from "../shell/words.js";
import { LimitForm, limitWords } from "../parts/limit_form.js";

const TENANTS = "/api/tenants";
const LIMITS = "/api/limits";

export default function Tenants() {
  const tenants = useData(TENANTS);
  const limits = useData(LIMITS, { hears: false });
  return html`<${Title} note="Within a priority, tenants share the workers by weight. A cap bounds how many jobs of a tenant run at a time.">Tenants and limits</${Title}>
    <${Panel} title="Tenants" id="tenants"><${Shown} of=${tenants}>${(found) => html`<${TenantList} rows=${found.items} />`}</${Shown}></${Panel}>
    <${Panel} title="Limits of kinds" id="limits"><${Shown} of=${limits}>${(found) => html`<${LimitList} rows=${found.items} />`}</${Shown}></${Panel}>`;
}

function TenantList({ rows }) {
  const [edited, setEdited] = useState(null);
  const none = html`<${Empty} title="No tenant has jobs, a weight or a cap"><p>Name a tenant when you enqueue a job, or set a weight:</p><pre tabindex="0">tenure tenants weigh acme 3</pre></${Empty}>`;
  const columns = [
    { name: "Tenant", of: (one) => (one.tenant ? html`<a href=${jobsAt(["tenant", one.tenant])}><bdi>${one.tenant}</bdi></a>` : "(none)") },
    { name: "Weight", number: true, of: (one) => number(one.weight) },
    { name: "Cap", number: true, of: (one) => (one.cap === null ? html`<span class="quiet">none</span>` : number(one.cap)) },
    { name: "Running", of: (one) => (one.cap ? html`<div class="progress"><meter min="0" max=${one.cap} value=${Math.min(one.running, one.cap)} aria-label=${`Share of the cap of ${one.tenant}`}></meter><span class="quiet">${number(one.running)} of ${number(one.cap)}</span></div>` : number(one.running)) },
    { name: "Waiting", number: true, of: (one) => `${number(one.queued)}${one.atLeast ? "+" : ""}` },
    { name: "", class: "actions", of: (one) => mayOperate() && html`<button onClick=${() => setEdited(one)}>Edit</button>` },
  ];
  const add = mayOperate() && html`<p class="foot"><button onClick=${() => setEdited({ tenant: "", weight: 1, cap: null, fresh: true })}>Set a weight or cap</button></p>`;
  return html`${rows.length ? html`<${Table} label="List of tenants" columns=${columns} rows=${rows} id=${(one) => one.tenant} />` : none}
    ${edited ? html`<${TenantForm} key=${edited.tenant} tenant=${edited} done=${() => { setEdited(null); refresh(TENANTS); }} />` : add}`;
}

function TenantForm({ tenant, done }) {
  const [values, setValues] = useState({ tenant: tenant.tenant, weight: String(tenant.weight), cap: String(tenant.cap ?? "") });
  const set = (name) => (event) => setValues({ ...values, [name]: event.target.value });
  const submit = async (event) => {
    event.preventDefault();
    const body = { weight: values.weight.trim() ? Number(values.weight) : null, cap: values.cap.trim() ? Number(values.cap) : null };
    if (await act(() => send("PUT", `${TENANTS}/${encodeURIComponent(values.tenant || "-")}`, body).then(() => true), `Tenant ${values.tenant || "(none)"} is changed`)) done();
  };
  return html`<form class="edit" onSubmit=${submit} aria-label="Weight and cap of a tenant">
    <label class="field"><span>Tenant</span><input type="text" value=${values.tenant} readonly=${!tenant.fresh} onInput=${set("tenant")} required=${tenant.fresh} /></label>
    <label class="field"><span>Weight</span><input type="number" min="0.01" step="any" value=${values.weight} onInput=${set("weight")} /></label>
    <label class="field"><span>Cap</span><input type="number" min="0" step="1" value=${values.cap} onInput=${set("cap")} /><small>empty: none</small></label>
    <div class="actions"><button type="submit" class="strong">Save</button><button type="button" class="plain" onClick=${done}>Cancel</button></div></form>`;
}

function LimitList({ rows }) {
  const [edited, setEdited] = useState(null);
  if (!rows.length) return html`<${Empty} title="No limit"><p>Limit a kind on the screen <a href="/kinds">Kinds</a>, or in its handler's options.</p></${Empty}>`;
  const columns = [
    { name: "Kind", of: (one) => html`<a href=${jobsAt(["kind", one.kind])}><bdi>${one.kind}</bdi></a>` },
    { name: "Limit", of: (one) => `${limitWords({ ...one, byOperator: false })}${one.eachKey ? ", for each key" : ""}` },
    { name: "Set by", of: (one) => (one.byOperator ? "an operator" : html`<span class="quiet">the code</span>`) },
    { name: "", class: "actions", of: (one) => mayOperate() && html`<button onClick=${() => setEdited(one)}>Edit</button>` },
  ];
  return html`<${Table} label="List of limits" columns=${columns} rows=${rows} id=${(one) => `${one.kind} ${one.eachKey}`} />
    ${edited && html`<${LimitForm} key=${edited.kind} kind=${edited.kind} limit=${edited.eachKey ? null : edited} keyLimit=${edited.eachKey ? edited : null} done=${() => { setEdited(null); refresh(LIMITS); }} />`}`;
}
