import assert from "node:assert/strict";
import { test } from "node:test";
import type { Entry, State } from "tackroom-client";
import { contextOf, markOf, tabOf, titleOf } from "../src/sessions/entry";
import { itemOf } from "../src/sessions/item";
import { type GroupNode, type Node, PAGE, TreeModel } from "../src/sessions/model";

const entry = (number: number, more: Partial<Entry> = {}): Entry => ({
  id: `claude-code:${number}`,
  harness: "claude-code",
  sessionId: String(number),
  state: "persisted",
  workspace: "/dev/a",
  title: `Title ${number}`,
  updatedAtMs: number,
  ...more,
});

function model(entries: Entry[]): TreeModel {
  const made = new TreeModel({ grouping: "workspace", liveOnly: false, text: "" });
  made.replace(entries);
  assert.equal(made.flush(), entries.length > 0 ? "all" : undefined);
  return made;
}

const nameOf = (node: Node) => (node.kind === "group" ? node.name : node.kind === "session" ? node.entry.sessionId : `+${node.count}`);
const drawn = (made: TreeModel) =>
  made.roots().map((node) => [nameOf(node), ...(node.kind === "group" ? made.sessions(node).map(nameOf) : [])].join(" "));

test("what needs a person stands first, in groups and among them", () => {
  const states: State[] = ["persisted", "idle", "busy", "waiting", "live", "shutting_down"];
  const entries = states.map((state, number) => entry(number, { state }));
  const made = model([...entries, entry(9, { workspace: "/dev/b" }), entry(8, { workspace: "/dev/c", state: "waiting" })]);
  assert.deepEqual(drawn(made), ["/dev/c 8", "/dev/a 3 2 1 4 5 0", "/dev/b 9"]);
  const [first] = made.roots() as GroupNode[];
  assert.deepEqual([first!.waiting, first!.live], [1, 1]);
});

test("only what changed is drawn anew, and its nodes stay the same", () => {
  const made = model([entry(1), entry(2), entry(3, { workspace: "/dev/b" })]);
  const node = made.find("claude-code:2");
  made.set(entry(2, { title: "Another" }));
  assert.deepEqual(made.flush(), [node]);
  assert.equal(node?.entry.title, "Another");

  made.set(entry(1, { updatedAtMs: 2.5 }));
  assert.deepEqual((made.flush() as Node[]).map(nameOf), ["/dev/a"]);
  made.set(entry(1, { updatedAtMs: 5 }));
  assert.equal(made.flush(), "all", "the groups change places");
  assert.deepEqual(drawn(made), ["/dev/a 1 2", "/dev/b 3"]);
  assert.equal(made.find("claude-code:2"), node);

  made.remove("claude-code:3");
  assert.equal(made.flush(), "all");
  assert.deepEqual(drawn(made), ["/dev/a 1 2"]);
  assert.equal(made.flush(), undefined);
});

test("all told again draws only what is not as it was", () => {
  const made = model([entry(1), entry(2)]);
  made.replace([entry(1), entry(2)]);
  assert.equal(made.flush(), undefined);
  made.replace([entry(2), entry(1, { title: "Another" })]);
  assert.deepEqual((made.flush() as Node[]).map(nameOf), ["1"]);
  made.replace([entry(2)]);
  assert.deepEqual((made.flush() as Node[]).map(nameOf), ["/dev/a"]);
});

test("a session that moves to another workspace is in one place", () => {
  const made = model([entry(1), entry(2)]);
  made.set(entry(2, { workspace: "/dev/b" }));
  assert.equal(made.flush(), "all");
  assert.deepEqual(drawn(made), ["/dev/b 2", "/dev/a 1"]);
});

test("a shape changes what is shown, and how", () => {
  const entries = [entry(1, { state: "busy" }), entry(2, { harness: "codex" }), entry(3, { title: "ROOF" })];
  const made = model(entries);
  made.reshape({ grouping: "harness", liveOnly: false, text: "" }, entries);
  assert.equal(made.flush(), "all");
  assert.deepEqual(drawn(made), ["claude-code 1 3", "codex 2"]);
  made.reshape({ grouping: "harness", liveOnly: true, text: "" }, entries);
  made.flush();
  assert.deepEqual(drawn(made), ["claude-code 1"]);
  made.set(entry(1));
  assert.equal(made.flush(), "all");
  assert.deepEqual(drawn(made), []);
  made.reshape({ grouping: "workspace", liveOnly: false, text: "roof" }, entries);
  made.flush();
  assert.deepEqual(drawn(made), ["/dev/a 3"]);
});

test("a group shows what lives and a page of the rest, and more when asked for", () => {
  const many = Array.from({ length: PAGE + 5 }, (_, number) => entry(number));
  const made = model([...many, entry(1_000, { state: "idle", updatedAtMs: 0 })]);
  const [group] = made.roots() as GroupNode[];
  assert.equal(made.sessions(group!).length, 1 + PAGE + 1);
  assert.deepEqual(made.sessions(group!).slice(-1).map(nameOf), ["+5"]);
  made.showMore(group);
  assert.deepEqual(made.flush(), [group]);
  assert.equal(made.sessions(group!).length, PAGE + 6);
});

test("ten thousand sessions in as many workspaces are shown a hundred at a time, and changes are cheap", () => {
  const many = Array.from({ length: 10_000 }, (_, number) => entry(number, { workspace: `/dev/${number}` }));
  const made = model(many);
  assert.deepEqual(made.roots().length, 101);
  assert.equal(nameOf(made.roots().at(-1)!), "+9900");
  made.showMore(undefined);
  assert.equal(made.flush(), "all");
  assert.equal(made.roots().length, 201);
  made.set(entry(9_999, { workspace: "/dev/9999", title: "Another" }));
  assert.equal((made.flush() as Node[]).length, 1);
});

test("an entry is called and marked as the command line does", () => {
  assert.equal(titleOf(entry(1, { title: "a\nb\u202e" })), "a b\ufffd");
  const { title: _, ...untitled } = entry(1);
  assert.equal(titleOf({ ...untitled, peer: { name: "roofer" } }), "roofer");
  assert.equal(titleOf(untitled), "1");
  const runtime = entry(1, {
    doors: ["runtime"],
    owner: { pid: 1, controller: { clientId: "me", expiresAtMs: 1 } },
    observers: ["me", "you"].map((clientId) => ({ clientId, lastSeenMs: 1 })),
    resume: { argv: ["x"] },
    state: "idle",
  });
  assert.equal(markOf(runtime), "runtime: me drives, 1 looks");
  assert.equal(contextOf(runtime), "session attach resume live");
  assert.equal(markOf(entry(1, { activity: { source: "claude-registry", waitingFor: "permission prompt" } })), "permission prompt");
  assert.equal(markOf(entry(1, { parent: { relation: "fork" } })), "fork");
});

test("what is picked shows and matches its peer name, and no picture comes from a title", () => {
  const named = itemOf(entry(1, { title: "$(error) Roof", peer: { name: "roofer" } }), 1_000, "/dev");
  assert.equal(named.label, "$\u200b(error) Roof");
  assert.deepEqual([named.description, named.detail], ["roofer · persisted · claude-code · 0s", "~/a"]);
  assert.match(itemOf(entry(1, { title: "roofer", peer: { name: "roofer" } }), 1_000, "/dev").description, /^persisted/);
  assert.equal(tabOf(entry(1)), "Title 1 · a");
});
