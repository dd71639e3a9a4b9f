// What is checked in and what is published.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { emptyHome, environment, packageRoot, writeSession, uuid } from "./support.js";

const run = promisify(execFile);
const read = (file: string) => readFile(join(packageRoot, file), "utf8");

test("the types are those of the schema", async () => {
  await run(process.execPath, [join(packageRoot, "scripts/generate.mjs"), "--check"]);
});

test("the example is the one of README.md, and does what it says", async (t) => {
  const [, example] = /```ts\n(.*?)```/s.exec(await read("README.md")) ?? [];
  assert.equal(example, await read("test/example.ts"));
  const home = await emptyHome(t);
  await writeSession(home, uuid(1), "Mend the roof");
  const { stdout } = await run(process.execPath, [join(packageRoot, "build/example.js")], { env: environment(home) });
  assert.equal(stdout, "persisted Mend the roof\n  user: Mend the roof\n1 sessions\nthere is no such session\n");
});

test("only what is needed is published", async () => {
  const { stdout } = await run("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd: packageRoot });
  const [{ files }] = JSON.parse(stdout) as [{ files: Array<{ path: string }> }];
  const others = files.map(({ path }) => path).filter((path) => !/^dist\/\w+\.(js|d\.ts)$/.test(path));
  assert.deepEqual(others.sort(), ["LICENSE-APACHE", "LICENSE-MIT", "README.md", "package.json"]);
});

test("the lock file names no registry, and nothing is needed at run time", async () => {
  assert(!(await read("package-lock.json")).includes("resolved"));
  assert.equal(JSON.parse(await read("package.json")).dependencies, undefined);
});
