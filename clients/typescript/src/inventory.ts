import type { Entry, Problem } from "./protocol.js";
import type { WatchEvent } from "./unread.js";

/** What a watch comes to: give it each event, and it is what the watch means now. */
export class Inventory {
  readonly #entries = new Map<string, Entry>();
  readonly #problems = new Map<string, Problem>();
  /** What was not told again since a `resync`. */
  #stale = new Set<string>();
  #isSynced = false;
  #revision: string | undefined;

  /** By id. */
  get entries(): ReadonlyMap<string, Entry> {
    return this.#entries;
  }

  get problems(): Problem[] {
    return [...this.#problems.values()];
  }

  /** Whether all there is has been told; not so at first, nor while all is told again. */
  get isSynced(): boolean {
    return this.#isSynced;
  }

  /** To watch on from, as `since`. */
  get revision(): string | undefined {
    return this.#revision;
  }

  apply(event: WatchEvent): void {
    this.#revision = event.revision;
    switch (event.kind) {
      case "added":
      case "updated":
        this.#entries.set(event.entry.id, event.entry);
        this.#stale.delete(event.entry.id);
        break;
      case "removed":
        this.#entries.delete(event.id);
        break;
      case "error":
        this.#problems.set(JSON.stringify(event.problem), event.problem);
        break;
      case "recovered":
        this.#problems.delete(JSON.stringify(event.problem));
        break;
      case "resync":
        this.#stale = new Set(this.#entries.keys());
        this.#problems.clear();
        this.#isSynced = false;
        break;
      case "synced":
        for (const id of this.#stale) this.#entries.delete(id);
        this.#stale.clear();
        this.#isSynced = true;
    }
  }
}
