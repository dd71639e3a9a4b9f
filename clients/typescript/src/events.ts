/** What a runtime asks. */
export interface RuntimeRequest {
  /** The `requestId` of the answer. */
  id: number;
  /** The `kind` of the answer: `approval` or `elicitation`; for all else that is `other`. */
  kind: string;
  /** What is asked, as the runtime spells it. */
  payload: Record<string, unknown>;
}

/**
 * The payloads of the kinds of events that runtimes are known to tell. Nothing checks what a runtime tells; more
 * members are there, and `docs/runtime.md` has them.
 */
export interface RuntimePayloads {
  user_message: { text: string };
  turn_started: object;
  /** The turn is over, with this answer. */
  turn_succeeded: { reply?: string };
  /** The turn is over. */
  turn_interrupted: object;
  /** The turn is over. */
  turn_failed: { message: string };
  /** One call of the model is over; the turn is not. */
  turn_completed: object;
  text_delta: { text: string };
  reasoning: { text: string };
  tool_call_started: { id: string; name: string; arguments: unknown };
  tool_call_completed: { id: string; name: string | null; arguments?: unknown; output: unknown; is_error: boolean };
  /** A person is asked, and `runtime/respond` answers. */
  request: { request: RuntimeRequest };
  request_resolved: { request_id: number; response: Record<string, unknown> };
  usage: Record<string, unknown>;
  model_changed: Record<string, unknown>;
  /** What has no word here, in the agent's own. */
  native_event: { kind: string; raw?: unknown };
  runtime_disconnected: { message: string };
}

/** What a runtime tells of itself, by the runtime's own number; gaps are normal. */
export type ToldEvent = {
  [K in keyof RuntimePayloads]: { sequence: number; kind: K; payload: RuntimePayloads[K] };
}[keyof RuntimePayloads];

/**
 * An event of a runtime, or one of two about its stream, which nothing follows. A runtime may tell kinds that are not
 * listed here: leave them a `default`.
 */
export type RuntimeEvent =
  | ToldEvent
  /** Too much waited to be taken: attach again with this as `after`. */
  | { kind: "lagged"; cursor: number }
  /** The runtime is gone. */
  | { kind: "disconnected"; reason: string };
