// The Agent Client Protocol's own SDK, as an editor has it that speaks to agents. One message a line; it leaves by closing
// the server's input, as that protocol does.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { copyFileSync } from "node:fs";
import { once } from "node:events";
import { Readable, Writable } from "node:stream";
import { client, ndJsonStream } from "@agentclientprotocol/sdk";

const { TACKROOM_BIN, FOREIGN_SESSION, FOREIGN_NEW, FOREIGN_NEW_FROM, FOREIGN_NEW_TO } = process.env;

const server = spawn(TACKROOM_BIN, ["serve"], { stdio: ["pipe", "pipe", "inherit"] });
const ended = once(server, "exit");
const told = new Map();
const hears = (kind) => new Promise((resolve) => told.set(kind, resolve));
const synced = hears("synced");
const added = hears(FOREIGN_NEW);
const connection = client({ name: "acp-sdk" })
  .onNotification("registry/event", (params) => params, ({ params: { event } }) => told.get(event.entry?.id ?? event.kind)?.())
  .connect(ndJsonStream(Writable.toWeb(server.stdin), Readable.toWeb(server.stdout)));
const { agent } = connection;

const opened = await agent.request("initialize", { protocolVersion: 1, clientInfo: { name: "acp-sdk", version: "1" }, clientCapabilities: {} });
assert.equal(opened.protocolVersion, 1);
await agent.notify("initialized");

const page = await agent.request("registry/list", { limit: 100 });
assert(page.entries.some((entry) => entry.id === FOREIGN_SESSION));
await assert.rejects(agent.request("registry/describe", { id: "no:such" }), (error) => {
  return error.code === -32001 && error.data.reason === "not_found";
});

await agent.request("registry/watch");
await synced;
copyFileSync(FOREIGN_NEW_FROM, FOREIGN_NEW_TO);
await added;

const cancel = new AbortController();
const attached = agent.request("runtime/attach", { runtimeId: "silent" }, { cancellationSignal: cancel.signal });
cancel.abort();
await assert.rejects(attached, (error) => error.code === -32800);

server.stdin.end();
assert.deepEqual(await ended, [0, null]);
await connection.closed;
