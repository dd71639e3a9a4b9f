// A live runtime as others have them: a receipt, and HTTP on loopback.
import { randomBytes } from "node:crypto";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { WORKSPACE } from "./support.js";

const TOKEN = randomBytes(32).toString("hex");
const ACTIONS = { submit: true, interrupt: true, steer: true, respond: true, detach: true, close: true };

export interface Call {
  method: string;
  params: Record<string, unknown>;
  client: string;
}

/** What a method answers; a promise holds the answer back, and what is thrown is the error that it answers. */
type Script = (params: Record<string, never>) => unknown;

async function said(script: Script, params: Record<string, never>): Promise<{ result: unknown } | { error: unknown }> {
  try {
    return { result: await script(params) };
  } catch (error) {
    return { error };
  }
}

export class FakeRuntime {
  readonly id = "demo-1";
  readonly calls: Call[] = [];
  /** What is told to who attaches. */
  replay: object[] = [];
  readonly #scripts: Record<string, Script> = {
    describe: () => this.#descriptor(),
    attach: () => ({ descriptor: this.#descriptor(), history: [{ role: "user", content: "Hello" }], history_cursor: 3, replay: this.replay }),
    lease: () => this.#lease(),
    heartbeat: () => this.#lease(),
    acquire_control: () => this.#lease(),
    take_control: () => this.#lease(),
    detach: () => this.#lease(),
    respond: () => ({ accepted: true }),
    send_input: () => ({ accepted: true }),
    steer: () => ({ queued: true }),
    interrupt: () => ({ interrupted: true }),
  };
  readonly #streams = new Set<ServerResponse>();
  readonly #waiting = new Set<() => void>();
  #controller: string | undefined;
  #sequence = 3;

  static async start(t: TestContext, home: string): Promise<FakeRuntime> {
    const runtime = new FakeRuntime();
    const server = createServer((request, response) => void runtime.#serve(request, response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    t.after(() => (server.close(), server.closeAllConnections()));
    await runtime.#publish(home, (server.address() as AddressInfo).port);
    return runtime;
  }

  on(method: string, script: Script): void {
    this.#scripts[method] = script;
  }

  /** Tells an event to all who listen. */
  tell(kind: string, payload: object = {}): void {
    const event = { sequence: ++this.#sequence, kind, payload: { type: kind, ...payload } };
    for (const stream of this.#streams) stream.write(`data: ${JSON.stringify(event)}\n\n`);
  }

  endStreams(): void {
    for (const stream of this.#streams) stream.end();
  }

  /** Waits for a call of this method. */
  called(method: string): Promise<Call> {
    return this.#until(() => this.calls.find((call) => call.method === method));
  }

  /** Waits until nobody listens. */
  async left(): Promise<void> {
    await this.#until(() => this.#streams.size === 0 || undefined);
  }

  async #until<T>(look: () => T | undefined): Promise<T> {
    for (;;) {
      const seen = look();
      if (seen !== undefined) return seen;
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  #changed(): void {
    for (const look of this.#waiting) look();
    this.#waiting.clear();
  }

  async #publish(home: string, port: number): Promise<void> {
    const directory = join(home, ".config/supercode/live-runtimes");
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const id = randomBytes(16).toString("hex");
    const receipt = {
      schema: "supercode.live-runtime.v1",
      receipt_id: id,
      runtime_session_id: this.id,
      source: { harness: "supercode", session_id: this.id, workspace: WORKSPACE },
      base_url: `http://127.0.0.1:${port}`,
      token: TOKEN,
      pid: process.pid,
      created_at_ms: Date.now(),
      metadata: { child_pid: null, profile: null, persistence_location: null, endpoint_capabilities: ["http", "acp"], supervisor: null },
    };
    const aside = join(directory, `.${id}.${process.pid}.tmp`);
    await writeFile(aside, JSON.stringify(receipt), { mode: 0o600 });
    await rename(aside, join(directory, `${id}.json`));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const client = String(request.headers["x-supercode-client-id"] ?? "legacy-owner");
    if (request.headers.authorization !== `Bearer ${TOKEN}`) return void response.writeHead(401).end("{}");
    if (request.url?.startsWith("/frontend/events")) return this.#stream(response);
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString()) as { id: unknown; method: string; params: Record<string, never> | null };
    const method = body.method.split(".").at(-1)!;
    this.calls.push({ method, params: body.params ?? {}, client });
    this.#changed();
    if (method.endsWith("_control")) this.#controller = client;
    const script = this.#scripts[method];
    const error = { code: -32020, name: "unsupported_action", operation: method, message: "not here" };
    const answer = script ? await said(script, body.params ?? {}) : { error };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ id: body.id, ...answer }));
  }

  #stream(response: ServerResponse): void {
    response.writeHead(200, { "content-type": "text/event-stream", connection: "close" }).flushHeaders();
    this.#streams.add(response);
    response.once("close", () => {
      this.#streams.delete(response);
      this.#changed();
    });
  }

  #descriptor(): object {
    return {
      schema_version: 2,
      session_id: this.id,
      source_harness: "supercode",
      emulation_profile: null,
      active_modules: [],
      commands: [],
      operations: [],
      actions: ACTIONS,
      display: { event_kinds: [], opaque_fallback: true },
      model: "fake-model",
      turn_state: "idle",
      connection_state: "connected",
    };
  }

  #lease(): object {
    const controller = this.#controller ? { client_id: this.#controller, expires_at_ms: Date.now() + 30_000 } : null;
    return { controller, observers: [], lease_ttl_ms: 30_000 };
  }
}
