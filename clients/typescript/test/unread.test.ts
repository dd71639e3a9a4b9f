// What is kept for who is slow, without a server.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Entry, Inventory, type Message, type RegistryEvent, type RuntimeEvent } from "tackroom-client";
import { Lines } from "../dist/lines.js";
import { Mailbox } from "../dist/mailbox.js";
import { UNREAD_BYTES, UnreadChanges, UnreadEvents, UnreadMessages } from "../dist/unread.js";

const entry = (id: string, title = ""): Entry => ({ id, harness: "codex", sessionId: id, state: "persisted", title });
const added = (id: string, title?: string): RegistryEvent => ({ kind: "added", entry: entry(id, title) });
const updated = (id: string, title?: string): RegistryEvent => ({ kind: "updated", entry: entry(id, title) });
const removed = (id: string): RegistryEvent => ({ kind: "removed", id });
const problem = { reason: "io" as const, message: "unreadable" };

/** What is told of these events to who takes them all at the end: kind, subject, revision. */
function told(...events: RegistryEvent[]): string[] {
  const unread = new UnreadChanges();
  events.forEach((event, index) => unread.put({ subscription: "s", revision: String(index), event }));
  return [...drain(unread)].map((event) => {
    const subject = "entry" in event ? `${event.entry.id}${event.entry.title}` : "id" in event ? event.id : "";
    return `${event.kind} ${subject} ${event.revision}`;
  });
}

function* drain<T>(unread: { take(): T | undefined }): Generator<T> {
  for (let taken; (taken = unread.take()) !== undefined; ) yield taken;
}

test("of each entry the latest is told, in the place and under the revision of the first", () => {
  assert.deepEqual(told(added("a", "1"), added("b"), updated("a", "2"), { kind: "synced" }, updated("a", "3")), [
    "added a3 0",
    "added b 1",
    "synced  3",
  ]);
  assert.deepEqual(told(updated("a", "1"), updated("a", "2")), ["updated a2 0"]);
});

test("what came and went meanwhile is not told", () => {
  assert.deepEqual(told(added("a"), removed("a")), []);
  assert.deepEqual(told(updated("a"), removed("a")), ["removed a 0"]);
  assert.deepEqual(told(removed("a"), added("a", "2")), ["updated a2 0"]);
  assert.deepEqual(told({ kind: "error", problem }, { kind: "recovered", problem }), []);
  assert.deepEqual(told({ kind: "error", problem }, { kind: "error", problem }), ["error  0"]);
});

test("when all is told again nothing of before is", () => {
  const again = [{ kind: "resync" as const }, added("b"), { kind: "synced" as const }];
  assert.deepEqual(told(added("a"), { kind: "synced" }, ...again, ...again), ["resync  5", "added b 6", "synced  7"]);
});

test("an inventory drops what is not told again, and keeps the problems that are", () => {
  const inventory = new Inventory();
  const apply = (...events: RegistryEvent[]) => events.forEach((event) => inventory.apply({ ...event, revision: "7" }));
  apply(added("a"), added("b"), { kind: "error", problem }, { kind: "synced" });
  assert.deepEqual([inventory.isSynced, inventory.entries.size, inventory.problems], [true, 2, [problem]]);
  apply({ kind: "resync" }, updated("b", "new"));
  assert.deepEqual([inventory.isSynced, inventory.entries.size], [false, 2]);
  apply({ kind: "synced" });
  assert.deepEqual([...inventory.entries.values()], [entry("b", "new")]);
  assert.deepEqual(inventory.problems, []);
  apply({ kind: "error", problem }, { kind: "recovered", problem }, removed("b"));
  assert.deepEqual([inventory.entries.size, inventory.problems.length, inventory.revision], [0, 0, "7"]);
});

test("too many messages become one that says to load them", () => {
  const unread = new UnreadMessages();
  const messages: Message[] = [];
  const append = (bytes: number) => unread.put({ kind: "appended", messages }, bytes);
  append(UNREAD_BYTES);
  assert.deepEqual([...drain(unread)], [{ kind: "appended", messages }]);
  append(UNREAD_BYTES);
  append(1);
  append(1);
  assert.deepEqual([...drain(unread)], [{ kind: "rewritten" }]);
  append(1);
  unread.put({ kind: "rewritten", cursor: "c" }, 1);
  append(1);
  assert.deepEqual([...drain(unread)], [{ kind: "rewritten", cursor: "c" }, { kind: "appended", messages }]);
});

const said = (sequence: number, text = ""): RuntimeEvent => ({ sequence, kind: "text_delta", payload: { text } });

test("too many events end with the number to go on from", () => {
  let lags = 0;
  const unread = new UnreadEvents(3, [said(4, "replayed")], () => (lags += 1));
  unread.put(said(5, "a"), UNREAD_BYTES);
  unread.put(said(6, "b"), 1);
  unread.put(said(7, "c"), 0);
  assert.deepEqual([...drain(unread)], [
    said(4, "replayed"),
    said(5, "a"),
    { kind: "lagged", cursor: 5 },
  ]);
  assert.equal(lags, 1);
});

test("a long queue is taken in order", () => {
  const unread = new UnreadEvents(0, [], () => {});
  const numbers = Array.from({ length: 100_000 }, (_, index) => index);
  for (const sequence of numbers) unread.put(said(sequence), 1);
  assert.deepEqual([...drain(unread)], numbers.map((sequence) => said(sequence)));
});

test("behind an end what is kept can be taken, then its error once; what is discarded cannot", async () => {
  const filled = () => {
    const mailbox = new Mailbox(new UnreadEvents(0, [], () => {}));
    mailbox.put(said(1, "kept"), 1);
    return mailbox;
  };
  const [ended, failed, discarded] = [filled(), filled(), filled()];
  ended.end();
  failed.end(new Error("gone"));
  discarded.discard();
  for (const mailbox of [ended, failed, discarded]) mailbox.put(said(2, "late"), 1);
  const kept = { value: said(1, "kept"), done: false };
  const done = { value: undefined, done: true };
  assert.deepEqual([await ended.next(), await ended.next()], [kept, done]);
  assert.deepEqual(await failed.next(), kept);
  await assert.rejects(failed.next(), { message: "gone" });
  assert.deepEqual(await failed.next(), done);
  assert.deepEqual(await discarded.next(), done);
});

test("lines are put together from any pieces", () => {
  const text = '{"é":1}\n\n{"b":"🐎"}\r\nlast';
  for (let size = 1; size <= Buffer.byteLength(text); size += 1) {
    const lines: string[] = [];
    const splitter = new Lines((line) => lines.push(line));
    for (let at = 0; at < Buffer.byteLength(text); at += size) splitter.push(Buffer.from(text).subarray(at, at + size));
    splitter.end();
    assert.deepEqual(lines, ['{"é":1}', '{"b":"🐎"}\r', "last"]);
  }
});
