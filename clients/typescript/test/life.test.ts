import assert from "node:assert/strict";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { type Notification, ServerError, type SpawnOptions, Tackroom } from "tackroom-client";
import { emptyHome, isAlive, packageRoot, spawn, until } from "./support.js";

/** A server that follows a script of test/scripted.ts. */
async function scripted(t: TestContext, script: string, options: Partial<SpawnOptions> = {}): Promise<Tackroom> {
  const args = [join(packageRoot, "build/scripted.js"), script];
  const client = await Tackroom.spawn({ command: process.execPath, args, clientInfo: { name: "test" }, ...options });
  t.after(() => client.close());
  return client;
}

test("a server says who it is and what it grants, and is gone when it is disposed of", async (t) => {
  const home = await emptyHome(t);
  let pid;
  {
    await using client = await spawn(t, home, { allow: ["observe", "interact"], workspaces: ["/home/dev"], harnesses: ["codex"] });
    pid = client.pid;
    assert.equal(client.server.serverInfo.name, "tackroom");
    assert.deepEqual(client.server.authority, {
      permissions: ["observe", "interact"],
      workspaces: ["/home/dev"],
      harnesses: ["codex"],
    });
    assert(isAlive(pid));
  }
  assert(!isAlive(pid));
});

test("all that is open ends without an error when the client is closed", async (t) => {
  const client = await spawn(t, await emptyHome(t));
  const watch = await client.watch();
  await until(watch, ({ kind }) => kind === "synced");
  const next = watch.next();
  await Promise.all([client.close(), client.close()]);
  assert.equal((await next).done, true);
  assert.equal((await client.ended).exitCode, 0);
  await assert.rejects(client.request("ping"), { name: "ServerError", message: "the client was closed" });
  await watch.return();
});

test("a client asks for less than it might", async (t) => {
  const authority = { permissions: ["observe" as const] };
  const client = await spawn(t, await emptyHome(t), { allow: ["observe", "interact"], authority });
  assert.deepEqual(client.server.authority.permissions, ["observe"]);
});

test("a client that is allowed nothing may do nothing", async (t) => {
  const client = await spawn(t, await emptyHome(t), { allow: [], authority: { permissions: ["observe"] } });
  assert.deepEqual(client.server.authority.permissions, []);
  await assert.rejects(client.request("registry/list"), { reason: "unauthorized" });
});

test("a signal ends the server", async (t) => {
  const home = await emptyHome(t);
  await assert.rejects(spawn(t, home, { signal: AbortSignal.abort() }), { name: "AbortError" });
  const abort = new AbortController();
  const client = await spawn(t, home, { signal: abort.signal });
  const watch = await client.watch();
  await until(watch, ({ kind }) => kind === "synced");
  abort.abort();
  await assert.rejects(watch.next(), ServerError);
  assert(!isAlive(client.pid));
});

test("what is not installed is told, and how to install it", async () => {
  const spawning = Tackroom.spawn({ command: "no-such-tackroom", clientInfo: { name: "test" } });
  await assert.rejects(spawning, { name: "ServerError", message: /no-such-tackroom.*Install it by `cargo install/s });
});

test("what the server refuses at its start is told", async (t) => {
  const wrong = spawn(t, await emptyHome(t), { args: ["serve", "--no-such-flag"] });
  await assert.rejects(wrong, { name: "ServerError", exitCode: 2, message: /ended with code 2; it said:.*--no-such-flag/s });
});

test("what is no server is told apart from one", async () => {
  const options = { command: process.execPath, clientInfo: { name: "test" } };
  const spawning = Tackroom.spawn({ ...options, args: ["-e", "console.log('hello'); setInterval(() => {}, 1000)"] });
  await assert.rejects(spawning, { name: "ServerError", message: /does not speak the protocol/ });
  const newer = Tackroom.spawn({ ...options, args: [join(packageRoot, "build/scripted.js"), "atOnce", "2"] });
  await assert.rejects(newer, { name: "ServerError", message: /version 2 of the protocol, not 1/ });
});

test("what the server logs is given line by line, and its end is told", async (t) => {
  const lines: string[] = [];
  const client = await scripted(t, "dying", { onStderr: (line) => lines.push(line) });
  const end = { name: "ServerError", exitCode: 3, message: /ended with code 3; it said:\nfirst line\nthe roof is on fire$/ };
  await assert.rejects(client.request("ping"), end);
  assert.deepEqual(lines, ["first line", "the roof is on fire"]);
  assert.match((await client.ended).message, /the roof/);
});

test("events that come together with what opens their watch are told", async (t) => {
  const client = await scripted(t, "atOnce");
  const watch = await client.watch();
  const events = await until(watch, ({ kind }) => kind === "synced");
  assert.deepEqual(events.map(({ kind }) => kind), ["resync", "synced"]);
});

test("who asks for it is told how far a request is, and other events are given, too", async (t) => {
  const others: Notification[] = [];
  const client = await scripted(t, "telling", { onNotification: (other) => others.push(other) });
  const told: string[] = [];
  await client.request("ping", {}, { onProgress: ({ message, done, total }) => told.push(`${message} ${done}/${total}`) });
  assert.deepEqual(told, ["reading 1/2"]);
  assert.deepEqual(others.map(({ method }) => method), ["registry/event"]);
});

test("what is opened although it was cancelled is let go", async (t) => {
  const client = await scripted(t, "late");
  const abort = new AbortController();
  const watching = client.watch({}, { signal: abort.signal });
  abort.abort();
  await assert.rejects(watching, { name: "AbortError" });
  assert.equal((await client.ended).exitCode, 7);
});

test("a message that the server could not read is no silence", async (t) => {
  const client = await scripted(t, "confused");
  await assert.rejects(client.request("ping"), { name: "ServerError", message: /this was no JSON/ });
});

test("a message that is too long for the server is not sent", async (t) => {
  const client = await scripted(t, "atOnce");
  await assert.rejects(client.request("registry/describe", { id: "é".repeat(500) }), RangeError);
  await client.watch();
});

test("what the server still answers while it leaves is no failure", async (t) => {
  const client = await scripted(t, "parting");
  const refused = assert.rejects(client.request("ping"), { message: "the client was closed" });
  await client.close();
  await refused;
  assert.match((await client.ended).message, /ended with code 0$/);
});

test("a server that does not leave is made to", async (t) => {
  const client = await scripted(t, "deaf");
  const pinging = client.request("ping");
  const refused = assert.rejects(pinging, { name: "ServerError", message: "the client was closed" });
  await client.close();
  await refused;
  assert.equal((await client.ended).signal, "SIGKILL");
  assert(!isAlive(client.pid));
});
