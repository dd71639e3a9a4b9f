import type { RuntimeEvent } from "./events.js";
import type { Unread } from "./mailbox.js";
import type { Problem, RegistryEvent, RegistryEventParams, SessionEvent } from "./protocol.js";

/** How much of a session's or a runtime's events is kept for who does not take them, in bytes as they crossed. */
export const UNREAD_BYTES = 8 << 20;

/** Events in order, up to a bound in bytes. */
class Queue<T> {
  #events: Array<[T, number]> = [];
  #taken = 0;
  #bytes = 0;

  get first(): T | undefined {
    return this.#events[this.#taken]?.[0];
  }

  /** Whether there is room for that much more. */
  fits(bytes: number): boolean {
    return this.#bytes + bytes <= UNREAD_BYTES;
  }

  push(event: T, bytes: number): void {
    this.#events.push([event, bytes]);
    this.#bytes += bytes;
  }

  shift(): T | undefined {
    const next = this.#events[this.#taken];
    if (!next) return undefined;
    this.#taken += 1;
    this.#bytes -= next[1];
    // What was taken is let go of once it is half of all: moving the rest each time would cost its square.
    if (this.#taken * 2 >= this.#events.length) {
      this.#events = this.#events.slice(this.#taken);
      this.#taken = 0;
    }
    return next[0];
  }
}

/** An event of a watch, and the revision of which all is told with it: to watch on from, as `since`. */
export type WatchEvent = RegistryEvent & { revision: string };

/**
 * Events of a watch: the latest of each entry, and no problem that has gone meanwhile. So never more is kept than
 * there are entries and problems.
 *
 * An event that takes the place of an earlier one stands under the earlier one's revision. That of what was taken last
 * is therefore never ahead of something that was not.
 */
export class UnreadChanges implements Unread<RegistryEventParams, WatchEvent> {
  readonly #events = new Map<string, WatchEvent>();

  put({ event, revision }: RegistryEventParams): void {
    if (event.kind === "resync") this.#events.clear();
    const key = keyOf(event);
    const before = this.#events.get(key);
    const merged = before ? merge(before, event) : event;
    if (merged) this.#events.set(key, { ...merged, revision: before?.revision ?? revision });
    else this.#events.delete(key);
  }

  take(): WatchEvent | undefined {
    for (const [key, event] of this.#events) {
      this.#events.delete(key);
      return event;
    }
    return undefined;
  }
}

function keyOf(event: RegistryEvent): string {
  switch (event.kind) {
    case "added":
    case "updated":
      return `entry ${event.entry.id}`;
    case "removed":
      return `entry ${event.id}`;
    case "error":
    case "recovered":
      return problemKey(event.problem);
    default:
      return event.kind;
  }
}

/** What two events about one thing come to, if anything. */
function merge(before: RegistryEvent, after: RegistryEvent): RegistryEvent | undefined {
  if (before.kind === "added" && after.kind === "removed") return undefined;
  if (before.kind === "added" && after.kind === "updated") return { ...after, kind: "added" };
  if (before.kind === "removed" && after.kind === "added") return { ...after, kind: "updated" };
  // A problem that came and went, or went and came back, is as it was.
  if ("problem" in before && before.kind !== after.kind) return undefined;
  return after;
}

function problemKey(problem: Problem): string {
  return `problem ${JSON.stringify(problem)}`;
}

/** An event of a session. A `rewritten` without cursor was made here, for who is slow: load the newest messages. */
export type FollowEvent = Exclude<SessionEvent, { kind: "rewritten" }> | { kind: "rewritten"; cursor?: string };

/**
 * Events of a session. What would be too much to keep becomes one `rewritten` without cursor. What is appended before
 * that is taken is in what will be loaded.
 */
export class UnreadMessages implements Unread<SessionEvent, FollowEvent> {
  #events = new Queue<FollowEvent>();

  put(event: SessionEvent, bytes: number): void {
    const { first } = this.#events;
    if (event.kind === "appended" && first?.kind === "rewritten" && first.cursor === undefined) return;
    if (event.kind === "rewritten") {
      this.#events = new Queue();
    } else if (!this.#events.fits(bytes)) {
      this.#events = new Queue();
      return this.#events.push({ kind: "rewritten" }, 0);
    }
    this.#events.push(event, bytes);
  }

  take(): FollowEvent | undefined {
    return this.#events.shift();
  }
}

/**
 * Events of a runtime, all and in order. Where they would be too much to keep the stream ends like one that the
 * server ends: by `lagged`, with the cursor to attach again from.
 */
export class UnreadEvents implements Unread<RuntimeEvent, RuntimeEvent> {
  readonly #events = new Queue<RuntimeEvent>();
  readonly #lag: () => void;
  #cursor: number;
  #isFull = false;

  /** `lag` is called once, when no more is kept. */
  constructor(cursor: number, replay: RuntimeEvent[], lag: () => void) {
    this.#cursor = cursor;
    this.#lag = lag;
    for (const event of replay) this.#keep(event, 0);
  }

  put(event: RuntimeEvent, bytes: number): void {
    if (this.#isFull) return;
    if (this.#events.fits(bytes)) return this.#keep(event, bytes);
    this.#isFull = true;
    this.#events.push({ kind: "lagged", cursor: this.#cursor }, 0);
    this.#lag();
  }

  take(): RuntimeEvent | undefined {
    return this.#events.shift();
  }

  #keep(event: RuntimeEvent, bytes: number): void {
    this.#events.push(event, bytes);
    if ("sequence" in event) this.#cursor = event.sequence;
  }
}
