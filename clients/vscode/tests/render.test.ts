import assert from "node:assert/strict";
import { test } from "node:test";
import type { Block, Message } from "tackroom-client";
import { heading, rendered } from "../src/transcript/render";

const NOW = new Date(2026, 0, 2, 12).getTime();
const say = (role: Message["role"], content: Block[] | string, more: Partial<Message> = {}): Message => ({
  role,
  content: typeof content === "string" ? [{ type: "text", text: content }] : content,
  timestampMs: NOW,
  ...more,
});
const shown = (...messages: Message[]) => rendered(messages, NOW).join("\n");

test("who speaks is said once, until somebody else does or after a pause", () => {
  const result: Block = { type: "toolResult", id: "1", content: [{ type: "text", text: "two" }] };
  const text = shown(
    say("user", "one"),
    say("assistant", [{ type: "toolCall", id: "1", name: "Bash", arguments: { command: "ls" } }], { model: "m" }),
    say("tool", [result]),
    say("assistant", "three", { model: "m" }),
    say("assistant", "four", { model: "m", timestampMs: NOW + 400_000 }),
  );
  assert.equal(
    text,
    '## user - 12:00:00\n\none\n\n## assistant - 12:00:00 - m\n\n**Bash** `{"command":"ls"}`\n\n```text\ntwo\n```\n\nthree\n\n' +
      "## assistant - 12:06:40 - m\n\nfour\n",
  );
});

test("what tools say stays between its fences, and is shortened", () => {
  const result = (text: string, isError = false): Message => say("tool", [{ type: "toolResult", id: "1", isError, content: [{ type: "text", text }] }]);
  assert.equal(shown(result("a\n```\n# b")), "````text\na\n```\n# b\n````\n");
  assert.equal(shown(result("", true)), "*failed:*\n\n*(no output)*\n");
  const long = shown(result(Array.from({ length: 100 }, (_, number) => number).join("\n")));
  assert(long.endsWith("39\n… 60 more lines\n```\n"), long);
});

test("every kind of block is told", () => {
  const blocks: Block[] = [
    { type: "thinking", text: "hm\n\nso" },
    { type: "thinking", text: "" },
    { type: "image", mediaType: "image/png" },
    { type: "toolCall", id: "1", name: "x\u001b[m", arguments: "`a` ``b``" },
    { type: "other", kind: "brand new", raw: {} },
  ];
  assert.equal(
    shown(say("assistant", blocks)),
    "## assistant - 12:00:00\n\n> hm\n>\n> so\n\n*[image image/png]*\n\n**x** ``` `a` ``b`` ```\n\n*[brand new]*\n",
  );
  assert.equal(shown(say("assistant", [{ type: "thinking", text: "" }])), "");
});

test("no link is a command of the editor, and code stays as it is", () => {
  const text = shown(say("user", "The command: ls\n[a](command:x) <Command:y> `command:z`\n[b]: command:w\n```\nrun(command:x)\n```"));
  assert(text.includes("The command: ls\n[a](command :x) <command :y> `command:z`\n[b]: command :w\n```\nrun(command:x)\n```"), text);
});

test("a fence that a message leaves open ends with it", () => {
  const said = (text: string) => shown(say("user", text)).replace("## user - 12:00:00\n\n", "").trimEnd();
  assert.equal(said("a\n```sh\n# ls"), "a\n```sh\n# ls\n```");
  assert.equal(said("   ~~~~\n   ~~~\n   ```"), "~~~~\n   ~~~\n   ```\n~~~~");
  assert.equal(said("a\n   ```\n   x"), "a\n   ```\n   x\n   ```");
  assert.equal(said("```\nx\n````\n``` a`b"), "```\nx\n````\n``` a`b");
  // A line that ends a list ends the fence in it.
  assert.equal(said("- ```\n  x\n## user"), "- ```\n  x\n  ```\n\\## user");
});

test("a message speaks for nobody else", () => {
  const text = shown(say("assistant", "ok\n\n## user - 18:57:00\n\nYes\n\nuser\n---\n  # x\n\n---\n#7 is <!-- done\n<h2>user</h2>\n```\n# code\n```\n## y"));
  assert.equal(
    text,
    "## assistant - 12:00:00\n\nok\n\n\\## user - 18:57:00\n\nYes\n\nuser\n\\---\n  \\# x\n\n---\n#7 is <\\!-- done\n\\<h2>user</h2>\n```\n# code\n```\n\\## y\n",
  );
});

test("control characters do nothing", () => {
  assert.equal(shown(say("user", "\u001b[31mred\u001b[0m \u202eback")), "## user - 12:00:00\n\nred \ufffdback\n");
  const entry = { id: "codex:1", harness: "codex", sessionId: "1", state: "idle", title: "a\nb", workspace: "/home/me/x" } as const;
  assert.equal(heading(entry, "/home/me"), "# a b\n\ncodex - ~/x - `codex:1`\n");
});
