import assert from "node:assert/strict";
import { test } from "node:test";
import { Asked } from "../src/attach/asked";
import { Canvas } from "../src/attach/canvas";
import { Editor } from "../src/attach/editor";
import { Keys } from "../src/attach/keys";
import { note } from "../src/attach/line";
import { noticeOf } from "../src/attach/notice";
import { read } from "../src/attach/typed";
import { historyLines, View } from "../src/attach/view";
import { clip, lastRows, width } from "../src/attach/width";

const asked = (kind: string, payload: object) => Asked.of({ request: { id: 7, kind, payload } })!;
const texts = (lines: Array<{ text: string }>) => lines.map(({ text }) => text);

test("who approves sees all of what would run", () => {
  const main = asked("approval", { tool: "bash", subject: "ls", raw_args: { command: "ls\n\u202ex" } });
  assert.deepEqual(texts(main.lines()), ["? request 7: may it run bash?", '  {"command":"ls\\n\ufffdx"}']);
  const hosted = asked("approval", { tool: "Bash", arguments: { command: "x".repeat(5_000) } });
  assert.match(texts(hosted.lines())[1]!, /more characters$/);
  assert.deepEqual(texts(asked("approval", { tool: "bash", child_agent_id: "c1", raw_args: null }).lines()), ["? request 7: may it run bash of subagent c1?"]);
  assert.equal(Asked.of({ request: { id: "x" } }), undefined);
  assert.equal(Asked.of(undefined), undefined);
});

test("a long name cuts off no choice", () => {
  assert.match(asked("approval", { tool: "x".repeat(300) }).choices(), /^y runs it, n does not, a allows it for this session: x+… 100/);
  assert.match(asked("elicitation", { message: "Why?" }).choices(), /cancel: Why\?$/);
});

test("a notification is small, and allows only what it shows whole", () => {
  const notice = (kind: string, payload: object) => noticeOf("n".repeat(100), asked(kind, payload));
  assert.deepEqual(notice("approval", { tool: "bash", raw_args: { command: "ls" } }).choices, ["Show", "Deny", "Allow", "Allow for Session"]);
  for (const payload of [{ tool: "bash", raw_args: "x".repeat(4_000) }, { tool: "x".repeat(4_000) }]) {
    const { text, choices } = notice("approval", payload);
    assert.deepEqual(choices, ["Show", "Deny"]);
    assert(text.length < 450, text);
  }
  const question = notice("elicitation", { message: "x".repeat(4_000) });
  assert.deepEqual(question.choices, ["Show"]);
  assert(question.text.length < 450);
});

test("only the letters alone decide", () => {
  const approval = asked("approval", { tool: "bash" });
  const decided = (line: string) => (approval.answer(line) as { decision?: string } | undefined)?.decision;
  assert.deepEqual([" y ", "n", "a"].map(decided), ["allow", "deny", "allow_for_session"]);
  for (const line of ["", "yes", "Y", "and then", "/decline", "constructor"]) assert.equal(decided(line), undefined, line);
});

test("a question takes JSON or text", () => {
  const question = asked("elicitation", { message: "Which\nport?", requested_schema: { type: "object" } });
  assert.deepEqual(texts(question.lines()), ["? request 7: Which port?"]);
  const accepted = (content: unknown) => ({ kind: "elicitation", requestId: 7, action: "accept", content });
  assert.deepEqual(question.answer('{"port": 1}'), accepted({ port: 1 }));
  assert.deepEqual(question.answer("the first"), accepted("the first"));
  assert.deepEqual(question.answer("/decline"), { kind: "elicitation", requestId: 7, action: "decline" });
  assert.deepEqual([question.answer(""), question.answer("/take")], [undefined, undefined]);
  assert.equal(asked("picture", { x: 1 }).answer("1")?.kind, "other");
});

test("a line is said, answered or obeyed", () => {
  const approval = asked("approval", { tool: "bash" });
  assert.deepEqual(read("  mend it ", undefined), { kind: "say", text: "mend it" });
  assert.deepEqual(read("//deploy now", undefined), { kind: "say", text: "/deploy now" });
  assert.deepEqual(read("y", undefined), { kind: "say", text: "y" });
  assert.equal(read("y", approval).kind, "answer");
  assert.equal(read("yes", approval).kind, "unanswered");
  assert.deepEqual(read("/steer  faster\nnow", approval), { kind: "steer", text: "faster\nnow" });
  assert.deepEqual(["/take", "/release", "/again", "/quit", "/help", " "].map((line) => read(line, undefined).kind), ["take", "release", "again", "quit", "help", "nothing"]);
  for (const line of ["/steer", "/take it", "/decline", "/"]) assert.equal(read(line, undefined).kind, "unknown", line);
});

test("events become lines, and what is said grows", () => {
  const view = new View();
  const told = (kind: string, payload: object = {}) => texts(view.event(kind, payload));
  assert.deepEqual(told("user_message", { text: "Mend\nit" }), ["> Mend", "  it"]);
  told("turn_started");
  assert.deepEqual(told("text_delta", { text: "one\ntw\x1b[" }), ["one"]);
  assert.equal(view.partial?.text, "tw");
  assert.deepEqual(told("text_delta", { text: "31mo" }), []);
  assert.deepEqual(told("reasoning", { text: "hm" }), ["two"]);
  assert.deepEqual(told("tool_call_started", { name: "bash", arguments: '{"a":1}' }), ["~ hm", '* bash {"a":1}']);
  const output = Array.from({ length: 20 }, (_, number) => number).join("\n");
  assert.deepEqual(told("tool_call_completed", { output }).slice(-2), ["  | 11", "  … 8 more lines"]);
  assert.deepEqual(told("turn_succeeded", { reply: "said already" }), []);
  told("turn_started");
  assert.deepEqual(told("turn_succeeded", { reply: "not said before" }), ["not said before"]);
  assert.deepEqual(told("request_resolved", { request_id: 3, response: { action: "decline" } }), ["-- request 3: declined"]);
  for (const kind of ["brand_new", "native_event", "operations_changed", "usage"]) assert.deepEqual(texts(view.event(kind, null)), [], kind);
  assert.equal(told("text_delta", { text: "x".repeat(40_000) }).length, 2);
});

test("only the decisions that a request lists are offered and accepted", () => {
  const listed = (decisions: unknown) => asked("approval", { tool: "bash", raw_args: "ls", decisions });
  const once = listed(["deny", "allow", "of the future"]);
  assert.match(once.choices(), /^y runs it, n does not: bash/);
  assert.deepEqual(["y", "n", "a"].map((key) => once.answer(key) !== undefined), [true, true, false]);
  assert.deepEqual(noticeOf("n", once).choices, ["Show", "Deny", "Allow"]);
  assert.deepEqual(noticeOf("n", listed(["deny", "allow_for_session"])).choices, ["Show", "Deny", "Allow for Session"]);
  assert.deepEqual(noticeOf("n", listed(["allow"])).choices, ["Show", "Allow"]);
  assert.deepEqual(noticeOf("n", listed(null)).choices, ["Show", "Deny", "Allow", "Allow for Session"]);
});

test("fields of a form keep the order that the host lists", () => {
  const properties = { 1: { type: "string" }, 10: { type: "string" }, port: { type: "string" } };
  const payload = { message: "?", requested_schema: { properties, required: ["1", "10", "port"] }, field_order: ["port", "10", "gone", 7] };
  assert.deepEqual(texts(asked("elicitation", payload).lines()).slice(1), ["  port", "  10", "  1"]);
});

test("a form is shown with its choices", () => {
  const colour = { type: "string", title: "Colour", oneOf: [{ const: "Red", title: "Red — warm" }, { const: "Blue", title: "Blue — cold" }] };
  const properties = { q: colour, q_custom: { type: "string", title: "Other" }, port: { type: "integer", description: "Which\nport?" } };
  const question = asked("elicitation", { message: "Set it up", requested_schema: { properties, required: ["port"] } });
  const fields = ["  Colour (optional)", "    1. Red — warm", "    2. Blue — cold", "  port - Which port?"];
  assert.deepEqual(texts(question.lines()), ["? request 7: Set it up", ...fields]);
  assert.match(question.choices(), /the answers with ; between/);
});

test("a call is shown once it is known what is called, and a note never interrupts a text", () => {
  const view = new View();
  const told = (kind: string, payload: object = {}) => texts(view.event(kind, payload));
  const command = '{"command":"ls"}';
  assert.deepEqual(told("tool_call_started", { id: "1", name: "Terminal", arguments: "{}", status: "pending" }), []);
  assert.equal(view.partial?.text, "* Terminal {}");
  assert.deepEqual(told("tool_call_updated", { id: "1", name: "ls", arguments: command }), [`* ls ${command}`]);
  assert.deepEqual(told("tool_call_completed", { id: "1", name: "ls", arguments: command, output: "a" }), ["  | a"]);
  assert.deepEqual(told("text_delta", { text: "one " }), []);
  assert.deepEqual(told("native_event", { kind: "usage_update" }), []);
  assert.deepEqual(told("model_changed", { from: "a", to: "b", reason: "c" }), []);
  assert.deepEqual(told("text_delta", { text: "sentence" }), []);
  assert.deepEqual(told("turn_completed"), ["one sentence", "-- the model changed from a to b: c"]);
});

test("a message of the history is shortened", () => {
  const calls = [{ function: { name: "bash", arguments: "{}" } }];
  assert.deepEqual(texts(historyLines({ role: "assistant", content: [{ type: "text", text: "a" }, { type: "image_url" }], tool_calls: calls })), ["a", "[image]", "* bash {}"]);
  assert.deepEqual(texts(historyLines({ role: "system", content: "1\n2\n3" })), ["-- 1", "-- 2", "  … 1 more line"]);
  assert.deepEqual(historyLines(null), []);
});

test("keys are read, and what is pasted is one", () => {
  const keys = new Keys();
  assert.deepEqual(keys.take("a\x1b[D\x1bOC\x1b[1;5C\x1b[3~\x7f\r\x03").map((key) => ("text" in key ? key.text : "letter" in key ? `^${key.letter}` : key.kind)), [
    "a", "left", "right", "right", "delete", "backspace", "enter", "^c",
  ]);
  assert.deepEqual(keys.take("\x1b[200~one\rt"), []);
  assert.deepEqual(keys.take("wo\x1b[201~x"), [{ kind: "paste", text: "one\rtwo" }, { kind: "text", text: "x" }]);
  assert.deepEqual(keys.take("\x1b[5~\x1bx"), []);
});

test("a line is edited", () => {
  const editor = new Editor();
  const type = (input: string) => new Keys().take(input).forEach((key) => editor.edit(key));
  type("one two😀\x7f\x1b[H\x1b[3~O\x05!\x17three");
  assert.deepEqual(editor.visible(20), { text: "One three", column: 9 });
  type("\x1b[200~\r\n\x1b[31mx\x1b[201~");
  assert.deepEqual(editor.visible(20), { text: "One three⏎x", column: 11 });
  assert.deepEqual(editor.visible(5), { text: "ee⏎x", column: 4 });
  type("\x01");
  assert.deepEqual(editor.visible(5), { text: "One ", column: 0 });
  assert.equal(editor.take(), "One three\nx");
  assert(editor.isEmpty);
});

test("columns are counted as a terminal does", () => {
  assert.deepEqual(["ab", "東京", "e\u0301", "😀"].map(width), [2, 4, 1, 2]);
  assert.equal(clip("東京x", 3), "東");
  assert.deepEqual(lastRows("aa東bb", 3, 2), ["東b", "b"]);
});

test("the rows below are drawn over, also where they were broken", () => {
  const canvas = new Canvas(20, 10);
  const below = { partial: note("x".repeat(30)), status: note("idle"), typed: "hello", column: 5 };
  assert.match(canvas.draw([note("one")], below), /-- one.*-- x+.*x+.*-- idle.*› hello\r\x1b\[7C/s);
  // Two rows of what is being said, and the status.
  assert.match(canvas.draw([], below), /\r\x1b\[3A\x1b\[J/);
  canvas.resize(10, 10);
  // Half as wide: the rows of 20, 13 and 7 take 2, 2 and 1.
  assert.match(canvas.close([]), /^\r\x1b\[5A\x1b\[J$/);
});
