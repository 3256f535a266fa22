// Events of the outbox and how far their delivery is.
import { html } from "../vendor/ui.js";
import { address, go, withQuery } from "../shell/address.js";
import { mayOperate, post } from "../shell/client.js";
import { act } from "../shell/notices.js";
import { Act, Badge, Choice, Empty, Shown, Table, Time, Title } from "../shell/parts.js";
import { JsonBlock } from "../parts/json_block.js";
import { usePages } from "../parts/pages.js";

const STATUSES = [["", "All"], ["PENDING", "Pending"], ["PROCESSING", "Processing"], ["SENT", "Sent"], ["FAILED", "Failed"]];
const TONES = { PENDING: "queued", PROCESSING: "running", SENT: "succeeded", FAILED: "failed" };

export default function Outbox() {
  const status = address.value.query.get("status") ?? "";
  const found = usePages(`/api/outbox?pageSize=100${status ? `&status=${encodeURIComponent(status)}` : ""}`);
  const choice = html`<${Choice} label="Status" options=${STATUSES} value=${status} onChange=${(key) => go(withQuery({ status: key || null }))} />`;
  return html`<${Title} note="Events that were published with a transaction, and are delivered to their subscribers." actions=${choice}>Outbox</${Title}>
    <div class="panel"><${Shown} of=${found}>${() => (found.items.length ? html`<${List} found=${found} />${found.foot}` : html`<${None} status=${status} />`)}</${Shown}></div>`;
}

const None = ({ status }) => html`<${Empty} title="No event"><p>${status ? "No event has this status." : "Events appear when an application publishes one in its transaction."}</p></${Empty}>`;

function List({ found }) {
  const retry = (one) => act(() => post(`/api/outbox/${encodeURIComponent(one.id)}/retry`).finally(found.again), `Event ${one.eventId} is delivered again`);
  const columns = [
    { name: "Event", of: (one) => html`<bdi>${one.type}</bdi><span class="quiet sub mono">${one.eventId}</span><details class="sub"><summary>Payload</summary><${JsonBlock} title="Payload" value=${one.payload} /></details>` },
    { name: "Status", of: (one) => html`<${Badge} state=${TONES[one.status]}>${one.status.toLowerCase()}</${Badge}>` },
    { name: "Subscriber", of: (one) => html`<bdi>${one.subscriber ?? "all"}</bdi>` },
    { name: "Aggregate", of: (one) => (one.aggregateId ? html`<bdi>${one.aggregateType} ${one.aggregateId}</bdi>` : html`<span class="quiet">–</span>`) },
    { name: "Error", of: (one) => html`<span class="error">${one.lastError}</span>` },
    { name: "Attempts", number: true, of: (one) => `${one.attempts} of ${one.maxAttempts}` },
    { name: "When", number: true, of: (one) => html`<${Time} at=${one.finishedAt ?? one.createdAt} />` },
    { name: "", class: "actions", of: (one) => mayOperate() && one.status === "FAILED" && html`<${Act} onClick=${() => retry(one)}>Retry</${Act}>` },
  ];
  return html`<${Table} label="Events" columns=${columns} rows=${found.items} id=${(one) => one.id} />`;
}
