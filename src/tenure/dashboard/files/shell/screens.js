// Which screen an address opens, and its place in the menu.
import { computed, signal } from "../vendor/ui.js";
import { get, mayOperate, session } from "./client.js";

export const GROUPS = ["Watch", "Run", "Govern", "More"];
// `site`: of the whole installation, so a tenant's key does not see it; `operator`: for admins.
export const SCREENS = [
  { path: "/", title: "Overview", icon: "overview", key: "o", group: "Watch", module: "overview", site: true },
  { path: "/jobs", title: "Jobs", icon: "jobs", key: "j", group: "Watch", module: "jobs" },
  { path: "/failures", title: "Failures", icon: "failures", key: "f", group: "Watch", module: "failures" },
  { path: "/queues", title: "Queues", icon: "queues", key: "q", group: "Run", module: "queues", site: true },
  { path: "/workers", title: "Workers", icon: "workers", key: "w", group: "Run", module: "workers", site: true },
  { path: "/kinds", title: "Kinds", icon: "kinds", key: "k", group: "Run", module: "kinds", site: true },
  { path: "/schedules", title: "Schedules", icon: "schedules", key: "s", group: "Run", module: "schedules", site: true },
  { path: "/outbox", title: "Outbox", icon: "outbox", key: "x", group: "Run", module: "outbox", site: true },
  { path: "/tenants", title: "Tenants and limits", icon: "tenants", key: "t", group: "Govern", module: "tenants", site: true },
  { path: "/audit", title: "Audit", icon: "audit", key: "a", group: "Govern", module: "audit", site: true, operator: true },
  { path: "/docs", title: "API reference", icon: "docs", key: "d", group: "More", module: "docs" },
];
const OTHERS = [
  { path: "/new", title: "New job", module: "new" },
  { pattern: /^\/jobs\/([^/]+)$/, title: "Job", module: "job" },
  { pattern: /^\/flow\/([^/]+)$/, title: "Flow", module: "flow" },
];

// Features bring screens of their own: modules that are served beside the page's.
export const featureScreens = signal(null);

export async function readFeatureScreens() {
  const listed = await get("/features/screens.json").catch(() => []);
  featureScreens.value = listed.map((one) => ({
    path: `/screens/${one.feature}/${one.name}`, title: one.title, icon: "screen",
    group: GROUPS.includes(one.menu) ? one.menu : "More", address: one.module,
  }));
}

export const menu = computed(() => {
  const own = SCREENS.filter((one) => (session.value?.site || !one.site) && (mayOperate() || !one.operator));
  return [...own, ...(featureScreens.value ?? [])];
});

// { screen, argument }, or null if there is no such page. Undefined while features are unknown.
export function screenAt(path) {
  const plain = path.length > 1 ? path.replace(/\/$/, "") : path;
  const exact = [...SCREENS, ...OTHERS].find((one) => one.path === plain);
  // A tenant's key has no overview: the jobs are its first screen.
  if (exact?.module === "overview" && !session.value.site) return { screen: SCREENS[1], argument: null };
  if (exact) return { screen: exact, argument: null };
  for (const one of OTHERS) {
    const found = one.pattern?.exec(plain);
    if (found) return { screen: one, argument: decodeURIComponent(found[1]) };
  }
  if (plain.startsWith("/screens/")) {
    if (!featureScreens.value) return undefined;
    const found = featureScreens.value.find((one) => one.path === plain);
    return found ? { screen: found, argument: null } : null;
  }
  return null;
}

export const addressOf = (screen) => screen.address ?? `/page/screens/${screen.module}.js`;
