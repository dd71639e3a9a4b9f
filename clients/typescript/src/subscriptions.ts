import type { Connection } from "./connection.js";
import { Opened } from "./opened.js";
import type { Entry, FollowResult, WatchResult } from "./protocol.js";
import { type FollowEvent, UnreadChanges, UnreadMessages, type WatchEvent } from "./unread.js";

/** Events that end with the loop that takes them, or when they are disposed of. */
abstract class Events<T> implements AsyncIterableIterator<T>, AsyncDisposable {
  protected abstract readonly opened: { next(): Promise<IteratorResult<T, undefined>>; close(): Promise<void> };

  next(): Promise<IteratorResult<T, undefined>> {
    return this.opened.next();
  }

  /** Ends it, here and at the server. */
  async return(): Promise<IteratorResult<T, undefined>> {
    await this.opened.close();
    return { value: undefined, done: true };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.opened.close();
  }
}

/**
 * The changes of what a query means: first every entry as `added`, then `synced`. After `resync` all is told again up
 * to the next `synced`, and what is not told again is gone. `Inventory` makes the present state of it.
 *
 * Who is slow is told only the latest of each entry.
 */
export class Watch extends Events<WatchEvent> {
  /** The revision at which it began. */
  readonly revision: string;
  protected readonly opened;

  /** @internal */
  constructor(connection: Connection, { subscription, revision }: WatchResult, signal?: AbortSignal) {
    super();
    this.revision = revision;
    this.opened = new Opened(connection, {
      event: "registry/event",
      id: subscription,
      read: (params) => params,
      unread: new UnreadChanges(),
      close: () => connection.request("registry/unwatch", { subscription }),
      signal,
    });
  }
}

/**
 * The new messages of a session, as `appended`. After `rewritten` load it anew by its cursor. To who is so slow that
 * more than 8 MiB wait, one without cursor is told in their place: load the newest messages, of which some may then be
 * told again.
 */
export class Follow extends Events<FollowEvent> {
  /** The session, as it was when this began. */
  readonly session: Entry;
  /** A cursor of `session/load`: it leads to the messages before those that are told. */
  readonly cursor: string;
  protected readonly opened;

  /** @internal */
  constructor(connection: Connection, { subscription, session, cursor }: FollowResult, signal?: AbortSignal) {
    super();
    this.session = session;
    this.cursor = cursor;
    this.opened = new Opened(connection, {
      event: "session/event",
      id: subscription,
      read: ({ event }) => event,
      unread: new UnreadMessages(),
      close: () => connection.request("session/unfollow", { subscription }),
      signal,
    });
  }
}
