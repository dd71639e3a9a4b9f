// What is asked, as a notification of an editor: little, and to be allowed there only where it is whole.
import type { Decision } from "tackroom-client";
import { unlinked } from "../clean";
import { cut } from "../words";
import type { Asked } from "./asked";

/** The button of each decision. */
const BUTTONS = { Deny: "deny", Allow: "allow", "Allow for Session": "allow_for_session" } as const satisfies Record<string, Decision>;

type Button = keyof typeof BUTTONS;
export type Choice = Button | "Show";

/** The decision that a button sends. */
export const decisionOf = (button: Button): Decision => BUTTONS[button];

/** Characters of who asks, of the question, and of what would run: more would not fit into a notification. */
const NAME = 60;
const QUESTION = 100;
const DETAILS = 200;

export function noticeOf(name: string, asked: Asked): { text: string; choices: Choice[] } {
  const question = unlinked(asked.question);
  const details = unlinked(asked.details);
  const isWhole = question.length <= QUESTION && details.length <= DETAILS;
  const text = `${cut(unlinked(name), NAME)}: ${cut(question, QUESTION)} ${cut(details, DETAILS)}`.trimEnd();
  if (asked.kind !== "approval") return { text, choices: ["Show"] };
  // A bracket that the text leaves open is taken for the beginning of the first link, which must do no harm.
  const offered = (Object.keys(BUTTONS) as Button[]).filter((button) => asked.decisions.includes(decisionOf(button)));
  return { text, choices: ["Show", ...offered.filter((button) => isWhole || button === "Deny")] };
}
