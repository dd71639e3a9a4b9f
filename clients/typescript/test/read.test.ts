import assert from "node:assert/strict";
import { test } from "node:test";
import { TackroomError } from "tackroom-client";
import { collect, emptyHome, homeWithStores, spawn, uuid, WORKSPACE, writeSession } from "./support.js";

const refused = (reason: string) => (error: unknown) => error instanceof TackroomError && error.reason === reason;

test("every method that reads is answered", async (t) => {
  const home = await homeWithStores(t);
  const client = await spawn(t, home);
  const { entries, total, revision } = await client.request("registry/list", { query: { harnesses: ["claude-code"] }, limit: 2 });
  assert.equal(entries.length, 2);
  assert(total > 2 && revision);
  const [first] = entries;
  assert(first);

  const { entry } = await client.request("registry/describe", { id: first.id });
  assert.equal(entry.title, first.title);
  const { session, messages } = await client.request("session/load", { id: first.id, limit: 5 });
  assert.equal(session.id, first.id);
  const [block] = messages.flatMap(({ content }) => content);
  assert(block?.type === "text" ? block.text : block);

  const source = { harness: first.harness, sessionId: first.sessionId };
  assert.deepEqual(await client.request("registry/states", { sources: [source] }), { states: [source] });
  const { harnesses } = await client.request("registry/coverage", { harnesses: ["codex"] });
  assert.equal(harnesses[0]?.roots[0]?.origin, "default");
  assert.deepEqual(await client.request("runtime/receipts"), { receipts: [] });
  assert.deepEqual(await client.request("runtime/discover", { source: { ...source, workspace: WORKSPACE } }), {});
  await assert.rejects(client.request("runtime/describe", { id: first.id }), refused("not_live"));
  assert.deepEqual(await client.request("peer/list"), { peers: [] });
  await assert.rejects(client.request("peer/resolve", { name: "nobody" }), refused("not_live"));
  const settings = await client.request("settings/read");
  assert.equal(settings.evidence, "user");
  assert.equal((await client.request("rpc.discover") as { openrpc: string }).openrpc[0], "1");
  await client.request("ping");
});

test("a list goes on over its pages", async (t) => {
  const client = await spawn(t, await homeWithStores(t));
  const pages = await collect(client.pages({ live: false }, { limit: 3 }));
  assert(pages.length > 2);
  const paged = pages.flatMap(({ entries }) => entries.map(({ id }) => id));
  assert.equal(paged.length, pages[0]?.total);
  assert.deepEqual((await collect(client.list({ live: false }))).map(({ id }) => id), paged);
  for await (const entry of client.list()) {
    assert.equal(entry.id, paged[0]);
    break;
  }
});

test("homes are looked into beside those of the environment", async (t) => {
  const [home, other] = [await emptyHome(t), await emptyHome(t)];
  await writeSession(other, uuid(1), "Mend the roof");
  const client = await spawn(t, home, { homes: { "claude-code": [`${other}/.claude`] } });
  assert.deepEqual((await collect(client.list())).map(({ title }) => title), ["Mend the roof"]);
});

test("a request is narrowed by its own authority", async (t) => {
  const client = await spawn(t, await homeWithStores(t));
  const authority = { harnesses: ["codex" as const] };
  const entries = await collect(client.list({}, { authority }));
  assert(entries.length > 0 && entries.every(({ harness }) => harness === "codex"));
});

test("an error says its reason, and what belongs to it", async (t) => {
  const client = await spawn(t, await emptyHome(t));
  await assert.rejects(client.request("registry/describe", { id: "codex:none" }), (error) => {
    assert(error instanceof TackroomError && error instanceof Error);
    assert.equal(error.code, -32001);
    assert.equal(error.reason, "not_found");
    assert.match(error.message, /registry\/list/);
    return true;
  });
  await assert.rejects(client.request("settings/update", { crossSessionInbound: "hold" }), (error) => {
    assert(error instanceof TackroomError);
    assert.deepEqual([error.reason, error.data["permission"]], ["unauthorized", "configure"]);
    return true;
  });
  await assert.rejects(client.request("registry/list", { limit: -1 }), refused("invalid_params"));
});
