import { Attachment } from "./attachment.js";
import { Connection, type Method, type Notification, type Params, type RequestOptions, type Result } from "./connection.js";
import { ServerError } from "./errors.js";
import { ServerProcess, within } from "./process.js";
import {
  type AttachParams,
  type AuthorityRequest,
  type ClientInfo,
  type Entry,
  type Harness,
  type InitializeResult,
  type ListResult,
  type Permission,
  PROTOCOL_VERSION,
  type Query,
} from "./protocol.js";
import { Follow, Watch } from "./subscriptions.js";

/** How long the server may take to answer that it will end. */
const SHUTDOWN_MS = 2_000;

export interface SpawnOptions {
  /** Who speaks to the server. */
  clientInfo: ClientInfo;
  /** The program; default `tackroom`, from the PATH. */
  command?: string | undefined;
  /** What leads to the server; default `["serve"]`. The flags that the other options stand for come behind. */
  args?: string[] | undefined;
  /** What this client may do at most; default `observe` alone, and `[]` is nothing. */
  allow?: Permission[] | undefined;
  /** Sessions in these directories and below are all there is. */
  workspaces?: string[] | undefined;
  /** Sessions of these harnesses are all there is. */
  harnesses?: Harness[] | undefined;
  /** More homes of harnesses to look into, beside those that the environment names. */
  homes?: { [H in Harness]?: string[] } | undefined;
  /** The server's environment, by which homes are found; default this process's own. */
  env?: NodeJS.ProcessEnv | undefined;
  cwd?: string | undefined;
  /** Asks for less than the options before allow. */
  authority?: AuthorityRequest | undefined;
  /** Ends the server when it is aborted, whatever it is doing. */
  signal?: AbortSignal | undefined;
  /** Given each line that the server logs. */
  onStderr?: ((line: string) => void) | undefined;
  /** Given what belongs to no watch, follow or attachment that is open here. */
  onNotification?: ((notification: Notification) => void) | undefined;
}

/** A method's params may be left out where none are needed. */
type Asked<M extends Method> =
  Record<string, never> extends Params<M>
    ? [params?: Params<M>, options?: RequestOptions]
    : [params: Params<M>, options?: RequestOptions];

/** A Tackroom server of this client's own. */
export class Tackroom implements AsyncDisposable {
  /** What the server answered to `initialize`: what was granted, the methods, the harnesses, the limits. */
  readonly server: InitializeResult;
  readonly #process: ServerProcess;
  readonly #connection: Connection;
  #closing: Promise<void> | undefined;

  private constructor(process: ServerProcess, connection: Connection, server: InitializeResult) {
    this.#process = process;
    this.#connection = connection;
    this.server = server;
  }

  /** Starts a server and opens the conversation. Throws a `ServerError` where there is none to be had. */
  static async spawn(options: SpawnOptions): Promise<Tackroom> {
    const { signal } = options;
    signal?.throwIfAborted();
    const server: ServerProcess = new ServerProcess({
      command: options.command ?? "tackroom",
      args: [...(options.args ?? ["serve"]), ...flags(options)],
      env: options.env,
      cwd: options.cwd,
      onStderr: (line) => options.onStderr?.(line),
      onLine(line, bytes) {
        try {
          connection.receive(line, bytes);
        } catch (error) {
          server.abandon(`does not speak the protocol: ${(error as Error).message}`, error);
        }
      },
    });
    const connection = new Connection(
      (line) => server.write(line),
      (notification) => options.onNotification?.(notification),
    );
    const abort = () => void server.kill();
    signal?.addEventListener("abort", abort, { once: true });
    void server.ended.then((error) => {
      signal?.removeEventListener("abort", abort);
      connection.end(error, false);
    });
    try {
      const result = await connection.request("initialize", initializeParams(options), { signal });
      if (result.protocolVersion !== PROTOCOL_VERSION) {
        throw new ServerError(`the server speaks version ${result.protocolVersion} of the protocol, not ${PROTOCOL_VERSION}`);
      }
      connection.frameBytes = result.limits.frameBytes;
      connection.requestsInFlight = result.limits.requestsInFlight;
      connection.notify("initialized", {});
      return new Tackroom(server, connection, result);
    } catch (error) {
      await server.kill();
      throw error;
    }
  }

  /** The server's process. */
  get pid(): number {
    return this.#process.pid!;
  }

  /** Fulfilled when the server is gone, with how it ended; never rejected. */
  get ended(): Promise<ServerError> {
    return this.#process.ended;
  }

  /** Calls a method. Events are told to what `watch`, `follow` and `attach` open, not to what is opened by this. */
  async request<M extends Method>(method: M, ...[params, options]: Asked<M>): Promise<Result<M>> {
    return this.#connection.request(method, params ?? ({} as Params<M>), options);
  }

  /** The pages of what a query means. */
  async *pages(query: Query = {}, options: RequestOptions & { limit?: number } = {}): AsyncGenerator<ListResult, void> {
    const { limit, ...rest } = options;
    let cursor: string | undefined;
    do {
      const page = await this.request("registry/list", { query, limit, cursor }, rest);
      cursor = page.nextCursor;
      yield page;
    } while (cursor);
  }

  /** Every entry that a query means, newest first, asked for page by page. */
  async *list(query: Query = {}, options: RequestOptions = {}): AsyncGenerator<Entry, void> {
    for await (const page of this.pages(query, options)) yield* page.entries;
  }

  /** Tells what a query means and each change of it. With `since`, a revision, only what came after that. */
  watch(query: Query = {}, options: RequestOptions & { since?: string } = {}): Promise<Watch> {
    const { since, ...rest } = options;
    const make = (result: Result<"registry/watch">) => new Watch(this.#connection, result, rest.signal);
    return this.#connection.open("registry/watch", { query, since }, rest, make, release);
  }

  /** Tells the messages of a session as they are written. */
  follow(id: string, options: RequestOptions = {}): Promise<Follow> {
    const make = (result: Result<"session/follow">) => new Follow(this.#connection, result, options.signal);
    return this.#connection.open("session/follow", { id }, options, make, release);
  }

  /**
   * Joins a live runtime: by an entry's id, or as `runtime/attach` has it. A runtime denies what needs approval while
   * nobody watches and asks while somebody does, so to attach changes what it does.
   */
  attach(target: string | AttachParams, options: RequestOptions = {}): Promise<Attachment> {
    const params = typeof target === "string" ? { id: target } : target;
    const make = (result: Result<"runtime/attach">) => new Attachment(this.#connection, result, options.signal);
    return this.#connection.open("runtime/attach", params, options, make, release);
  }

  /** Ends the server and all that is open, politely where that works. Fulfilled when its process is gone. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    const answered = this.#connection.request("shutdown", {}).catch(() => {});
    await within(SHUTDOWN_MS, answered);
    this.#connection.notify("exit", {});
    this.#connection.end(new ServerError("the client was closed"), true);
    this.#process.closeInput();
    await this.#process.leave();
  }
}

function release(opened: AsyncDisposable): void {
  void opened[Symbol.asyncDispose]();
}

function flags({ allow, workspaces, harnesses, homes }: SpawnOptions): string[] {
  const roots = Object.entries(homes ?? {}).flatMap(([harness, paths]) => paths.map((path) => `${harness}=${path}`));
  return [
    ...(allow?.length ? ["--allow", allow.join(",")] : []),
    ...(workspaces ?? []).flatMap((workspace) => ["--workspace", workspace]),
    ...(harnesses ?? []).flatMap((harness) => ["--harness", harness]),
    ...roots.flatMap((root) => ["--root", root]),
  ];
}

function initializeParams({ clientInfo, allow, authority }: SpawnOptions) {
  // The command line cannot say "nothing"; what is asked for can.
  const asked = allow?.length === 0 ? { ...authority, permissions: [] } : authority;
  return { protocolVersion: PROTOCOL_VERSION, clientInfo, processId: process.pid, authority: asked };
}
