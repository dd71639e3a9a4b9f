import type { Reason } from "./protocol.js";

/** The error of an answer as it crosses. */
export interface ErrorAnswer {
  code: number;
  message: string;
  data?: { reason?: string; [member: string]: unknown };
}

/** The server answered a request with an error. */
export class TackroomError extends Error {
  override readonly name = "TackroomError";
  /** The JSON-RPC code. */
  readonly code: number;
  /** The word to switch on. A newer server may have more of them. */
  readonly reason: Reason | (string & {});
  /** What else is told, as `permission` of `unauthorized` or `holder` of `controller_required`. */
  readonly data: Readonly<Record<string, unknown>>;

  constructor({ code, message, data = {} }: ErrorAnswer) {
    super(message);
    this.code = code;
    this.reason = data.reason ?? "internal";
    this.data = data;
  }
}

/** There is no server: it could not be started, it ended, or it was closed. */
export class ServerError extends Error {
  override readonly name = "ServerError";
  /** How it ended, where it did by itself. */
  readonly exitCode: number | undefined;
  /** The signal that ended it. */
  readonly signal: NodeJS.Signals | undefined;
  /** The last that it wrote to standard error. */
  readonly stderr: string;

  constructor(message: string, end: { exitCode?: number; signal?: NodeJS.Signals; stderr?: string; cause?: unknown } = {}) {
    super(message, "cause" in end ? { cause: end.cause } : undefined);
    this.exitCode = end.exitCode;
    this.signal = end.signal;
    this.stderr = end.stderr ?? "";
  }
}
