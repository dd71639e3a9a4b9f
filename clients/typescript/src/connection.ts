import { type ErrorAnswer, ServerError, TackroomError } from "./errors.js";
import type { AuthorityRequest, Methods, Notifications, ProgressValue } from "./protocol.js";

export type Method = keyof Methods;
export type Params<M extends Method> = Methods[M]["params"];
export type Result<M extends Method> = Methods[M]["result"];

/** A notification of the server. */
export type Notification = { [N in keyof Notifications]: { method: N; params: Notifications[N] } }[keyof Notifications];

export interface RequestOptions {
  /** Cancels the request. It is then rejected with the signal's reason at once. */
  signal?: AbortSignal | undefined;
  /** Narrows what this one request may do and see. */
  authority?: AuthorityRequest | undefined;
  /** Told how far the request is, where it takes long. */
  onProgress?: ((progress: ProgressValue) => void) | undefined;
}

/** Where the events of what was opened go. */
export interface Route {
  deliver(params: never, bytes: number): void;
  /** The server is gone; without an error it was closed. */
  end(error: ServerError | undefined): void;
}

interface Pending {
  succeed(result: unknown): void;
  fail(error: Error): void;
  progress?: ((progress: ProgressValue) => void) | undefined;
}

interface Incoming {
  id?: unknown;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
  error?: ErrorAnswer;
}

/** The member by which a notification names what it belongs to. */
const SUBJECTS: Record<string, string | undefined> = {
  "registry/event": "subscription",
  "session/event": "subscription",
  "runtime/event": "attachment",
};

/** JSON-RPC 2.0, one message a line. It reads and writes nothing itself. */
export class Connection {
  readonly #write: (line: string) => void;
  readonly #other: (notification: Notification) => void;
  readonly #pending = new Map<number, Pending>();
  /** What the server has no room for yet, in order. */
  readonly #waiting = new Map<number, Pending & { line: string }>();
  readonly #routes = new Map<string, Route>();
  #lastId = 0;
  #gone: ServerError | undefined;
  /** The longest message that the server takes, in bytes. */
  frameBytes = Infinity;
  /** The most requests that the server has at work; more wait here for their turn. */
  requestsInFlight = Infinity;

  /** `other` is given the notifications that belong to nothing that is open. */
  constructor(write: (line: string) => void, other: (notification: Notification) => void) {
    this.#write = write;
    this.#other = other;
  }

  request<M extends Method>(method: M, params: Params<M>, options?: RequestOptions): Promise<Result<M>> {
    return this.open(method, params, options, (result) => result);
  }

  /**
   * Asks, and makes something of the result in the same step in which it is read: no event that follows is lost.
   * What is made although the request was cancelled is given to `release`.
   */
  open<M extends Method, T>(
    method: M,
    params: Params<M>,
    options: RequestOptions = {},
    make: (result: Result<M>) => T,
    release?: (made: T) => void,
  ): Promise<T> {
    const { signal, onProgress } = options;
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.#gone) return Promise.reject(this.#gone);
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      const line = this.#line({ id, method, params: withMeta(params, id, options) });
      const onAbort = () => {
        reject(signal?.reason);
        if (this.#waiting.delete(id)) return;
        this.notify("$/cancelRequest", { id });
        this.#pending.set(id, { succeed: (result) => release?.(make(result as Result<M>)), fail() {} });
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      const settle = () => signal?.removeEventListener("abort", onAbort);
      const pending: Pending = {
        succeed: (result) => (settle(), resolve(make(result as Result<M>))),
        fail: (error) => (settle(), reject(error)),
        progress: onProgress,
      };
      // Who leaves does not wait for what was asked before.
      if (method === "shutdown") this.#begin(id, line, pending);
      else this.#waiting.set(id, { line, ...pending });
      this.#admit();
    });
  }

  notify(method: string, params: object): void {
    if (!this.#gone) this.#write(this.#line({ method, params }));
  }

  /** From now on the notifications of this name about this subject go there. */
  route(method: keyof Notifications, subject: string, to: Route): void {
    this.#routes.set(`${method} ${subject}`, to);
  }

  unroute(method: keyof Notifications, subject: string): void {
    this.#routes.delete(`${method} ${subject}`);
  }

  /** Takes one message of the server. Throws where it is none. */
  receive(line: string, bytes: number): void {
    if (this.#gone) return;
    const message = JSON.parse(line) as Incoming;
    if (message.method !== undefined) return this.#notified(message.method, message.params ?? {}, bytes);
    const pending = this.#pending.get(message.id as number);
    // An error without id is about a message that the server could not read: nobody would ever get its answer.
    if (!pending) throw new Error(message.error?.message ?? "an answer that nobody asked for");
    if (message.error) pending.fail(new TackroomError(message.error));
    else pending.succeed(message.result);
    this.#pending.delete(message.id as number);
    this.#admit();
  }

  /** The server is gone. What is open ends with the error, or just so where it was `closed`. */
  end(gone: ServerError, closed: boolean): void {
    if (this.#gone) return;
    this.#gone = gone;
    for (const { fail } of [...this.#pending.values(), ...this.#waiting.values()]) fail(gone);
    for (const route of this.#routes.values()) route.end(closed ? undefined : gone);
    this.#pending.clear();
    this.#waiting.clear();
    this.#routes.clear();
  }

  /** What is the user's own is called later: if it throws, that is not the connection's failure. */
  #notified(method: string, params: Record<string, unknown>, bytes: number): void {
    if (method === "$/progress") {
      const progress = this.#pending.get(params["token"] as number)?.progress;
      return queueMicrotask(() => progress?.(params["value"] as ProgressValue));
    }
    const subject = SUBJECTS[method];
    const route = subject && this.#routes.get(`${method} ${params[subject]}`);
    if (route) route.deliver(params as never, bytes);
    else queueMicrotask(() => this.#other({ method, params } as unknown as Notification));
  }

  /** Asks what waits for its turn, as far as there is room. */
  #admit(): void {
    for (const [id, { line, ...pending }] of this.#waiting) {
      if (this.#pending.size >= this.requestsInFlight) return;
      this.#waiting.delete(id);
      this.#begin(id, line, pending);
    }
  }

  #begin(id: number, line: string, pending: Pending): void {
    this.#pending.set(id, pending);
    this.#write(line);
  }

  #line(message: object): string {
    const line = JSON.stringify({ jsonrpc: "2.0", ...message });
    const bytes = Buffer.byteLength(line);
    if (bytes > this.frameBytes) {
      throw new RangeError(`the message has ${bytes} bytes; the server takes ${this.frameBytes} at most`);
    }
    return `${line}\n`;
  }
}

function withMeta<P extends object>(params: P, id: number, { authority, onProgress }: RequestOptions): P {
  if (!authority && !onProgress) return params;
  return { ...params, _meta: { authority, progressToken: onProgress && id } };
}
