// A server as the extension keeps it, on a home of a test's own, and waiting for what comes.
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { TestContext } from "node:test";
import type { Permission, SpawnOptions } from "tackroom-client";
import { environment, tackroom } from "../../typescript/test/support.js";
import type { Emitter } from "../src/emitter";
import { Server } from "../src/server";

if (!existsSync(tackroom)) throw new Error(`${tackroom} is not there: \`cargo build\` makes it, and TACKROOM_BIN names another one`);

export const ALLOW: Permission[] = ["observe", "interact", "approve"];

export async function startServer(t: TestContext, home: string, options: Partial<SpawnOptions> = {}, backoffMs?: number[]): Promise<Server> {
  const all = { command: tackroom, clientInfo: { name: "test" }, allow: ALLOW, env: environment(home), ...options };
  const server = new Server(() => all, backoffMs);
  t.after(() => server.stop());
  server.restart();
  await until(server.changed, () => server.status.kind !== "starting");
  return server;
}

/** Waits until something holds, looking again whenever something is told. */
export function until<T>(emitter: Emitter<T>, holds: () => unknown): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (!holds()) return;
      release.dispose();
      resolve();
    };
    const release = emitter.on(look);
    look();
  });
}

/** Whether a process is there; one that nobody has buried is not. */
export async function isAlive(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => ") Z");
  return !/^[ZX]/.test(stat.replace(/^.*\) /s, ""));
}
