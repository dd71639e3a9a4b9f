// Times, paths and numbers as a person reads them.
import { oneLine } from "./clean";

const UNITS = [
  [31_557_600, "y"],
  [604_800, "w"],
  [86_400, "d"],
  [3_600, "h"],
  [60, "m"],
  [1, "s"],
] as const;

/** How long ago a time was, in its largest unit. */
export function age(nowMs: number, thenMs: number | undefined): string {
  if (thenMs === undefined) return "";
  const seconds = Math.max(0, Math.floor((nowMs - thenMs) / 1_000));
  const [unit, letter] = UNITS.find(([unit]) => seconds >= unit) ?? [1, "s"];
  return `${Math.floor(seconds / unit)}${letter}`;
}

/** A time of day where the user is, with the date unless that is today. */
export function clock(nowMs: number, thenMs: number): string {
  const then = new Date(thenMs);
  if (Number.isNaN(then.getTime())) return "";
  const two = (number: number) => String(number).padStart(2, "0");
  const time = [then.getHours(), then.getMinutes(), then.getSeconds()].map(two).join(":");
  if (then.toDateString() === new Date(nowMs).toDateString()) return time;
  return `${then.getFullYear()}-${two(then.getMonth() + 1)}-${two(then.getDate())} ${time}`;
}

/** A path with the home directory as `~`. */
export function shortPath(path: string, home: string): string {
  const below = home.replace(/[\\/]+$/, "");
  if (below === "" || !path.startsWith(below)) return oneLine(path);
  const rest = path.slice(below.length);
  return rest === "" || /^[\\/]/.test(rest) ? oneLine(`~${rest}`) : oneLine(path);
}

/** The last part of a path. */
export function folderOf(path: string): string {
  return oneLine(path.split(/[\\/]/).filter(Boolean).at(-1) ?? path);
}

/** A number of things: `1 file`, `2 files`. */
export function count(number: number, thing: string): string {
  return `${number} ${thing}${number === 1 ? "" : "s"}`;
}

/** A text, cut where it is longer. */
export function cut(text: string, characters: number): string {
  if (text.length <= characters) return text;
  // Not within a character.
  const end = /[\ud800-\udbff]/.test(text[characters - 1]!) ? characters - 1 : characters;
  return `${text.slice(0, end)}… ${count(text.length - end, "more character")}`;
}

/** What a value is as text: a text as it is, else JSON. */
export function json(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
