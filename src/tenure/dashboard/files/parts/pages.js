// A list by pages: the first is kept fresh, older ones are added by a button.
import { html, useEffect, useState } from "../vendor/ui.js";
import { get } from "../shell/client.js";
import { useData } from "../shell/data.js";
import { Act } from "../shell/parts.js";

export function usePages(path, options) {
  const first = useData(path, options);
  const [older, setOlder] = useState(null);
  useEffect(() => { setOlder(null); }, [path]);
  const next = older ? older.next : first.data?.next ?? null;
  const more = async () => {
    const page = await get(`${path}${path.includes("?") ? "&" : "?"}after=${encodeURIComponent(next)}`);
    setOlder((before) => ({ items: [...(before?.items ?? []), ...page.items], next: page.next }));
  };
  const items = [...(first.data?.items ?? []), ...(older?.items ?? [])];
  const foot = next !== null && html`<p class="foot"><${Act} onClick=${more}>Show older</${Act}></p>`;
  return { ...first, items, foot };
}
