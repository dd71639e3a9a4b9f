// Messages of a stored session as markdown that a person reads in an editor.
import type { Block, Entry, Message } from "tackroom-client";
import { clean, oneLine } from "../clean";
import { titleOf } from "../sessions/entry";
import { clock, count, cut, json, shortPath } from "../words";
import { tamed } from "./tamed";

/** Lines and characters of what a tool said. */
const LINES_OF_TOOL = 40;
const CHARACTERS_OF_TOOL = 8_000;
/** Characters of a call's arguments, and lines of a thought. */
const CHARACTERS_OF_CALL = 1_000;
const LINES_OF_THOUGHT = 12;
/** After a pause of that long it is said again who speaks, and when. */
const PAUSE_MS = 300_000;

/** What stands above the messages. */
export function heading(entry: Entry, home: string): string {
  const words = [entry.harness, entry.model, entry.workspace && shortPath(entry.workspace, home)];
  return `# ${titleOf(entry)}\n\n${words.filter(Boolean).map((word) => oneLine(word!)).join(" - ")} - \`${oneLine(entry.id)}\`\n`;
}

/** Messages, those that say something; the first goes on with what stands before it. */
export function rendered(messages: Message[], nowMs: number, before?: Message): string[] {
  let last = before;
  return messages.flatMap((message) => {
    const text = one(message, nowMs, last !== undefined && goesOn(last, message));
    if (text !== "" && !isAnswer(message)) last = message;
    return text === "" ? [] : [text];
  });
}

/** Whether a message needs no heading behind another one. */
function goesOn(before: Message, { role, model, timestampMs }: Message): boolean {
  if (role !== "assistant" || before.role !== role || before.model !== model) return false;
  return (timestampMs ?? 0) - (before.timestampMs ?? 0) < PAUSE_MS;
}

/** Whether it is what tools answered, which stands below what called them. */
function isAnswer({ role, content }: Message): boolean {
  return role === "tool" || content.every(({ type }) => type === "toolResult");
}

function one(message: Message, nowMs: number, isHeaded: boolean): string {
  const parts = message.content.map(block).filter(Boolean);
  if (parts.length === 0) return "";
  const body = parts.join("\n\n");
  if (isHeaded || isAnswer(message)) return `${body}\n`;
  const time = message.timestampMs === undefined ? "" : clock(nowMs, message.timestampMs);
  const words = [message.role, time, message.model].filter(Boolean).map((word) => oneLine(word!));
  return `## ${words.join(" - ")}\n\n${body}\n`;
}

function block(block: Block): string {
  switch (block.type) {
    case "text":
      return tamed(clean(block.text).trim());
    case "thinking":
      return quoted(tamed(some(block.text, LINES_OF_THOUGHT)));
    case "toolCall":
      return `**${oneLine(block.name)}** ${code(cut(oneLine(json(block.arguments)), CHARACTERS_OF_CALL))}`.trimEnd();
    case "toolResult":
      return result(block.isError === true, block.content);
    case "image":
      return `*[image${block.mediaType ? ` ${oneLine(block.mediaType)}` : ""}${block.uri ? ` ${oneLine(block.uri)}` : ""}]*`;
    case "other":
      return `*[${oneLine(block.kind)}]*`;
  }
}

function result(isError: boolean, content: Block[]): string {
  const said = content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join("\n");
  const text = some(cut(said, CHARACTERS_OF_TOOL), LINES_OF_TOOL);
  return (isError ? "*failed:*\n\n" : "") + (text === "" ? "*(no output)*" : fenced(text));
}

function some(text: string, atMost: number): string {
  const lines = clean(text).trimEnd().split("\n");
  if (lines.length <= atMost) return lines.join("\n");
  return [...lines.slice(0, atMost), `… ${count(lines.length - atMost, "more line")}`].join("\n");
}

function quoted(text: string): string {
  return text === "" ? "" : text.split("\n").map((line) => `> ${line}`.trimEnd()).join("\n");
}

/** Between more backticks than there are in it. */
function fenced(text: string): string {
  const fence = "`".repeat(Math.max(3, longestRun(text) + 1));
  return `${fence}text\n${text}\n${fence}`;
}

function code(text: string): string {
  if (text === "") return "";
  const run = longestRun(text);
  if (run === 0) return `\`${text}\``;
  const tick = "`".repeat(run + 1);
  return `${tick} ${text} ${tick}`;
}

function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
}
