import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { appendFile, cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { basename, join } from "node:path";
import { test, type TestContext } from "node:test";
import type { Page } from "playwright-core";
import { FakeRuntime } from "../../../typescript/test/runtime.js";
import { emptyHome, environment, packageRoot, tackroom } from "../../../typescript/test/support.js";
import { answer, command, openEditor, row, shot, textOf, until } from "./browser.js";

const GARDEN = "/home/dev/garden";
const ROOF = "/home/dev/roof";
const uuid = (number: number) => `00000000-0000-4000-9000-${String(number).padStart(12, "0")}`;

function line(session: number, cwd: string, type: "user" | "assistant", at: number, content: unknown): string {
  const timestamp = new Date(Date.now() - 3_600_000 + at * 1_000).toISOString();
  const message = { role: type, content, ...(type === "assistant" && { id: `m${at}`, model: "claude-opus-5" }) };
  return `${JSON.stringify({ type, uuid: `${session}-${at}`, sessionId: uuid(session), cwd, timestamp, message })}\n`;
}

const fileOf = (home: string, session: number, cwd: string) =>
  join(home, ".claude/projects", cwd.replaceAll("/", "-"), `${uuid(session)}.jsonl`);

async function writeSession(home: string, session: number, cwd: string, at: number, prompt: string, ...answers: unknown[]): Promise<void> {
  const file = fileOf(home, session, cwd);
  await mkdir(join(file, ".."), { recursive: true });
  const said = answers.map((answer, number) => line(session, cwd, "assistant", at + number + 1, answer));
  await writeFile(file, line(session, cwd, "user", at, prompt) + said.join(""));
}

/** Makes a process of its own a live session that waits. */
async function waiting(t: TestContext, home: string, session: number, cwd: string): Promise<void> {
  const child = spawn("sleep", ["1000"]);
  t.after(() => child.kill());
  const stat = await readFile(`/proc/${child.pid}/stat`, "utf8");
  const procStart = stat.replace(/^.*\) /s, "").split(" ")[19];
  const messagingSocketPath = join(home, "roofer.sock");
  const socket = createServer().listen(messagingSocketPath);
  t.after(() => socket.close());
  const doing = { status: "waiting", waitingFor: "permission prompt" };
  const record = { pid: child.pid, sessionId: uuid(session), cwd, name: "roofer", procStart, messagingSocketPath, ...doing };
  await mkdir(join(home, ".claude/sessions"), { recursive: true });
  await writeFile(join(home, `.claude/sessions/${child.pid}.json`), JSON.stringify(record));
}

async function home(t: TestContext): Promise<string> {
  const home = await emptyHome(t);
  await mkdir(join(home, "project"));
  await mkdir(join(home, "bin"));
  await cp(join(packageRoot, "tests/editor/claude.sh"), join(home, "bin/claude"));
  // An editor takes its variables from a login shell.
  await writeFile(join(home, ".profile"), 'PATH="$HOME/bin:$PATH"\n');
  await writeSession(
    home, 1, ROOF, 0, "Find out why the roof leaks over the **east** window.",
    [{ type: "text", text: "I look at the gutter first." }, { type: "tool_use", id: "t1", name: "Bash", input: { command: "ls -l gutter/" } }],
    [{ type: "text", text: "The gutter is full of leaves. \u001b[31mRed\u001b[0m \u202eturned\n\n| part | state |\n|---|---|\n| gutter | full |\n| tiles | fine |" }],
  );
  await writeSession(home, 2, GARDEN, -7_200, "Which beans follow potatoes in the second bed?", [{ type: "text", text: "Bush beans do." }]);
  await writeSession(home, 3, GARDEN, -90_000, "Draw a plan of the beds as SVG", [{ type: "text", text: "Done." }]);
  for (let number = 100; number < 130; number += 1) {
    await writeSession(home, number, "/home/dev/log", -200_000 - number * 1_000, `Write the log of day ${number}`);
  }
  await cp(join(packageRoot, "../../tests/fixtures/codex/v0.171.0"), join(home, ".codex"), { recursive: true });
  return home;
}

const env = (home: string) => ({ ...process.env, ...environment(home), SHELL: "/bin/bash", XDG_CONFIG_HOME: join(home, ".config"), TMPDIR: home });

async function openView(page: Page): Promise<void> {
  await page.locator(".activitybar .action-item a[aria-label*=Tackroom]").first().click();
  await page.locator(".pane-body .monaco-list").first().waitFor();
}

/** The servers that processes in this home run. */
async function servers(home: string): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(pids.map(async (pid) => {
    const words = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    const variables = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
    return words.startsWith(`${tackroom}\0serve`) && variables.includes(`HOME=${home}\0`) ? [Number(pid)] : [];
  }));
  return found.flat();
}

const terminalText = (page: Page) => textOf(page.locator(".terminal-editor .xterm-rows, .editor-instance .xterm-rows"));
const shows = (page: Page, text: string) => until(text, async () => (await terminalText(page)).includes(text));
const statusItem = (page: Page) => page.locator(".statusbar-item[aria-label='1 session waiting for you']");
const documentText = (page: Page) => textOf(page.locator(".editor-instance .view-lines").first());

test("sessions are shown, read, joined and left", async (t) => {
  const place = await home(t);
  await waiting(t, place, 1, ROOF);
  const editor = await openEditor(t, place, join(place, "project"), { "tackroom.path": tackroom }, env(place));
  const { page } = editor;
  await openView(page);
  const step = (name: string, act: () => Promise<void>) =>
    t.test(name, async () => {
      try {
        await act();
      } catch (error) {
        await shot(page, `failed: ${name}`);
        throw error;
      }
    });

  await step("the tree is grouped, what waits stands first", async () => {
    await row(page, "Find out why the roof leaks").waitFor();
    await row(page, "Which beans follow potatoes").waitFor();
    const rows = await page.locator(".pane-body .monaco-list-row").allInnerTexts();
    assert.match(rows[0]!, /roof/);
    assert.match(rows[1]!, /Find out why the roof leaks.*\[permission prompt\] · claude-code/s);
    await page.locator(".activitybar .action-item:has([aria-label*=Tackroom]) .badge", { hasText: "1" }).waitFor();
    await statusItem(page).waitFor();
    await shot(page, "tree");
  });

  await step("what is written on disk is seen", async () => {
    await writeSession(place, 4, GARDEN, 3_000, "Build a fence around the beans");
    await row(page, "Build a fence around the beans").waitFor();
    await until("the fence stands first", async () => {
      const rows = await page.locator(".pane-body .monaco-list-row").allInnerTexts();
      const at = rows.findIndex((text) => text.includes("Build a fence"));
      return rows[at - 1]?.includes("garden");
    });
    await appendFile(fileOf(place, 3, GARDEN), line(3, GARDEN, "user", 3_500, "And the paths"));
    await until("the plan stands before the fence", async () => {
      const rows = await page.locator(".pane-body .monaco-list-row").allInnerTexts();
      return rows.findIndex((text) => text.includes("Draw a plan")) < rows.findIndex((text) => text.includes("Build a fence"));
    });
  });

  await step("a group shows more when asked for", async () => {
    await row(page, "/proj/demo").click();
    await row(page, "/home/dev/log").click();
    await row(page, "Show more… (10)").click();
    await row(page, "Show more…").waitFor({ state: "detached" });
    assert.equal(await row(page, "Write the log of day 110").getAttribute("aria-setsize"), "30");
    await row(page, "/home/dev/log").click();
    await row(page, "day 100").waitFor({ state: "detached" });
    await row(page, "/proj/demo").click();
  });

  await step("it can be grouped otherwise, filtered, and only what lives be shown", async () => {
    await command(page, "Tackroom: Group by Harness");
    await row(page, /^codex/).waitFor();
    await shot(page, "by-harness");
    await row(page, /^claude-code/).waitFor();
    await command(page, "Tackroom: Filter Sessions");
    await answer(page, "Filter Sessions", "BEANS");
    await row(page, "Draw a plan").waitFor({ state: "detached" });
    await row(page, "Which beans follow").waitFor();
    await command(page, "Tackroom: Clear Filter");
    await command(page, "Tackroom: Show Live Sessions Only");
    await row(page, "Which beans follow").waitFor({ state: "detached" });
    await row(page, "Find out why the roof leaks").waitFor();
    await command(page, "Tackroom: Show Stored Sessions Too");
    await command(page, "Tackroom: Group by Workspace");
    await row(page, "Which beans follow").waitFor();
  });

  await step("a transcript is read, and goes on", async () => {
    await row(page, "Find out why the roof leaks").click();
    await until("the transcript", async () => (await documentText(page)).includes("The gutter is full of leaves."));
    const text = await documentText(page);
    assert(text.includes("Red �turned"), text);
    assert.match(text, /\*\*Bash\*\* `\{"command":"ls -l gutter\/"\}`/);
    await page.locator(".codelens-decoration", { hasText: "Resume in terminal" }).waitFor();
    await shot(page, "transcript");
    await appendFile(fileOf(place, 1, ROOF), line(1, ROOF, "user", 600, "Then clean the gutter"));
    await until("what was written", async () => (await documentText(page)).includes("Then clean the gutter"));
  });

  await step("older messages are loaded when asked for", async () => {
    const many = Array.from({ length: 250 }, (_, number) => [{ type: "text", text: `Answer ${number}.` }]);
    await writeSession(place, 5, GARDEN, -6_000, "Count to 250", ...many);
    await row(page, "Count to 250").click();
    await until("the end", async () => (await documentText(page)).includes("Answer 249."));
    await page.keyboard.press("Control+Home");
    await page.locator(".codelens-decoration a", { hasText: "Load older messages" }).click();
    await command(page, "Tackroom: Load Older Messages");
    await until("all", async () => {
      await page.keyboard.press("Control+Home");
      return (await documentText(page)).includes("Count to 250") && (await documentText(page)).includes("Answer 0.");
    });
  });

  const runtime = await FakeRuntime.start(t, place);
  await step("a running agent is joined, driven, answered and interrupted", async () => {
    await row(page, "[runtime]").waitFor();
    await row(page, "[runtime]").hover();
    await row(page, "[runtime]").locator(".action-label[aria-label^='Attach']").click();
    await shows(page, "attached to demo-1 (supercode, fake-model) as vscode-");
    runtime.on("send_input", ({ prompt }) => {
      setTimeout(() => {
        runtime.tell("user_message", { text: prompt });
        runtime.tell("turn_started");
        runtime.tell("text_delta", { text: "I clear the gutter" });
        runtime.tell("text_delta", { text: " and then \u001b]0;title\u0007look again.\n" });
        runtime.tell("tool_call_started", { id: "c", name: "bash", arguments: '{"command":"rm leaves/*"}' });
      }, 0);
      return { accepted: true };
    });
    const ask = (id: number) => {
      const payload = { tool: "bash", subject: "rm leaves/*", raw_args: { command: "rm leaves/*" } };
      runtime.tell("request", { request: { id, kind: "approval", payload } });
    };
    const settled = (id: number) => runtime.tell("request_resolved", { request_id: id, response: { decision: "allow" } });
    await page.locator(".editor-instance .xterm").click();
    await page.keyboard.type("Clean the gutter");
    await page.keyboard.press("Enter");
    await shows(page, "I clear the gutter and then look again.");
    // Who looks at the terminal needs no notification.
    ask(5);
    await shows(page, "? request 5: may it run bash?");
    assert.equal(await page.locator(".notification-toast", { hasText: "may it run bash?" }).count(), 0);
    settled(5);
    await shows(page, "-- request 5: allowed");
    await command(page, "View: Move Editor into Right Group");
    await command(page, "View: Focus First Editor Group");
    // One that is answered in another place goes away.
    ask(6);
    await page.locator(".notification-toast", { hasText: "may it run bash?" }).waitFor();
    settled(6);
    await page.locator(".notification-toast", { hasText: "may it run bash?" }).waitFor({ state: "detached" });
    ask(7);
    await shows(page, "? request 7: may it run bash?");
    const notice = page.locator(".notification-toast", { hasText: "may it run bash?" });
    const allow = notice.locator("a", { hasText: /^Allow$/ });
    await allow.hover();
    await shot(page, "attach");
    runtime.on("respond", () => {
      setTimeout(() => {
        runtime.tell("request_resolved", { request_id: 7, response: { decision: "allow" } });
        runtime.tell("tool_call_completed", { id: "c", name: "bash", output: "12 leaves", is_error: false });
      }, 0);
      return { accepted: true };
    });
    await allow.click();
    await notice.waitFor({ state: "detached" });
    const { params } = await runtime.called("respond");
    assert.deepEqual(params["response"], { kind: "approval", request_id: 7, decision: "allow" });
    await shows(page, "-- request 7: allowed");
    await shows(page, "  | 12 leaves");

    runtime.on("interrupt", () => {
      setTimeout(() => runtime.tell("turn_interrupted"), 0);
      return { interrupted: true };
    });
    await page.locator(".editor-instance .xterm").click();
    await page.keyboard.press("Control+c");
    await runtime.called("interrupt");
    await shows(page, "-- the turn was interrupted");
    await shot(page, "attach-end");
    ask(8);
    await shows(page, "? request 8: may it run bash?");
    await command(page, "View: Close Editor");
    await page.locator(".notification-toast", { hasText: "denies what nobody watches" }).waitFor();
    await shot(page, "left");
  });

  await step("what waits is offered by the status bar", async () => {
    await statusItem(page).click();
    await page.locator(".quick-input-list .monaco-list-row", { hasText: "Find out why the roof leaks" }).waitFor();
    await shot(page, "waiting");
    await page.keyboard.press("Escape");
  });

  await step("the policy for messages is shown and changed", async () => {
    await mkdir(join(place, ".claude"), { recursive: true });
    await command(page, "Tackroom: Messages of Other Sessions");
    await page.locator(".quick-input-list .monaco-list-row", { hasText: "hold" }).waitFor();
    await shot(page, "inbound");
    await page.keyboard.type("hold");
    await page.keyboard.press("Enter");
    await page.locator(".notification-toast", { hasText: "user-level evidence" }).waitFor();
    assert.match(await readFile(join(place, ".claude/settings.json"), "utf8"), /"hold"/);
  });

  await step("a message is sent, and its outcome told", async () => {
    await row(page, "Find out why the roof leaks").hover();
    await row(page, "Find out why the roof leaks").locator(".action-label[aria-label^='Send Message']").click();
    await answer(page, "Message roofer", "The ladder is free");
    const told = page.locator(".notification-toast", { hasText: /roofer/ }).filter({ hasNotText: "Sending" });
    await told.waitFor();
    assert.match(await told.innerText(), /In the inbox of roofer\./);
  });

  await step("a session is resumed in a terminal with its own program", async () => {
    await writeSession(place, 7, join(place, "project"), 3_540, "Paint the shed");
    await row(page, "Paint the shed").hover();
    await row(page, "Paint the shed").locator(".action-label[aria-label^='Resume']").click();
    const terminal = page.locator(".panel .xterm-rows");
    await until("the program", async () => (await textOf(terminal)).includes(`resumed: --resume ${uuid(7)}`));
    await shot(page, "resume");
    await command(page, "Terminal: Kill the Active Terminal Instance");
  });

  await step("a server that dies is started again, and that is told once", async () => {
    const [pid] = await servers(place);
    process.kill(pid!, "SIGKILL");
    await page.locator(".notification-toast", { hasText: "is started again" }).waitFor();
    await until("another server", async () => (await servers(place)).some((other) => other !== pid));
    await row(page, "Which beans follow").waitFor();
    await writeSession(place, 6, GARDEN, 3_550, "Water the beans");
    await row(page, "Water the beans").waitFor();
  });

  await step("nothing is left behind", async () => {
    assert.equal((await servers(place)).length, 1);
    await editor.close();
    await until("no server", async () => (await servers(place)).length === 0);
    await runtime.left();
  });
});

test("where there is no program, the view says what to do", async (t) => {
  const place = await home(t);
  const { page } = await openEditor(t, place, join(place, "project"), { "tackroom.path": "/nowhere/tackroom" }, env(place));
  await page.locator(".activitybar .action-item a[aria-label*=Tackroom]").first().click();
  const welcome = page.locator(".welcome-view", { hasText: "was not found" });
  await welcome.waitFor();
  await shot(page, "missing");
  await welcome.locator(".monaco-button", { hasText: "Choose the Program" }).click();
  const input = page.locator(".quick-input-widget input[type=text]");
  // It begins in the open folder.
  await until("the dialog", async () => (await input.inputValue()).endsWith("/project/"));
  await input.fill(tackroom);
  await page.locator(".quick-input-list .monaco-list-row", { hasText: basename(tackroom) }).first().waitFor();
  await page.keyboard.press("Enter");
  await row(page, "Which beans follow").waitFor();
});

test("in a folder that is not trusted sessions are only seen, and a scope leaves out what is elsewhere", async (t) => {
  const place = await home(t);
  const project = join(place, "project");
  await writeSession(place, 7, project, 0, "Paint the shed");
  const trust = { "security.workspace.trust.enabled": true, "security.workspace.trust.startupPrompt": "never" };
  const settings = { "tackroom.path": tackroom, "tackroom.scope": "workspace", ...trust };
  const { page } = await openEditor(t, place, project, settings, env(place));
  await openView(page);
  await row(page, "Paint the shed").click();
  await until("the transcript", async () => (await documentText(page)).includes("Paint the shed"));
  await row(page, "Paint the shed").hover();
  assert.equal(await row(page, "Paint the shed").locator(".action-label[aria-label^='Resume']:not(.disabled)").count(), 0);
  assert.equal(await page.locator(".pane-body .monaco-list-row").count(), 2);
  const [pid] = await servers(place);
  const words = (await readFile(`/proc/${pid}/cmdline`, "utf8")).split("\0");
  assert.deepEqual(words.slice(1, -1), ["serve", "--allow", "observe", "--workspace", project]);
  await shot(page, "untrusted");
});
