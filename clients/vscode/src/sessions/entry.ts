// An entry of the inventory as a person reads it: the same words and order as `tackroom list`.
import type { Door, Entry, State } from "tackroom-client";
import { oneLine } from "../clean";
import { folderOf } from "../words";

/** What needs a person comes first. */
const ORDER: State[] = ["waiting", "busy", "idle", "live", "shutting_down", "persisted"];
/** Characters of a title. */
const LONGEST = 300;

/** The lower, the more it needs a person. A state that is not known lives. */
export function rank(state: State): number {
  const at = ORDER.indexOf(state);
  return at < 0 ? ORDER.indexOf("live") : at;
}

export function isLive(entry: Entry): boolean {
  return entry.state !== "persisted";
}

export function timeOf(entry: Entry): number | undefined {
  return entry.updatedAtMs ?? entry.startedAtMs;
}

/** Below zero where `a` stands above `b`. */
export function compare(a: Entry, b: Entry): number {
  const byTime = (timeOf(b) ?? 0) - (timeOf(a) ?? 0);
  return rank(a.state) - rank(b.state) || byTime || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

/** What it is called; its own id where nothing else is known. */
export function titleOf(entry: Entry): string {
  const title = oneLine((entry.title ?? entry.peer?.name ?? "").slice(0, 4 * LONGEST));
  return (title || oneLine(entry.sessionId)).slice(0, LONGEST);
}

/** What its tab is called: its title, and the directory that tells it from others of that title. */
export function tabOf(entry: Entry): string {
  return [titleOf(entry), entry.workspace && folderOf(entry.workspace)].filter(Boolean).join(" · ");
}

export function hasDoor(entry: Entry, door: Door): boolean {
  return entry.doors?.includes(door) ?? false;
}

/** What is special about it. */
export function markOf(entry: Entry): string | undefined {
  const waitingFor = entry.activity?.waitingFor;
  if (waitingFor !== undefined) return oneLine(waitingFor);
  return runtimeOf(entry) ?? (entry.archived ? "archived" : entry.parent?.relation);
}

/** Who drives a runtime and how many others look. */
function runtimeOf(entry: Entry): string | undefined {
  if (!hasDoor(entry, "runtime")) return undefined;
  const driver = entry.owner?.controller?.clientId;
  const looking = (entry.observers ?? []).filter(({ clientId }) => clientId !== driver).length;
  const who = [
    ...(driver === undefined ? [] : [`${oneLine(driver)} drives`]),
    ...(looking === 0 ? [] : [looking === 1 ? "1 looks" : `${looking} look`]),
  ];
  return who.length > 0 ? `runtime: ${who.join(", ")}` : "runtime";
}

/** Whether it has a text somewhere that a person knows it by. */
export function matches(entry: Entry, lowerCaseText: string): boolean {
  const { id, sessionId, persistedId, state, workspace, model, title, peer } = entry;
  const words = [id, sessionId, persistedId, state, workspace, model, title, peer?.name];
  return words.some((word) => word?.toLowerCase().includes(lowerCaseText));
}

/** The words that a menu asks for in `viewItem`. */
export function contextOf(entry: Entry): string {
  return [
    "session",
    ...(hasDoor(entry, "runtime") ? ["attach"] : []),
    ...(entry.peer ? ["message"] : []),
    ...(entry.resume ? ["resume"] : []),
    ...(isLive(entry) ? ["live"] : []),
  ].join(" ");
}
