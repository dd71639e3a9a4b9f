// VS Code in a browser: code-server with the extension, in a home of its own.
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { chromium, type Locator, type Page } from "playwright-core";
import { packageRoot } from "../../../typescript/test/support.js";

const entry = join(process.env["CODE_SERVER"] ?? "", "out/node/entry.js");
const shots = process.env["SHOTS"];

export interface Editor {
  page: Page;
  /** The first process; all others are below it. */
  pid: number;
  /** The browser goes, and then the server. */
  close(): Promise<void>;
}

/** Opens a folder in an editor that has the extension, with these settings. */
export async function openEditor(t: TestContext, home: string, folder: string, settings: object, env: NodeJS.ProcessEnv): Promise<Editor> {
  const data = join(home, "editor");
  const extensions = join(home, "extensions");
  await mkdir(join(data, "User"), { recursive: true });
  await writeFile(join(data, "User/settings.json"), JSON.stringify({ ...quiet, ...settings }));
  const where = ["--user-data-dir", data, "--extensions-dir", extensions];
  const installed = spawnSync(process.execPath, [entry, ...where, "--install-extension", join(packageRoot, "tackroom.vsix")], { env });
  if (installed.status !== 0) throw new Error(`not installed: ${installed.stdout}${installed.stderr}`);
  const port = await freePort();
  const options = ["--auth", "none", "--bind-addr", `127.0.0.1:${port}`, "--disable-telemetry", "--disable-update-check"];
  const server = spawn(process.execPath, [entry, ...where, ...options], { env, stdio: "ignore" });
  t.after(() => end(server));
  const url = `http://127.0.0.1:${port}`;
  await until("code-server", () => fetch(`${url}/healthz`).then(({ ok }) => ok, () => false));
  const browser = await chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: [
      "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync",
    ],
  });
  t.after(() => browser.close());
  const page = await browser.newPage({ viewport: { width: 1100, height: 720 } });
  await page.goto(`${url}/?folder=${folder}`);
  return {
    page,
    pid: server.pid!,
    async close() {
      await browser.close();
      await end(server);
    },
  };
}

const quiet = {
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
  "security.workspace.trust.enabled": false,
  "telemetry.telemetryLevel": "off",
  "extensions.autoCheckUpdates": false,
  "workbench.colorTheme": "Default Light Modern",
  "terminal.integrated.gpuAcceleration": "off",
  "chat.commandCenter.enabled": false,
  "window.commandCenter": false,
  "workbench.layoutControl.enabled": false,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "editor.minimap.enabled": false,
  "breadcrumbs.enabled": false,
};

async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const gone = once(server, "exit");
  server.kill();
  await gone;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Waits until something holds. */
export async function until(what: string, holds: () => unknown): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`never: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** A picture, where pictures are wanted. */
export async function shot(page: Page, name: string): Promise<void> {
  if (!shots) return;
  await mkdir(shots, { recursive: true });
  // Away from what tells of itself where the mouse is.
  await page.mouse.move(700, 500);
  await page.locator(".workbench-hover").waitFor({ state: "hidden" });
  await page.screenshot({ path: join(shots, `${name}.png`) });
}

/** A row of the tree. */
export const row = (page: Page, text: string | RegExp): Locator =>
  page.locator(".pane-body .monaco-list-row", { hasText: text }).first();

export async function command(page: Page, name: string): Promise<void> {
  await page.keyboard.press("F1");
  const input = page.locator(".quick-input-widget input[type=text]");
  await input.waitFor({ state: "visible" });
  await input.fill(`>${name}`);
  await page.locator(".quick-input-list .monaco-list-row", { hasText: name }).first().waitFor();
  await page.keyboard.press("Enter");
}

/** Answers an input box that is about to open. */
export async function answer(page: Page, title: string, text: string): Promise<void> {
  const box = page.locator(".quick-input-widget", { hasText: title });
  await box.waitFor();
  await box.locator("input[type=text]").fill(text);
  await page.keyboard.press("Enter");
}

/** What an open editor or terminal shows, without what is only for the eye. */
export async function textOf(locator: Locator): Promise<string> {
  const rows = await locator.allInnerTexts();
  return rows.join("\n").replaceAll("\u00a0", " ");
}
