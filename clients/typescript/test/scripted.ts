// Servers that do one thing that the real one does not do on demand. The script's name is the first argument.
import { createInterface } from "node:readline";

interface Request {
  id?: number;
  method: string;
  params: { subscription?: string; _meta?: { progressToken?: number } };
}

const say = (...messages: object[]) => void process.stdout.write(messages.map((one) => `${JSON.stringify(one)}\n`).join(""));
const result = (id: number | undefined, result: unknown) => ({ jsonrpc: "2.0", id, result });
const event = (subscription: string, event: object) => ({
  jsonrpc: "2.0",
  method: "registry/event",
  params: { subscription, revision: "1", event },
});

const scripts: Record<string, (request: Request) => void> = {
  /** Sends the first events with the answer that opens the watch, in one piece. */
  atOnce({ id, method }) {
    if (method === "registry/watch") {
      say(result(id, { subscription: "s", revision: "1" }), event("s", { kind: "resync" }), event("s", { kind: "synced" }));
    } else if (id) say(result(id, null));
  },
  /** Tells how far it is, and of a watch that nobody has. */
  telling({ id, method, params }) {
    if (method !== "ping") return;
    const value = { message: "reading", done: 1, total: 2 };
    const progress = { jsonrpc: "2.0", method: "$/progress", params: { token: params._meta?.progressToken, value } };
    say(progress, event("nobody", { kind: "synced" }), result(id, {}));
  },
  /** Opens a watch although it was cancelled, and ends with 7 when it is let go. */
  late({ id, method, params }) {
    if (method === "registry/watch") waiting = id;
    else if (method === "$/cancelRequest") say(result(waiting, { subscription: "late", revision: "1" }));
    else if (method === "registry/unwatch") process.exit(params.subscription === "late" ? 7 : 1);
  },
  /** Answers only when it is told to leave. */
  parting({ id, method }) {
    if (method === "ping") waiting = id;
    if (method === "shutdown") say(result(id, null));
    if (method === "exit") process.stdout.write(`${JSON.stringify(result(waiting, {}))}\n`, () => process.exit(0));
  },
  /** Answers nothing any more, and does not leave when asked. */
  deaf() {
    process.on("SIGTERM", () => {});
    setInterval(() => {}, 1_000);
  },
  /** Says why it could not read a message, which it cannot name. */
  confused({ method }) {
    if (method === "ping") say({ jsonrpc: "2.0", id: null, error: { code: -32700, message: "this was no JSON" } });
  },
  /** Speaks of its trouble, and dies. */
  dying() {
    console.error("first line\nthe roof is on fire");
    process.exit(3);
  },
};

/** A request that is not answered yet. */
let waiting: number | undefined;
const [name = "", version = "1"] = process.argv.slice(2);
let isOpen = false;
createInterface({ input: process.stdin }).on("line", (line) => {
  const request = JSON.parse(line) as Request;
  if (isOpen) return scripts[name]?.(request);
  if (request.method !== "initialize") return;
  isOpen = true;
  say(result(request.id, { protocolVersion: Number(version), limits: { frameBytes: 1_000, requestsInFlight: 2 } }));
});
