// What a typed line means.
import type { RuntimeResponse } from "tackroom-client";
import type { Asked } from "./asked";

export type Typed =
  | { kind: "say" | "steer"; text: string }
  | { kind: "answer"; response: RuntimeResponse }
  | { kind: "nothing" }
  | { kind: "take" }
  | { kind: "release" }
  | { kind: "again" }
  | { kind: "quit" }
  | { kind: "help" }
  /** A question waits, and this is no answer. */
  | { kind: "unanswered" }
  /** A command that there is not. */
  | { kind: "unknown"; word: string };

/** What `/help` says. */
export const HELP = [
  "type to begin a turn, or to steer the one that runs; //TEXT says /TEXT",
  "y, n, a and Enter: allow what is asked once, deny it, allow it for this session",
  "an answer counts after a second without keys, or after Enter on an empty line",
  "an answer (JSON or text), /decline, /cancel: to a question of the agent",
  "/take: drive, whoever does; /release: let go, and go on looking",
  "/steer TEXT: say something to the turn that runs, also while a question waits",
  "/again: attach again when it is over",
  "Ctrl+C: interrupt the turn that runs",
  "Ctrl+D, /quit: leave; the runtime goes on",
];

/** Reads a line, where the first of what is asked may be answered by it. */
export function read(line: string, asked: Asked | undefined): Typed {
  const text = line.trim();
  const response = asked?.answer(text);
  if (response) return { kind: "answer", response };
  if (text === "") return { kind: "nothing" };
  if (!text.startsWith("/")) return asked ? { kind: "unanswered" } : { kind: "say", text };
  const [, word = "", rest = ""] = /^\/(\S*)\s*(.*)$/s.exec(text)!;
  if (rest === "" && (word === "take" || word === "release" || word === "again" || word === "quit" || word === "help")) {
    return { kind: word };
  }
  if (word === "steer" && rest !== "") return { kind: "steer", text: rest };
  if (word.startsWith("/") && !asked) return { kind: "say", text: text.slice(1) };
  return { kind: "unknown", word };
}
