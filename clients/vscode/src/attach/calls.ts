// Calls of tools, as lines. An agent may reveal what it calls only after the call began: a call whose arguments are not known is
// held, and shown when they come, when it is complete, or before something else is said of it.
import { call, type Line } from "./line";

interface Call {
  id: string;
  line: Line;
  isShown: boolean;
}

const EMPTY = new Set(["", "{}", "null"]);

export class Calls {
  #calls: Call[] = [];

  /** The newest call that is not shown yet. */
  get held(): Line | undefined {
    return this.#calls.filter(({ isShown }) => !isShown).at(-1)?.line;
  }

  /** Shows the calls that are held. */
  release(): Line[] {
    const held = this.#calls.filter(({ isShown }) => !isShown);
    for (const one of held) one.isShown = true;
    return held.map(({ line }) => line);
  }

  /** Takes in that a call begins, is known better, or is complete. A call that turns out to be another is shown again. */
  take(kind: string, payload: Record<string, unknown>): Line[] {
    const text = (name: string) => (typeof payload[name] === "string" ? payload[name] : "");
    const [id, given, isEnd] = [text("id"), text("arguments"), kind === "tool_call_completed"];
    const before = this.#calls.find((one) => one.id === id);
    this.#calls = this.#calls.filter((one) => one !== before);
    // The end of a call need not repeat what it was.
    const isSaid = text("name") !== "" && ((given !== "" && given !== "null") || kind === "tool_call_started");
    const line = isSaid ? call(text("name"), given) : before?.line;
    if (!line) return [];
    const isHeld =
      kind === "tool_call_started" ? text("status") === "pending"
      : kind === "tool_call_updated" ? EMPTY.has(given) && text("status") !== "in_progress"
      : false;
    const isNews = !isHeld && !(before?.isShown && before.line.text === line.text);
    if (!isEnd) this.#calls.push({ id, line, isShown: isNews || before?.isShown === true });
    return isNews ? [line] : [];
  }
}
