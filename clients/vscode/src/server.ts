// The one server of this window: started when it is needed, started again when it dies.
import { ServerError, type SpawnOptions, Tackroom } from "tackroom-client";
import { Emitter } from "./emitter";

/** How long is waited before each start after an end that nobody asked for; then somebody must ask. */
const BACKOFF_MS = [500, 2_000, 5_000, 15_000];
/** How long a program may take until it speaks as a server. */
const ANSWER_MS = 10_000;
/** A server that has lived that long is no sign of one that always dies. */
const STEADY_MS = 60_000;

export type Status =
  | { kind: "starting" }
  | { kind: "ready"; client: Tackroom }
  /** There is no such program. */
  | { kind: "missing"; error: Error }
  /** It ended, or could not be started; `isFinal` where it is not started again by itself. */
  | { kind: "failed"; error: Error; isFinal: boolean };

export class Server {
  readonly changed = new Emitter<Status>();
  readonly #options: () => SpawnOptions;
  readonly #backoffMs: number[];
  readonly #answerMs: number;
  #status: Status = { kind: "starting" };
  /** Ends the start that is under way; names the run that counts. */
  #run: AbortController | undefined;
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Fulfilled when no process is left. */
  #gone: Promise<void> = Promise.resolve();

  constructor(options: () => SpawnOptions, backoffMs = BACKOFF_MS, answerMs = ANSWER_MS) {
    this.#options = options;
    this.#backoffMs = backoffMs;
    this.#answerMs = answerMs;
  }

  get status(): Status {
    return this.#status;
  }

  /** The server, where there is one. */
  get client(): Tackroom | undefined {
    return this.#status.kind === "ready" ? this.#status.client : undefined;
  }

  /** The server, or the error that says why there is none. */
  require(): Tackroom {
    const status = this.#status;
    if (status.kind === "ready") return status.client;
    throw status.kind === "starting" ? new Error("Tackroom is starting; try again in a moment") : status.error;
  }

  /** Starts it, in place of the one that runs, with the options of now. */
  restart(): void {
    this.#failures = 0;
    void this.#start();
  }

  /** Ends it. Fulfilled when its process is gone. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    const { client } = this;
    const run = this.#run;
    this.#run = undefined;
    this.#status = { kind: "starting" };
    if (client) this.#gone = client.close();
    else run?.abort();
    await this.#gone;
  }

  async #start(): Promise<void> {
    const before = this.stop();
    const run = (this.#run = new AbortController());
    this.#tell({ kind: "starting" });
    await before;
    if (this.#run !== run) return;
    const options = this.#options();
    const silence = new Error(`\`${options.command ?? "tackroom"}\` says nothing that a server of Tackroom would say; is it that program?`);
    const deadline = setTimeout(() => run.abort(silence), this.#answerMs);
    const started = Tackroom.spawn({ ...options, signal: run.signal }).finally(() => clearTimeout(deadline));
    this.#gone = started.then(() => {}, () => {});
    try {
      const client = await started;
      if (this.#run !== run) return void (this.#gone = client.close());
      const since = Date.now();
      this.#tell({ kind: "ready", client });
      const end = await client.ended;
      if (this.#run !== run) return;
      if (Date.now() - since > STEADY_MS) this.#failures = 0;
      this.#failed(end);
    } catch (error) {
      if (this.#run === run) this.#failed(error as Error, error === silence);
    }
  }

  #failed(error: Error, isFinal = false): void {
    const cause = error instanceof ServerError ? (error.cause as NodeJS.ErrnoException | undefined) : undefined;
    if (cause?.code === "ENOENT" || cause?.code === "EACCES") return this.#tell({ kind: "missing", error });
    const delay = isFinal ? undefined : this.#backoffMs[this.#failures];
    this.#failures += 1;
    this.#tell({ kind: "failed", error, isFinal: delay === undefined });
    if (delay !== undefined) this.#timer = setTimeout(() => void this.#start(), delay);
  }

  #tell(status: Status): void {
    this.#status = status;
    this.changed.fire(status);
  }
}
