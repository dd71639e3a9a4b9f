import assert from "node:assert/strict";
import { appendFile, rm, writeFile } from "node:fs/promises";
import { test } from "node:test";
import { emptyHome, homeWithStores, message, tackroom, uuid, writeSession } from "../../typescript/test/support.js";
import { Sessions } from "../src/sessions/sessions";
import { TreeModel } from "../src/sessions/model";
import { Transcript } from "../src/transcript/transcript";
import { Server } from "../src/server";
import { isAlive, startServer, until } from "./support.js";

const id = (number: number) => `claude-code:${uuid(number)}`;

test("the tree of real stores is kept true by a watch", async (t) => {
  const home = await homeWithStores(t);
  const server = await startServer(t, home);
  const sessions = new Sessions(server, {});
  t.after(() => sessions.dispose());
  const model = new TreeModel({ grouping: "harness", liveOnly: false, text: "" });
  sessions.changed.on((change) => {
    if (change === "all") return model.replace(sessions.entries.values());
    for (const id of change) {
      const entry = sessions.entries.get(id);
      if (entry) model.set(entry);
      else model.remove(id);
    }
  });
  sessions.open();
  await until(sessions.changed, () => sessions.isKnown);
  assert.equal(model.flush(), "all");
  assert.deepEqual(model.roots().map((node) => node.kind === "group" && node.name).sort(), ["claude-code", "codex"]);

  const file = await writeSession(home, uuid(1), "First", 1);
  await until(sessions.changed, () => model.find(id(1)));
  model.flush();
  const node = model.find(id(1));
  await appendFile(file, message(uuid(1), "more", 30));
  await until(sessions.changed, () => node?.entry.updatedAtMs === Date.UTC(2026, 0, 2, 0, 30));
  await rm(file);
  await until(sessions.changed, () => !model.find(id(1)));
});

test("a server that dies is started again, and what was known stays until all is told anew", async (t) => {
  const home = await emptyHome(t);
  await writeSession(home, uuid(1), "First");
  const server = await startServer(t, home, {}, [1]);
  const sessions = new Sessions(server, {});
  t.after(() => sessions.dispose());
  sessions.open();
  await until(sessions.changed, () => sessions.entries.has(id(1)));
  const pid = server.client!.pid;
  const kinds: string[] = [];
  const sizes: number[] = [];
  server.changed.on(({ kind }) => (kinds.push(kind), sizes.push(sessions.entries.size)));
  process.kill(pid, "SIGKILL");
  await until(server.changed, () => server.client && server.client.pid !== pid);
  await writeSession(home, uuid(2), "Second");
  await until(sessions.changed, () => sessions.entries.has(id(2)));
  assert.deepEqual([kinds, sizes], [["failed", "starting", "ready"], [1, 1, 1]]);

  // Another end uses up what was left of patience.
  process.kill(server.client!.pid, "SIGKILL");
  await until(server.changed, () => server.status.kind === "failed");
  const { status } = server;
  assert(status.kind === "failed" && status.isFinal && /SIGKILL/.test(status.error.message));
  assert.equal(sessions.entries.size, 0);
  assert.throws(() => server.require(), /SIGKILL/);
  server.restart();
  await until(sessions.changed, () => sessions.entries.size === 2);
});

test("to stop leaves no process, whenever it is said", async (t) => {
  const home = await emptyHome(t);
  // One that takes its time.
  const slow = { command: "sh", args: ["-c", '"$0" "$@"; sleep 0.3', tackroom, "serve"] };
  const server = await startServer(t, home, slow);
  const { pid } = server.client!;
  const seen: string[] = [];
  server.changed.on(({ kind }) => seen.push(kind));
  // A start that is not waited for.
  server.restart();
  server.restart();
  await until(server.changed, () => server.client);
  const last = server.client!.pid;
  assert.equal(await isAlive(pid), false);
  server.restart();
  await server.stop();
  assert.equal(await isAlive(last), false);
  assert(!seen.includes("failed"), seen.join());

  const silent = new Server(() => ({ command: "sh", args: ["-c", "sleep 1000"], clientInfo: { name: "test" } }));
  silent.restart();
  await new Promise(setImmediate);
  await silent.stop();
});

test("a program that is not there is told as such", async (t) => {
  const home = await emptyHome(t);
  const server = await startServer(t, home, { command: "/nowhere/tackroom" });
  assert.equal(server.status.kind, "missing");
  const file = `${home}/not-executable`;
  await writeFile(file, "");
  assert.equal((await startServer(t, home, { command: file })).status.kind, "missing");
  const failing = await startServer(t, home, { command: "false" }, []);
  assert(failing.status.kind === "failed" && failing.status.isFinal);
});

test("a program that never answers is named and ended", async (t) => {
  const server = new Server(() => ({ command: "sh", args: ["-c", "exec cat >/dev/null"], clientInfo: { name: "test" } }), [1], 50);
  t.after(() => server.stop());
  server.restart();
  await until(server.changed, () => server.status.kind !== "starting");
  const { status } = server;
  assert(status.kind === "failed" && status.isFinal);
  assert.match(status.error.message, /^`sh` says nothing/);
});

test("a transcript has the newest page, older ones when asked, and goes on", async (t) => {
  const home = await emptyHome(t);
  const file = await writeSession(home, uuid(1), "Message 0.");
  for (let minute = 1; minute < 25; minute += 1) await appendFile(file, message(uuid(1), `Message ${minute}.`, minute));
  const server = await startServer(t, home, {}, [1]);
  const transcript = new Transcript(server, id(1), { home, page: 10 });
  t.after(() => transcript.close());
  await transcript.open();
  const shown = () => [...transcript.text().matchAll(/Message (\d+)\./g)].map(([, number]) => Number(number));
  const range = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => from + at);
  // The title has the first one, too.
  assert.deepEqual(shown(), [0, ...range(15, 25)]);
  assert(transcript.hasOlder);
  await Promise.all([transcript.loadOlder(), transcript.loadOlder()]);
  assert.deepEqual(shown(), [0, ...range(5, 25)]);
  await transcript.loadOlder();
  assert.deepEqual([shown(), transcript.hasOlder], [[0, ...range(0, 25)], false]);

  await appendFile(file, message(uuid(1), "Message 25.", 25));
  await until(transcript.changed, () => shown().includes(25));
  await rm(file);
  await until(transcript.changed, () => transcript.text().includes("The session is gone"));
  await writeSession(home, uuid(1), "Message 77.");
  await until(transcript.changed, () => shown().includes(77));
  assert.deepEqual(shown(), [77, 77]);

  // Another server goes on with it.
  server.changed.on(() => void transcript.open());
  const { pid } = server.client!;
  process.kill(pid, "SIGKILL");
  await until(server.changed, () => server.client && server.client.pid !== pid);
  await appendFile(file, message(uuid(1), "Message 78.", 78));
  await until(transcript.changed, () => shown().includes(78));
});

test("a session that is not there is told in its transcript", async (t) => {
  const server: Server = await startServer(t, await emptyHome(t));
  const transcript = new Transcript(server, "codex:gone", { home: "", page: 10 });
  await transcript.open();
  assert.match(transcript.text(), /There is no such session/);
});
