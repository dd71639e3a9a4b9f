import type { Connection } from "./connection.js";
import { ServerError, TackroomError } from "./errors.js";
import { Mailbox, type Unread } from "./mailbox.js";
import type { Notifications } from "./protocol.js";

/** What the three kinds of things that a client opens differ in. */
interface Kind<N extends keyof Notifications, In, Out> {
  /** The notification that its events come by, and what it calls this one. */
  event: N;
  id: string;
  read(params: Notifications[N]): In;
  unread: Unread<In, Out>;
  /** Tells the server that it is not wanted any more. */
  close: () => Promise<unknown>;
  signal?: AbortSignal | undefined;
}

/** Something open at the server, and the events about it. */
export class Opened<N extends keyof Notifications, In, Out> {
  readonly #connection: Connection;
  readonly #kind: Kind<N, In, Out>;
  readonly #mailbox: Mailbox<In, Out>;
  readonly #onAbort = () => void this.close(this.#kind.signal?.reason);
  #closed: Promise<void> | undefined;

  constructor(connection: Connection, kind: Kind<N, In, Out>) {
    this.#connection = connection;
    this.#kind = kind;
    this.#mailbox = new Mailbox(kind.unread);
    connection.route(kind.event, kind.id, {
      deliver: (params, bytes) => this.#mailbox.put(kind.read(params), bytes),
      end: (error) => this.#mailbox.end(error),
    });
    kind.signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  next(): Promise<IteratorResult<Out, undefined>> {
    return this.#mailbox.next();
  }

  /** No more is told: what came can still be taken. */
  finish(): void {
    this.#mailbox.end();
    void this.#release();
  }

  /** Who takes events now is given the error, or told that there are no more. Ends when the server has let go, too. */
  close(error?: unknown): Promise<void> {
    this.#mailbox.discard(error);
    return this.#release();
  }

  #release(): Promise<void> {
    return (this.#closed ??= this.#letGo());
  }

  async #letGo(): Promise<void> {
    const { event, id, close, signal } = this.#kind;
    signal?.removeEventListener("abort", this.#onAbort);
    this.#connection.unroute(event, id);
    try {
      await close();
    } catch (error) {
      // Where the server is gone, or does not know of it or says no, there is nothing left to let go of.
      if (!(error instanceof TackroomError || error instanceof ServerError)) throw error;
    }
  }
}
