// What a watch tells of the sessions, for as long as somebody looks, across the ends of servers.
import { type Entry, Inventory, type Query, type Tackroom, type Watch } from "tackroom-client";
import { Emitter, type Release } from "../emitter";
import type { Server } from "../server";

/** How long changes are gathered before who looks hears of them, in milliseconds. */
const GATHER_MS = 50;

/** What changed: all, or these. */
export type Change = "all" | ReadonlySet<string>;

export class Sessions {
  readonly changed = new Emitter<Change>();
  readonly #query: Query;
  readonly #server: Server;
  readonly #release: Release;
  #entries: ReadonlyMap<string, Entry> = new Map();
  /** The server that this watches. */
  #asked: Tackroom | undefined;
  #watch: Watch | undefined;
  #isWanted = false;
  #isKnown = false;
  /** What changed since the last was told. */
  #pending: Set<string> | "all" = new Set();
  #timer: NodeJS.Timeout | undefined;

  constructor(server: Server, query: Query) {
    this.#server = server;
    this.#query = query;
    this.#release = server.changed.on((status) => {
      if (status.kind === "missing" || (status.kind === "failed" && status.isFinal)) this.#forget();
      this.#begin();
    });
  }

  /** By id. While all is told anew, and while the server is started again, what was known before is there, too. */
  get entries(): ReadonlyMap<string, Entry> {
    return this.#entries;
  }

  /** Whether all that there is was told once. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  /** Begins to look, where that has not begun. */
  open(): void {
    this.#isWanted = true;
    this.#begin();
  }

  dispose(): void {
    this.#isWanted = false;
    this.#release.dispose();
    clearTimeout(this.#timer);
    void this.#watch?.[Symbol.asyncDispose]();
  }

  /** Nobody tells any more what there is. */
  #forget(): void {
    this.#entries = new Map();
    this.#isKnown = false;
    this.#note("all");
  }

  #begin(): void {
    const { client } = this.#server;
    if (!this.#isWanted || !client || this.#asked === client) return;
    this.#asked = client;
    void this.#run(client).catch(() => {
      // The end of the server is told by the server, and what was known stays until another has told all.
    });
  }

  async #run(client: Tackroom): Promise<void> {
    const watch = await client.watch(this.#query);
    if (!this.#isWanted) return watch[Symbol.asyncDispose]();
    this.#watch = watch;
    const inventory = new Inventory();
    for await (const event of watch) {
      inventory.apply(event);
      if (event.kind === "synced") {
        this.#entries = inventory.entries;
        this.#isKnown = true;
        this.#note("all");
      } else if (inventory.isSynced) {
        if ("entry" in event) this.#note(event.entry.id);
        else if (event.kind === "removed") this.#note(event.id);
      }
    }
  }

  #note(what: "all" | string): void {
    if (what === "all") this.#pending = "all";
    else if (this.#pending !== "all") this.#pending.add(what);
    this.#timer ??= setTimeout(() => {
      const pending = this.#pending;
      this.#pending = new Set();
      this.#timer = undefined;
      this.changed.fire(pending);
    }, GATHER_MS);
  }
}
