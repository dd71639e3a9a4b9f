// A home with fixtures, and servers that look at it.
import assert from "node:assert/strict";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { type SpawnOptions, Tackroom } from "tackroom-client";

export const packageRoot = fileURLToPath(new URL("..", import.meta.url));
const project = join(packageRoot, "../..");

/** The program that is tested. */
export const tackroom = process.env["TACKROOM_BIN"] ?? join(project, "target/debug/tackroom");

export const WORKSPACE = "/home/dev/demo";

/** A user's home, empty at first, that is gone after the test. */
export async function emptyHome(t: TestContext): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), "tackroom-client-"));
  t.after(() => rm(home, { recursive: true, force: true }));
  return home;
}

/** A home with stores that real programs wrote. */
export async function homeWithStores(t: TestContext): Promise<string> {
  const home = await emptyHome(t);
  const fixtures = join(project, "tests/fixtures");
  await cp(join(fixtures, "claude-code/projects"), join(home, ".claude/projects"), { recursive: true });
  await cp(join(fixtures, "codex/v0.171.0"), join(home, ".codex"), { recursive: true });
  return home;
}

/** A server that knows only this home. */
export async function spawn(t: TestContext, home: string, options: Partial<SpawnOptions> = {}): Promise<Tackroom> {
  const client = await Tackroom.spawn({
    command: tackroom,
    clientInfo: { name: "test" },
    env: environment(home),
    ...options,
  });
  t.after(() => client.close());
  return client;
}

export function environment(home: string): NodeJS.ProcessEnv {
  return { HOME: home, PATH: `${dirname(tackroom)}:${process.env["PATH"]}` };
}

/** A line of a session of Claude Code. */
export function message(session: string, text: string, minute = 0): string {
  const time = new Date(Date.UTC(2026, 0, 2, 0, minute)).toISOString();
  const uuid = `${session}-${text}`;
  const said = { role: "user", content: text };
  return `${JSON.stringify({ type: "user", uuid, sessionId: session, cwd: WORKSPACE, timestamp: time, message: said })}\n`;
}

/** Writes a session of Claude Code, and answers its file. */
export async function writeSession(home: string, session: string, text: string, minute = 0): Promise<string> {
  const directory = join(home, ".claude/projects/-home-dev-demo");
  await mkdir(directory, { recursive: true });
  const file = join(directory, `${session}.jsonl`);
  await writeFile(file, message(session, text, minute));
  return file;
}

/** A session id that has a number in it. */
export const uuid = (number: number): string => `00000000-0000-4000-9000-${String(number).padStart(12, "0")}`;

/** Takes events up to the first that fits. */
export async function until<T>(events: AsyncIterator<T>, fits: (event: T) => boolean): Promise<T[]> {
  const taken: T[] = [];
  for (;;) {
    const { value, done } = await events.next();
    assert(!done, "the events ended");
    taken.push(value);
    if (fits(value)) return taken;
  }
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

export async function collect<T>(events: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const event of events) all.push(event);
  return all;
}
