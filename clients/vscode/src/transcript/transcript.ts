// A stored session as a text that goes on as it is written: the newest page first, older ones when they are asked for.
import { type Entry, type Follow, type LoadResult, type Message, type Tackroom, TackroomError } from "tackroom-client";
import { oneLine } from "../clean";
import { Emitter } from "../emitter";
import type { Server } from "../server";
import { heading, rendered } from "./render";

export interface TranscriptOptions {
  home: string;
  /** Messages that are loaded at a time. */
  page: number;
}

export class Transcript {
  readonly changed = new Emitter<void>();
  readonly id: string;
  readonly #server: Server;
  readonly #options: TranscriptOptions;
  #entry: Entry | undefined;
  #parts: string[] = [];
  /** The last of the messages, with which another one may go on. */
  #last: Message | undefined;
  #older: string | undefined;
  /** What is said of it besides. */
  #note = "*Loading…*";
  /** What is being done, one after the other. */
  #work: Promise<void> = Promise.resolve();
  #follow: Follow | undefined;
  #client: Tackroom | undefined;
  #isClosed = false;
  #isAskingOlder = false;

  constructor(server: Server, id: string, options: TranscriptOptions) {
    this.#server = server;
    this.id = id;
    this.#options = options;
  }

  get entry(): Entry | undefined {
    return this.#entry;
  }

  /** Whether there are older messages than those that are shown. */
  get hasOlder(): boolean {
    return this.#older !== undefined;
  }

  text(): string {
    const head = this.#entry ? [heading(this.#entry, this.#options.home)] : [];
    const note = this.#note ? [`${this.#note}\n`] : [];
    const more = this.hasOlder ? ["*Older messages are not shown.*\n"] : [];
    return [...head, ...more, ...this.#parts, ...note].join("\n");
  }

  /** Follows the session and shows what there is; again, where it has been followed by a server that is gone. */
  open(): Promise<void> {
    const { client } = this.#server;
    if (this.#isClosed || !client || this.#client === client) return this.#work;
    this.#client = client;
    return this.#do(() => this.#begin(client));
  }

  close(): void {
    this.#isClosed = true;
    void this.#follow?.[Symbol.asyncDispose]();
  }

  loadOlder(): Promise<void> {
    if (!this.hasOlder || this.#isAskingOlder) return this.#work;
    this.#isAskingOlder = true;
    return this.#do(async () => {
      this.#isAskingOlder = false;
      const page = await this.#load(this.#older);
      this.#older = page.nextCursor;
      this.#parts.unshift(...rendered(page.messages, Date.now()));
    });
  }

  async #begin(client: Tackroom): Promise<void> {
    const follow = await client.follow(this.id);
    if (this.#isClosed) return follow[Symbol.asyncDispose]();
    this.#follow = follow;
    await this.#show(follow.cursor);
    void this.#listen(follow);
  }

  async #listen(follow: Follow): Promise<void> {
    try {
      for await (const event of follow) {
        await this.#do(async () => {
          if (event.kind === "appended") this.#append(event.messages);
          else if (event.kind === "rewritten") await this.#show(event.cursor);
          else if (event.kind === "removed") this.#note = "*The session is gone; should it come back, it goes on here.*";
          else this.#note = `*${oneLine(event.problem.message)}*`;
        });
      }
    } catch {
      // The server ended, which the server tells; the next one is asked.
    }
  }

  /** What leads up to a cursor, in place of all that is shown. */
  async #show(cursor: string | undefined): Promise<void> {
    const page = await this.#load(cursor);
    this.#entry = page.session;
    this.#older = page.nextCursor;
    this.#parts = [];
    this.#last = undefined;
    this.#append(page.messages);
    const problem = page.problems?.[0];
    this.#note = problem ? `*${oneLine(problem.message)}*` : "";
  }

  #load(cursor: string | undefined): Promise<LoadResult> {
    // A runtime's own id is gone with the runtime.
    const id = this.#entry?.persistedId ?? this.#entry?.id ?? this.id;
    return this.#server.require().request("session/load", { id, cursor, limit: this.#options.page });
  }

  #append(messages: Message[]): void {
    this.#parts.push(...rendered(messages, Date.now(), this.#last));
    this.#last = messages.at(-1) ?? this.#last;
  }

  #do(work: () => Promise<void>): Promise<void> {
    this.#work = this.#work.then(work).catch((error: Error) => {
      const isOver = error instanceof TackroomError && error.reason === "not_found";
      this.#note = `*${isOver ? "There is no such session any more." : oneLine(error.message)}*`;
    });
    return this.#work.then(() => {
      if (!this.#isClosed) this.changed.fire();
    });
  }
}
