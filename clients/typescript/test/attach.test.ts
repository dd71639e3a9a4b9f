import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { type RuntimeEvent, TackroomError } from "tackroom-client";
import { UNREAD_BYTES } from "../dist/unread.js";
import { FakeRuntime } from "./runtime.js";
import { collect, emptyHome, spawn, until } from "./support.js";

async function attached(t: TestContext, options = {}) {
  const home = await emptyHome(t);
  const runtime = await FakeRuntime.start(t, home);
  const client = await spawn(t, home, { allow: ["observe", "interact", "approve", "terminate"], ...options });
  return { runtime, client };
}

const sequenceOf = (event: RuntimeEvent) => ("sequence" in event ? event.sequence : undefined);
const iterate = (events: AsyncIterable<RuntimeEvent>) => events[Symbol.asyncIterator]();

test("a runtime is listed, joined, driven and left", async (t) => {
  const { runtime, client } = await attached(t);
  runtime.replay = [{ sequence: 4, kind: "user_message", payload: { type: "user_message", text: "Hello" } }];
  runtime.on("submit", ({ prompt }) => ({ reply: `${prompt}? Done.` }));

  const [entry] = await collect(client.list({ persisted: false }));
  assert.equal(entry?.runtimeId, runtime.id);
  const attachment = await client.attach(entry.id);
  assert.equal(attachment.descriptor["model"], "fake-model");
  assert.deepEqual(attachment.history, [{ role: "user", content: "Hello" }]);
  assert.equal(attachment.historyCursor, 3);

  const events = iterate(attachment);
  runtime.tell("text_delta", { text: "hidden: it has the number of the replay" });
  runtime.tell("text_delta", { text: "new" });
  const taken = await until(events, (event) => event.kind === "text_delta" && event.payload.text === "new");
  assert.deepEqual(taken.map((event) => [sequenceOf(event), event.kind]), [[4, "user_message"], [5, "text_delta"]]);

  assert.equal(await attachment.submit("Mend it"), "Mend it? Done.");
  await attachment.sendInput("And", { images: ["data:image/png;base64,AA=="] });
  assert.deepEqual((await runtime.called("send_input")).params["image_urls"], ["data:image/png;base64,AA=="]);
  await attachment.steer("left");
  assert.equal(await attachment.interrupt(), true);
  await attachment.respond({ kind: "approval", requestId: 7, decision: "allow" });
  assert.deepEqual((await runtime.called("respond")).params["response"], { kind: "approval", request_id: 7, decision: "allow" });

  assert.equal((await attachment.takeControl()).controller?.clientId, attachment.clientId);
  assert.equal(attachment.lease.controller?.clientId, attachment.clientId);
  await assert.rejects(attachment.closeRuntime(), (error: TackroomError) => error.reason === "unsupported_action");

  const last = events.next();
  await attachment.detach();
  assert.deepEqual(await last, { value: undefined, done: true });
  assert.equal((await runtime.called("detach")).client, attachment.clientId);
  await attachment.detach();
  await assert.rejects(attachment.submit("gone"), (error: TackroomError) => error.reason === "not_found");
});

test("a loop that is left leaves the attachment as it is", async (t) => {
  const { runtime, client } = await attached(t);
  await using attachment = await client.attach({ runtimeId: runtime.id });
  runtime.tell("turn_started");
  runtime.tell("turn_succeeded");
  const kinds: string[] = [];
  for await (const { kind } of attachment) {
    kinds.push(kind);
    break;
  }
  for await (const { kind } of attachment) {
    kinds.push(kind);
    break;
  }
  assert.deepEqual(kinds, ["turn_started", "turn_succeeded"]);
});

test("the end of a runtime's stream ends the events, and says why", async (t) => {
  const { runtime, client } = await attached(t);
  const attachment = await client.attach(runtime.id);
  runtime.tell("turn_started");
  runtime.endStreams();
  const events = await collect(attachment);
  assert.deepEqual(events.map(({ kind }) => kind), ["turn_started", "disconnected"]);
  assert(events[1]?.kind === "disconnected" && events[1].reason);
  await attachment.detach();
});

test("who takes no events lags, and can attach again from there", async (t) => {
  const { runtime, client } = await attached(t);
  const attachment = await client.attach(runtime.id);
  const text = "x".repeat(64 << 10);
  const count = UNREAD_BYTES / text.length;
  for (let number = 0; number < count; number += 1) runtime.tell("text_delta", { text });
  // That it has left is known to the runtime before anything was taken.
  await runtime.called("detach");
  const events = await collect(attachment);
  const last = events.pop();
  assert(last?.kind === "lagged");
  assert.equal(last.cursor, events.length + 3);
  assert.deepEqual(events.map(sequenceOf), events.map((_, index) => index + 4));
  await client.attach({ id: runtime.id, after: last.cursor });
});

test("a request is cancelled by a signal, and the server hears of it", async (t) => {
  const { runtime, client } = await attached(t, { args: ["serve", "--limit", "requestsInFlight=1"] });
  runtime.on("submit", () => new Promise(() => {}));
  const attachment = await client.attach(runtime.id);
  const abort = new AbortController();
  const submitted = attachment.submit("for ever", { signal: abort.signal });
  await runtime.called("submit");
  // There is no room for more than one: what is asked meanwhile waits, and need not.
  const answered: string[] = [];
  const asked = ["a", "b"].map((name) => client.request("ping").then(() => answered.push(name)));
  const leaving = new AbortController();
  const left = client.request("ping", {}, { signal: leaving.signal });
  leaving.abort(new Error("no more"));
  await assert.rejects(left, { message: "no more" });
  assert.deepEqual(answered, []);
  abort.abort();
  await assert.rejects(submitted, { name: "AbortError" });
  await Promise.all(asked);
  assert.deepEqual(answered, ["a", "b"]);
  await assert.rejects(client.request("ping", {}, { signal: AbortSignal.abort(new Error("before")) }), { message: "before" });
});

test("an attachment that is not waited for any more is let go", async (t) => {
  const { runtime, client } = await attached(t);
  runtime.on("attach", () => new Promise(() => {}));
  const abort = new AbortController();
  const joining = client.attach({ runtimeId: runtime.id }, { signal: abort.signal });
  await runtime.called("attach");
  abort.abort();
  await assert.rejects(joining, { name: "AbortError" });
  await runtime.left();
});

test("what is asked in vain is refused by its reason", async (t) => {
  const { runtime, client } = await attached(t, { allow: ["observe"] });
  const attachment = await client.attach(runtime.id);
  const refused = (error: unknown) =>
    error instanceof TackroomError && error.reason === "unauthorized" && error.data["permission"] === "interact";
  await assert.rejects(attachment.submit("no"), refused);
});

test("closing the client ends its attachments, and the runtime hears of it", async (t) => {
  const { runtime, client } = await attached(t);
  const attachment = await client.attach(runtime.id);
  runtime.on("submit", () => new Promise(() => {}));
  const submitted = assert.rejects(attachment.submit("for ever"), { message: "the client was closed" });
  await runtime.called("submit");
  const next = iterate(attachment).next();
  await client.close();
  assert.equal((await next).done, true);
  assert.equal((await client.ended).exitCode, 0);
  await submitted;
  await runtime.left();
  await attachment.detach();
});

test("the death of the server fails what waits, and says what it said", async (t) => {
  const { runtime, client } = await attached(t);
  runtime.on("submit", () => new Promise(() => {}));
  const attachment = await client.attach(runtime.id);
  const submitted = attachment.submit("for ever");
  const next = iterate(attachment).next();
  await runtime.called("submit");
  process.kill(client.pid, "SIGKILL");
  const killed = { name: "ServerError", signal: "SIGKILL", message: /was ended by SIGKILL/ };
  await Promise.all([assert.rejects(submitted, killed), assert.rejects(next, killed)]);
  await assert.rejects(client.request("ping"), killed);
  assert.equal((await client.ended).signal, "SIGKILL");
});
