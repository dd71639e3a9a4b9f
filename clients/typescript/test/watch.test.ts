import assert from "node:assert/strict";
import { appendFile, rm } from "node:fs/promises";
import { test } from "node:test";
import { Inventory, TackroomError, type WatchEvent } from "tackroom-client";
import { emptyHome, homeWithStores, message, spawn, until, uuid, WORKSPACE, writeSession } from "./support.js";

const id = (number: number) => `claude-code:${uuid(number)}`;
const isSynced = ({ kind }: WatchEvent) => kind === "synced";

test("a watch tells what there is and then what changes", async (t) => {
  const home = await emptyHome(t);
  const file = await writeSession(home, uuid(1), "First");
  const client = await spawn(t, home);
  await using watch = await client.watch();
  const [added] = await until(watch, isSynced);
  assert(added?.kind === "added" && added.entry.id === id(1));

  await appendFile(file, message(uuid(1), "more", 30));
  const [updated] = await until(watch, ({ kind }) => kind === "updated");
  assert(updated?.kind === "updated" && updated.entry.updatedAtMs === Date.UTC(2026, 0, 2, 0, 30));
  await writeSession(home, uuid(2), "Second");
  await until(watch, (event) => event.kind === "added" && event.entry.id === id(2));
  await rm(file);
  await until(watch, (event) => event.kind === "removed" && event.id === id(1));
});

test("an inventory is what a list answers", async (t) => {
  const home = await homeWithStores(t);
  const client = await spawn(t, home);
  const inventory = new Inventory();
  const watch = await client.watch();
  for await (const event of watch) {
    inventory.apply(event);
    if (inventory.isSynced) break;
  }
  const { entries, revision } = await client.request("registry/list", { limit: 1000 });
  const sorted = (ids: Iterable<string>) => [...ids].sort();
  assert.deepEqual(sorted(inventory.entries.keys()), sorted(entries.map(({ id }) => id)));
  assert.equal(inventory.revision, revision);
  // The loop has ended the watch.
  assert.equal((await watch.next()).done, true);
});

test("a watch goes on from a revision", async (t) => {
  const home = await emptyHome(t);
  await writeSession(home, uuid(1), "First");
  const client = await spawn(t, home);
  await using first = await client.watch();
  const revision = (await until(first, isSynced)).at(-1)!.revision;
  await writeSession(home, uuid(2), "Second");
  await until(first, ({ kind }) => kind === "added");
  await using later = await client.watch({}, { since: revision });
  const events = await until(later, isSynced);
  assert.deepEqual(events.map((event) => "entry" in event && event.entry.id), [id(2), false]);
});

test("what is out of scope from now on is gone from an inventory", async (t) => {
  const home = await homeWithStores(t);
  await writeSession(home, uuid(1), "First");
  const client = await spawn(t, home);
  await using watch = await client.watch();
  const inventory = new Inventory();
  for (const event of await until(watch, isSynced)) inventory.apply(event);
  assert(inventory.entries.size > 1);
  await client.request("authority/narrow", { authority: { workspaces: [WORKSPACE] } });
  const events = await until(watch, isSynced);
  assert.equal(events[0]?.kind, "resync");
  for (const event of events) inventory.apply(event);
  assert.deepEqual([...inventory.entries.keys()], [id(1)]);
});

test("a signal ends a watch, and the server forgets it", async (t) => {
  const client = await spawn(t, await emptyHome(t), { args: ["serve", "--limit", "subscriptions=1"] });
  const abort = new AbortController();
  const watch = await client.watch({}, { signal: abort.signal });
  await until(watch, isSynced);
  const next = watch.next();
  await assert.rejects(client.watch(), (error: TackroomError) => error.reason === "limit");
  abort.abort();
  await assert.rejects(next, { name: "AbortError" });
  assert.equal((await watch.next()).done, true);
  await watch.return();
  await client.watch();
});

test("who takes nothing is told the latest of each entry, and other requests are answered meanwhile", async (t) => {
  const home = await emptyHome(t);
  const file = await writeSession(home, uuid(1), "First");
  const client = await spawn(t, home);
  const [unread, read] = [await client.watch(), await client.watch()];
  await until(read, isSynced);
  for (const minute of [10, 20, 30]) {
    await appendFile(file, message(uuid(1), `${minute}`, minute));
    const time = Date.UTC(2026, 0, 2, 0, minute);
    await until(read, (event) => event.kind === "updated" && event.entry.updatedAtMs === time);
  }
  await client.request("ping");
  const last = (event: WatchEvent) => "entry" in event && event.entry.updatedAtMs === Date.UTC(2026, 0, 2, 0, 30);
  const events = await until(unread, last);
  assert(events[0]?.kind === "added");
  // Only the last change may be on its way yet.
  assert(events.length <= 3, `${events.length} events`);
});

test("a session is followed from where it was", async (t) => {
  const home = await emptyHome(t);
  const file = await writeSession(home, uuid(1), "First");
  const client = await spawn(t, home);
  const follow = await client.follow(id(1));
  assert.equal(follow.session.title, "First");
  const before = await client.request("session/load", { id: id(1), cursor: follow.cursor });
  assert.equal(before.messages.length, 1);
  await appendFile(file, message(uuid(1), "more"));
  for await (const event of follow) {
    assert(event.kind === "appended");
    assert.deepEqual(event.messages.map(({ content }) => content), [[{ type: "text", text: "more" }]]);
    break;
  }
  await assert.rejects(client.follow("claude-code:none"), (error: TackroomError) => error.reason === "not_found");
});
