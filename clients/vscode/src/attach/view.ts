// What a runtime tells, as lines for a person.
import { Cleaner } from "../clean";
import { cut, json } from "../words";
import { Asked } from "./asked";
import { Calls } from "./calls";
import { alert, call, CHARACTERS, type Colour, type Line, LINES_OF_TOOL, note, whole } from "./line";

/** Lines of a message of the history. */
const LINES_OF_HISTORY = 12;
/** Characters after which a line ends that does not end. */
const LONGEST = 16_384;

type Part = "text" | "thinking" | "job";

const PARTS: Record<Part, { lead: string; colour: Colour }> = {
  text: { lead: "", colour: "none" },
  thinking: { lead: "~ ", colour: "dim" },
  job: { lead: "  & ", colour: "dim" },
};

type Payload = Record<string, unknown>;

/** What is not part of the conversation, and is shown all the same. Such events may come in the middle of a sentence. */
const NOTES = new Set(["model_changed", "cache_warning", "provider_retry"]);
/** The conversation. What is neither is for programs. */
const CONVERSATION = new Set([
  "user_message",
  "turn_started",
  "turn_completed",
  "turn_succeeded",
  "turn_interrupted",
  "turn_aborted",
  "turn_failed",
  "tool_call_started",
  "tool_call_updated",
  "tool_call_completed",
  "request",
  "request_resolved",
  "scheduled_prompt_started",
  "scheduled_prompt_deferred",
  "scheduled_prompt_completed",
  "scheduler_error",
  "runtime_disconnected",
]);

export class View {
  readonly #calls = new Calls();
  /** Notes that wait for the end of the text that is open. */
  #later: Line[] = [];
  /** A text of which only the beginning has come. */
  #open: { part: Part; cleaner: Cleaner; line: string } | undefined;
  /** Whether a turn has said nothing yet since it began before our eyes. */
  #isSilent = false;

  /** The line that may still change: the text that is being said, else the call that begins. */
  get partial(): Line | undefined {
    return this.#open?.line ? lineOf(this.#open.part, this.#open.line) : this.#calls.held;
  }

  /** Ends what is open. */
  finish(): Line[] {
    return [...this.#endText(), ...this.#calls.release()];
  }

  #endText(): Line[] {
    const said = this.#open?.line ? [lineOf(this.#open.part, this.#open.line)] : [];
    const lines = [...said, ...this.#later];
    [this.#open, this.#later] = [undefined, []];
    return lines;
  }

  /** The lines that an event adds. */
  event(kind: string, payload: unknown): Line[] {
    const said = (typeof payload === "object" && payload !== null ? payload : {}) as Payload;
    const text = (name: string) => (typeof said[name] === "string" ? said[name] : "");
    switch (kind) {
      case "text_delta":
        this.#isSilent = false;
        return this.#stream("text", text("text"));
      case "reasoning":
        return this.#stream("thinking", text("text"));
      case "background_output":
        return this.#stream("job", text("chunk"));
    }
    if (NOTES.has(kind)) {
      const line = note(remark(kind, said));
      if (!this.#open) return [line];
      this.#later.push(line);
      return [];
    }
    if (!CONVERSATION.has(kind)) return [];
    // Before a question, and where a turn ends, it is seen what was called.
    const called = kind.startsWith("tool_call_") ? () => this.#calls.take(kind, said) : () => this.#calls.release();
    return [...this.#endText(), ...called(), ...this.#whole(kind, said, text)];
  }

  #whole(kind: string, said: Payload, text: (name: string) => string): Line[] {
    switch (kind) {
      case "turn_started":
        this.#isSilent = true;
        return [];
      case "turn_completed":
      case "tool_call_started":
      case "tool_call_updated":
        return [];
      case "turn_succeeded": {
        const isSilent = this.#isSilent;
        this.#isSilent = false;
        return isSilent ? whole("", "none", text("reply")) : [];
      }
      case "user_message":
        return whole("> ", "bold", text("text"));
      case "tool_call_completed":
        return whole("  | ", said["is_error"] === true ? "alert" : "dim", text("output"), LINES_OF_TOOL);
      case "request":
        return Asked.of(said)?.lines() ?? [];
      case "turn_failed":
        return [alert(`the turn failed: ${text("message")}`)];
      default:
        return [note(remark(kind, said))];
    }
  }

  #stream(part: Part, piece: string): Line[] {
    const lines = this.#open?.part === part ? [] : this.#endText();
    this.#open ??= { part, cleaner: new Cleaner(), line: "" };
    const [first, ...rest] = this.#open.cleaner.clean(piece).split("\n");
    let line = this.#open.line + first!;
    for (const next of rest) {
      lines.push(lineOf(part, line));
      line = next;
    }
    while (line.length >= LONGEST) {
      lines.push(lineOf(part, line.slice(0, LONGEST)));
      line = line.slice(LONGEST);
    }
    this.#open.line = line;
    return lines;
  }
}

function lineOf(part: Part, text: string): Line {
  const { lead, colour } = PARTS[part];
  return { text: lead + text, colour };
}

/** The lines of a message of the history, shortened. */
export function historyLines(message: unknown): Line[] {
  const { role, content, tool_calls: calls } = (message ?? {}) as Payload;
  const text = typeof content === "string" ? content : Array.isArray(content) ? content.map(partOf).join("\n") : "";
  const lines =
    role === "user" ? whole("> ", "bold", text, LINES_OF_HISTORY)
    : role === "tool" ? whole("  | ", "dim", text, LINES_OF_TOOL / 2)
    : role === "system" ? whole("-- ", "dim", text, 2)
    : whole("", "none", text, LINES_OF_HISTORY);
  for (const made of Array.isArray(calls) ? calls : []) {
    const { name, arguments: given } = ((made as Payload | null)?.["function"] ?? {}) as Payload;
    lines.push(call(json(name), json(given)));
  }
  return lines;
}

/** A part of a message that has several. */
function partOf(part: Payload | null): string {
  if (typeof part?.["text"] === "string") return part["text"];
  return part?.["type"] === "image_url" ? "[image]" : `[${json(part?.["type"]) || "something"}]`;
}

/** What happened beside what is said and done, in a few words. */
function remark(kind: string, said: Payload): string {
  const word = (name: string) => cut(json(said[name]) || "?", CHARACTERS);
  switch (kind) {
    case "turn_interrupted":
      return "the turn was interrupted";
    case "turn_aborted":
      return `the turn was aborted by ${word("source")}`;
    case "cache_warning":
      return word("message");
    case "model_changed":
      return `the model changed from ${word("from")} to ${word("to")}: ${word("reason")}`;
    case "provider_retry":
      return `the model is asked again in ${word("delay_ms")} ms (attempt ${word("attempt")}): ${word("reason")}`;
    case "request_resolved":
      return `request ${word("request_id")}: ${answered(said["response"])}`;
    case "native_event":
      return `the agent says ${word("kind")}`;
    case "runtime_disconnected":
      return `the agent is gone: ${word("message")}`;
  }
  const text = ["message", "text", "reason", "prompt"].map((name) => said[name]).find((value) => typeof value === "string");
  return kind.replaceAll("_", " ") + (text === undefined ? "" : `: ${cut(text as string, CHARACTERS)}`);
}

const ANSWERED = new Map<unknown, string>([
  ["allow", "allowed"],
  ["allow_for_session", "allowed for this session"],
  ["deny", "denied"],
  ["accept", "answered"],
  ["decline", "declined"],
  ["cancel", "dropped"],
]);

function answered(response: unknown): string {
  const { decision, action } = (response ?? {}) as Payload;
  return ANSWERED.get(decision ?? action) ?? "settled";
}
