import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { RuntimeEvent } from "tackroom-client";
import { FakeRuntime } from "../../typescript/test/runtime.js";
import { emptyHome } from "../../typescript/test/support.js";
import type { Asked } from "../src/attach/asked";
import { Console } from "../src/attach/console";
import { Emitter } from "../src/emitter";
import type { Server } from "../src/server";
import { startServer, until } from "./support.js";

/** A console and what a person sees of it. */
class Seat {
  readonly written = new Emitter<void>();
  readonly asks: Array<Asked | undefined> = [];
  readonly holders: string[] = [];
  readonly console: Console;
  takes = false;
  /** What the clock says, in milliseconds. */
  now = 0;
  hasLeft = false;
  #text = "";

  constructor(server: Server, id: string) {
    this.console = new Console(id, { columns: 200, rows: 40 }, {
      client: () => server.require(),
      now: () => this.now,
      write: (text) => {
        this.#text += text;
        this.written.fire();
      },
      left: () => (this.hasLeft = true),
      asks: (asked) => void this.asks.push(asked),
      mayTake: async (holder) => {
        this.holders.push(holder);
        return this.takes;
      },
    });
  }

  /** All that was ever written, without what only moves or paints. */
  get text(): string {
    return this.#text.replaceAll(/\x1b\[[0-9;?]*[A-Za-z]/g, "").replaceAll("\r", "");
  }

  /** What stands in the line that is typed. */
  get line(): string {
    return this.text.slice(this.text.lastIndexOf("› ") + 2);
  }

  shows(text: string): Promise<void> {
    return until(this.written, () => this.text.includes(text));
  }
}

async function seated(t: TestContext, allow?: ["observe"]) {
  const home = await emptyHome(t);
  const runtime = await FakeRuntime.start(t, home);
  const server = await startServer(t, home, allow && { allow }, [1]);
  const seat = new Seat(server, runtime.id);
  t.after(() => seat.console.close());
  await seat.console.open();
  return { runtime, server, seat };
}

const request = (id: number, kind = "approval") => ({ request: { id, kind, payload: { tool: "bash", message: "Which port?", raw_args: { command: "rm x" } } } });

test("a turn is begun, streams, and is interrupted", async (t) => {
  const { runtime, seat } = await seated(t);
  await seat.shows("> Hello");
  await seat.shows("attached to demo-1 (supercode, fake-model) as vscode-");
  await seat.shows("-- idle - nobody drives, typing takes control");
  seat.console.input("Mend it\r");
  assert.equal((await runtime.called("send_input")).params["prompt"], "Mend it");
  runtime.tell("turn_started");
  runtime.tell("text_delta", { text: "first \x1b]0;x\x07line\nsec" });
  await seat.shows("first line\n");
  await seat.shows("-- busy - you drive - Ctrl+C interrupts");
  runtime.tell("text_delta", { text: "ond" });
  await seat.shows("second");
  seat.console.input("to the left\r");
  assert.equal((await runtime.called("steer")).params["prompt"], "to the left");
  await seat.shows("-- steered: to the left");
  seat.console.input("\x03");
  await runtime.called("interrupt");
  runtime.tell("turn_interrupted");
  await seat.shows("-- the turn was interrupted");
});

test("what was typed when a question appears is no answer to it", async (t) => {
  const { runtime, seat } = await seated(t);
  seat.console.input("y");
  await seat.shows("› y");
  runtime.tell("turn_started");
  runtime.tell("request", request(7));
  await seat.shows("? request 7: may it run bash?");
  seat.console.input("\r");
  seat.console.input("yes\r");
  await seat.shows("answer what is asked first");
  assert(!runtime.calls.some(({ method }) => method === "respond"));
  assert.equal(seat.asks.at(-1)?.details, '{"command":"rm x"}');
  seat.now = 1_000;
  seat.console.input("n\r");
  const { params } = await runtime.called("respond");
  assert.deepEqual(params["response"], { kind: "approval", request_id: 7, decision: "deny" });
  runtime.tell("request_resolved", { request_id: 7, response: { decision: "deny" } });
  await seat.shows("-- request 7: denied");
  await until(seat.written, () => seat.line === "y");
  assert.equal(seat.asks.at(-1), undefined);
});

test("letters on their way to something else consent to nothing", async (t) => {
  const { runtime, seat } = await seated(t);
  const saidNo = (times: number) => until(seat.written, () => seat.text.split("nothing was answered").length === times + 1);
  seat.console.input("please deplo");
  await seat.shows("› please deplo");
  runtime.tell("request", request(7));
  await seat.shows("? request 7");
  seat.console.input("y\r");
  await saidNo(1);
  // Seen long enough, but in the middle of typing.
  seat.now = 5_000;
  seat.console.input("go on\r");
  seat.now = 5_900;
  seat.console.input("y\r");
  await saidNo(2);
  seat.now = 6_900;
  seat.console.input("y\r");
  const { params } = await runtime.called("respond");
  assert.deepEqual(params["response"], { kind: "approval", request_id: 7, decision: "allow" });
  // Nor does one answer give another one.
  runtime.tell("request", request(8));
  runtime.tell("request_resolved", { request_id: 7, response: { decision: "allow" } });
  await seat.shows("-- request 7: allowed");
  await until(seat.written, () => seat.asks.at(-1)?.id === 8);
  seat.console.input("y\r");
  await saidNo(3);
  assert.equal(runtime.calls.filter(({ method }) => method === "respond").length, 1);
});

test("what was entered in vain is offered, and nothing is glued to it", async (t) => {
  const { runtime, seat } = await seated(t);
  runtime.on("send_input", () => {
    throw { code: -32020, name: "unsupported_action", operation: "send_input", message: "not here" };
  });
  seat.console.input("y\r");
  await until(seat.written, () => seat.line === "y");
  runtime.tell("request", request(7));
  await seat.shows("? request 7");
  runtime.tell("request_resolved", { request_id: 7, response: { decision: "deny" } });
  await seat.shows("-- request 7: denied");
  await until(seat.written, () => seat.line === "y");
  seat.console.input("yes please");
  await until(seat.written, () => seat.line === "yes please");
});

test("what was asked and settled before one came is no news", async (t) => {
  const home = await emptyHome(t);
  const runtime = await FakeRuntime.start(t, home);
  const told = (sequence: number, kind: string, payload: object) => ({ sequence, kind, payload: { type: kind, ...payload } });
  runtime.replay = [
    told(4, "request", request(1)),
    told(5, "request_resolved", { request_id: 1, response: { decision: "allow" } }),
    told(6, "request_resolved", { request_id: 0, response: { decision: "deny" } }),
    told(7, "request", request(2)),
  ];
  const server = await startServer(t, home, undefined, [1]);
  const seat = new Seat(server, runtime.id);
  t.after(() => seat.console.close());
  await seat.console.open();
  await seat.shows("? request 2");
  assert(!/request 1/.test(seat.text) && seat.text.includes("-- request 0: denied"), seat.text);
  assert.deepEqual(seat.asks.map((asked) => asked?.id), [2]);
});

test("a question is answered from elsewhere, once", async (t) => {
  const { runtime, seat } = await seated(t);
  runtime.tell("request", request(7));
  runtime.tell("request", request(8, "elicitation"));
  await seat.shows("? request 8: Which port?");
  assert.equal(seat.console.answer(7, seat.asks.at(-1)!.decided("allow_for_session")), true);
  await runtime.called("respond");
  runtime.tell("request_resolved", { request_id: 7, response: { decision: "allow_for_session" } });
  await seat.shows("type an answer, /decline or /cancel");
  assert.equal(seat.console.answer(7, seat.asks[0]!.decided("deny")), false);
  assert.deepEqual(seat.asks.map((asked) => asked?.id), [7, 8]);
});

test("control is taken only when a person says so", async (t) => {
  const { runtime, seat } = await seated(t);
  let holder: string | undefined = "other";
  const refusal = { code: -32032, name: "controller_required", operation: "send_input", message: "other drives", holder: "other", expiresAtMs: 1 };
  runtime.on("send_input", () => {
    if (holder) throw refusal;
    return { accepted: true };
  });
  runtime.on("take_control", () => {
    holder = undefined;
    return { controller: { client_id: runtime.calls.at(-1)!.client, expires_at_ms: Date.now() + 30_000 }, observers: [], lease_ttl_ms: 30_000 };
  });
  seat.console.input("mine\r");
  await seat.shows("/take takes control");
  await until(seat.written, () => seat.line === "mine");
  assert.deepEqual(seat.holders, ["other"]);
  seat.takes = true;
  seat.console.input("\r");
  await runtime.called("take_control");
  await seat.shows("-- idle - you drive");
  assert.equal(runtime.calls.filter(({ method }) => method === "send_input").length, 3);
});

test("the ends of a runtime and of a server are told, and it is attached again", async (t) => {
  const { runtime, server, seat } = await seated(t);
  await seat.shows("-- idle - nobody drives");
  runtime.endStreams();
  await seat.shows("! the runtime ended the stream");
  seat.console.input("still there?\r");
  await seat.shows("-- not attached; /again attaches again");
  await until(seat.written, () => seat.line === "still there?");
  seat.console.input("\x15/again\r");
  await until(seat.written, () => /idle - nobody drives[^]*not attached[^]*idle - nobody drives/.test(seat.text));
  const { pid } = server.client!;
  process.kill(pid, "SIGKILL");
  await seat.shows("was ended by SIGKILL");
  await until(server.changed, () => server.client && server.client.pid !== pid);
  seat.console.input("/again\r");
  await until(seat.written, () => seat.text.endsWith("nobody drives, typing takes control\n› "));
  runtime.tell("text_delta", { text: "here\n" });
  await seat.shows("here\n");
});

test("who fell behind attaches again, from there", async (t) => {
  const asked: unknown[] = [];
  const attach = async (params: { clientId: string }) => {
    asked.push(params);
    const events: RuntimeEvent[] = asked.length === 1
      ? [{ sequence: 5, kind: "text_delta", payload: { text: "first\n" } }, { kind: "lagged", cursor: 5 }]
      : [{ sequence: 6, kind: "text_delta", payload: { text: "again\n" } }];
    const lease = { observers: [], leaseTtlMs: 1 };
    const made = { replay: [], clientId: params.clientId, descriptor: {}, history: [], historyCursor: 0, lease, detach: async () => {} };
    return { ...made, async *[Symbol.asyncIterator]() { yield* events; } };
  };
  const seat = new Seat({ require: () => ({ attach }) } as unknown as Server, "demo-1");
  t.after(() => seat.console.close());
  await seat.console.open();
  await seat.shows("again\n");
  assert.match(seat.text, /first\n[^]*-- fell behind, and attaches again\n[^]*again\n/);
  const { clientId } = asked[0] as { clientId: string };
  assert.deepEqual(asked[1], { id: "demo-1", clientId, after: 5 });
});

test("leaving detaches, and who may only look is told so", async (t) => {
  const { runtime, seat } = await seated(t, ["observe"]);
  runtime.tell("text_delta", { text: "hello\n" });
  await seat.shows("hello");
  seat.console.input("Mend it\r");
  await seat.shows("! ");
  seat.console.input("\x15\x04");
  assert(seat.hasLeft);
  await seat.console.close();
  await runtime.called("detach");
  await runtime.left();
});

test("what cannot be joined says why", async (t) => {
  const server = await startServer(t, await emptyHome(t));
  const seat = new Seat(server, "nobody");
  t.after(() => seat.console.close());
  await seat.console.open();
  await seat.shows("not attached; /again attaches again");
  assert.match(seat.text, /! .*nobody/);
});
