// vscode-jsonrpc: what VS Code's own language clients speak with. `Content-Length` headers.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { copyFileSync } from "node:fs";
import { once } from "node:events";
import { CancellationTokenSource, createMessageConnection, StreamMessageReader, StreamMessageWriter } from "vscode-jsonrpc/node";

const { TACKROOM_BIN, FOREIGN_SESSION, FOREIGN_NEW, FOREIGN_NEW_FROM, FOREIGN_NEW_TO } = process.env;

const server = spawn(TACKROOM_BIN, ["serve"], { stdio: ["pipe", "pipe", "inherit"] });
const ended = once(server, "exit");
const connection = createMessageConnection(new StreamMessageReader(server.stdout), new StreamMessageWriter(server.stdin));
connection.onError(([error]) => { throw error; });
connection.listen();

const opened = await connection.sendRequest("initialize", { clientInfo: { name: "vscode-jsonrpc" }, processId: process.pid });
assert.equal(opened.serverInfo.name, "tackroom");
await connection.sendNotification("initialized");

const page = await connection.sendRequest("registry/list", { limit: 100 });
assert(page.entries.some((entry) => entry.id === FOREIGN_SESSION));
await assert.rejects(connection.sendRequest("registry/describe", { id: "no:such" }), (error) => {
  return error.code === -32001 && error.data.reason === "not_found";
});

const told = new Map();
const hears = (kind) => new Promise((resolve) => told.set(kind, resolve));
const synced = hears("synced");
const added = hears(FOREIGN_NEW);
connection.onNotification("registry/event", ({ event }) => told.get(event.entry?.id ?? event.kind)?.());
await connection.sendRequest("registry/watch");
await synced;
copyFileSync(FOREIGN_NEW_FROM, FOREIGN_NEW_TO);
await added;

const cancel = new CancellationTokenSource();
const attached = connection.sendRequest("runtime/attach", { runtimeId: "silent" }, cancel.token);
cancel.cancel();
await assert.rejects(attached, (error) => error.code === -32800);

assert.equal(await connection.sendRequest("shutdown"), null);
await connection.sendNotification("exit");
assert.deepEqual(await ended, [0, null]);
