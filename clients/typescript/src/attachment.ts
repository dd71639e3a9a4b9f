import type { Connection, Method, Params, RequestOptions, Result } from "./connection.js";
import type { RuntimeEvent } from "./events.js";
import { Opened } from "./opened.js";
import type { AttachResult, Lease, RuntimeResponse } from "./protocol.js";
import { UnreadEvents } from "./unread.js";

/** A prompt's images, as `data:`, `https:` or `http:` URIs. */
export interface PromptOptions extends RequestOptions {
  images?: string[] | undefined;
}

/**
 * A live runtime that this client has joined. Its events are those of the replay, and then each that follows, in order;
 * a loop that is left can be taken up again by another one. `lagged` and `disconnected` are the last ones: attach again
 * with `after`. So it also ends where more than 8 MiB of events wait to be taken.
 */
export class Attachment implements AsyncIterable<RuntimeEvent>, AsyncDisposable {
  readonly id: string;
  /** The name by which the runtime knows this client. */
  readonly clientId: string;
  /** What the runtime says of itself, as it said it. */
  readonly descriptor: Record<string, unknown>;
  /** The newest messages before the events, oldest first, as the runtime has them. */
  readonly history: unknown[];
  /** The sequence number that `history` reaches to. */
  readonly historyCursor: number;
  /** What happened before it was joined; the same events that are told first. */
  readonly replay: RuntimeEvent[];
  readonly #connection: Connection;
  readonly #opened: Opened<"runtime/event", RuntimeEvent, RuntimeEvent>;
  #lease: Lease;

  /** @internal */
  constructor(connection: Connection, result: AttachResult, signal?: AbortSignal) {
    const { attachment: id } = result;
    this.id = id;
    this.clientId = result.clientId;
    this.descriptor = result.descriptor;
    this.history = result.history;
    this.historyCursor = result.historyCursor;
    this.replay = result.replay;
    this.#lease = result.lease;
    this.#connection = connection;
    this.#opened = new Opened(connection, {
      event: "runtime/event",
      id,
      read: ({ event }) => event,
      unread: new UnreadEvents(result.historyCursor, result.replay, () => this.#opened.finish()),
      close: () => connection.request("runtime/detach", { attachment: id }),
      signal,
    });
  }

  /** Who drives and who looks, as this client was told last. */
  get lease(): Lease {
    return this.#lease;
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<RuntimeEvent> {
    const events: AsyncIterableIterator<RuntimeEvent> = {
      next: () => this.#next(),
      [Symbol.asyncIterator]: () => events,
    };
    return events;
  }

  /** Begins a turn and waits for its reply. Cancelling stops the waiting, never the turn: that is `interrupt`. */
  async submit(prompt: string, { images, ...options }: PromptOptions = {}): Promise<string> {
    return (await this.#ask("runtime/submit", { attachment: this.id, prompt, images }, options)).reply;
  }

  /** Begins a turn and does not wait for it. */
  async sendInput(prompt: string, { images, ...options }: PromptOptions = {}): Promise<void> {
    await this.#ask("runtime/sendInput", { attachment: this.id, prompt, images }, options);
  }

  /** Says something to the turn that runs. */
  async steer(prompt: string, options?: RequestOptions): Promise<void> {
    await this.#ask("runtime/steer", { attachment: this.id, prompt }, options);
  }

  /** Ends the turn that runs; false where none does. */
  async interrupt(options?: RequestOptions): Promise<boolean> {
    return (await this.#ask("runtime/interrupt", { attachment: this.id }, options)).interrupted;
  }

  /** Answers what the runtime asks by an event `request`. */
  async respond(response: RuntimeResponse, options?: RequestOptions): Promise<void> {
    await this.#ask("runtime/respond", { attachment: this.id, response }, options);
  }

  /** Does one of the operations that the descriptor names. */
  async invoke(operation: Record<string, unknown>, options?: RequestOptions): Promise<unknown> {
    return (await this.#ask("runtime/invoke", { attachment: this.id, operation }, options)).result;
  }

  /** Drives the runtime, where nobody else does. */
  acquireControl(options?: RequestOptions): Promise<Lease> {
    return this.#renew("runtime/acquireControl", options);
  }

  /** Drives the runtime, whoever does. */
  takeControl(options?: RequestOptions): Promise<Lease> {
    return this.#renew("runtime/takeControl", options);
  }

  heartbeat(options?: RequestOptions): Promise<Lease> {
    return this.#renew("runtime/heartbeat", options);
  }

  /** Asks who drives and who looks now. */
  readLease(options?: RequestOptions): Promise<Lease> {
    return this.#renew("runtime/lease", options);
  }

  /** Ends the runtime. */
  async closeRuntime(options?: RequestOptions): Promise<void> {
    await this.#ask("runtime/close", { attachment: this.id }, options);
  }

  /** Leaves the runtime, which goes on. There are no more events then. */
  detach(): Promise<void> {
    return this.#opened.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.detach();
  }

  async #next(): Promise<IteratorResult<RuntimeEvent, undefined>> {
    const next = await this.#opened.next();
    if (next.value?.kind === "lagged" || next.value?.kind === "disconnected") this.#opened.finish();
    return next;
  }

  #ask<M extends Method>(method: M, params: Params<M>, options?: RequestOptions): Promise<Result<M>> {
    return this.#connection.request(method, params, options);
  }

  async #renew(
    method: "runtime/acquireControl" | "runtime/takeControl" | "runtime/heartbeat" | "runtime/lease",
    options?: RequestOptions,
  ): Promise<Lease> {
    this.#lease = (await this.#ask(method, { attachment: this.id }, options)).lease;
    return this.#lease;
  }
}
