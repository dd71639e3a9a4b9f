// What a runtime asks a person, and what a person answers.
import type { Decision, RuntimeResponse } from "tackroom-client";
import { clean, oneLine } from "../clean";
import { cut, json } from "../words";
import { formQuestions } from "./form";
import type { Line } from "./line";

/** Characters of the details; who approves is told where there are more. */
const DETAILS = 4_000;
/** Lines of a form. */
const LINES_OF_FORM = 60;
/** Characters of what is asked, in one line. */
const WHAT = 200;

/** The key of each decision, and what it does. */
const KEYS: [key: string, decision: Decision, effect: string][] = [
  ["y", "allow", "y runs it"],
  ["n", "deny", "n does not"],
  ["a", "allow_for_session", "a allows it for this session"],
];

type Kind = "approval" | "elicitation" | "other";

/** A request that is not settled. */
export class Asked {
  private constructor(
    /** The request's own number. */
    readonly id: number,
    readonly kind: Kind,
    /** The tool that wants to run, or the question. */
    readonly what: string,
    /** All that is known of it: who approves must see what. */
    readonly details: string,
    /** What is to be filled in: the lines of each question. */
    readonly questions: string[][] = [],
    /** The decisions that the runtime accepts for an approval. */
    readonly decisions: Decision[] = [],
  ) {}

  /** The request of an event; undefined where it has no number to answer to. */
  static of(payload: unknown): Asked | undefined {
    const { request } = (payload ?? {}) as { request?: { id?: unknown; kind?: unknown; payload?: Record<string, unknown> } };
    if (typeof request?.id !== "number") return undefined;
    const asked = request.payload ?? {};
    if (request.kind === "approval") {
      const details = asked["raw_args"] ?? asked["arguments"] ?? asked["subject"];
      const tool = typeof asked["tool"] === "string" ? asked["tool"] : "a tool";
      const child = asked["child_agent_id"];
      const who = typeof child === "string" ? ` of subagent ${child}` : "";
      return new Asked(request.id, "approval", oneLine(tool + who), json(details), [], decisionsOf(asked["decisions"]));
    }
    const isForm = request.kind === "elicitation";
    const questions = isForm ? formQuestions(asked["requested_schema"] ?? asked["requestedSchema"], asked["field_order"]) : [];
    const what = typeof asked["message"] === "string" ? asked["message"] : String(request.kind ?? "a question");
    return new Asked(request.id, isForm ? "elicitation" : "other", oneLine(what), isForm ? "" : json(asked), questions);
  }

  /** The question, in one line. */
  get question(): string {
    return this.kind === "approval" ? `may it run ${this.what}?` : this.what;
  }

  /** The request for a person. */
  lines(): Line[] {
    const details = this.details === "" ? [] : clean(cut(this.details, DETAILS)).split("\n");
    const fields = this.questions.flat().slice(0, LINES_OF_FORM).map((text) => cut(clean(text).replaceAll("\n", " "), WHAT));
    const lines = [`? request ${this.id}: ${this.question}`, ...[...details, ...fields].map((text) => `  ${text}`)];
    return lines.map((text) => ({ text, colour: "alert" }));
  }

  /** What can be typed now, in one line; that first, for a narrow terminal cuts the end. */
  choices(): string {
    const what = cut(this.what, WHAT);
    if (this.kind === "approval") {
      const offered = KEYS.filter(([, decision]) => this.decisions.includes(decision));
      return `${offered.map(([, , effect]) => effect).join(", ")}: ${what}`;
    }
    const answer = this.questions.length > 1 ? "the answers with ; between" : "an answer";
    return `type ${answer}, /decline or /cancel: ${what}`;
  }

  /** The answer that a line gives; undefined where it gives none. */
  answer(line: string): RuntimeResponse | undefined {
    const text = line.trim();
    if (this.kind === "approval") {
      const decision = KEYS.find(([key]) => key === text)?.[1];
      return decision && this.decisions.includes(decision) ? this.decided(decision) : undefined;
    }
    if (text === "/decline") return this.elicited("decline");
    if (text === "/cancel") return this.elicited("cancel");
    if (text === "" || text.startsWith("/")) return undefined;
    return this.elicited("accept", parsed(text));
  }

  decided(decision: Decision): RuntimeResponse {
    return { kind: "approval", requestId: this.id, decision };
  }

  elicited(action: "accept" | "decline" | "cancel", content?: unknown): RuntimeResponse {
    const kind = this.kind === "elicitation" ? "elicitation" : "other";
    return { kind, requestId: this.id, action, ...(content !== undefined && { content }) };
  }
}

/** The decisions that a request lists; all of them if it lists none, as a runtime other than a host does. */
function decisionsOf(listed: unknown): Decision[] {
  const known = KEYS.map(([, decision]) => decision);
  return Array.isArray(listed) ? known.filter((decision) => listed.includes(decision)) : known;
}

/** JSON where it is that, else the text itself. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
