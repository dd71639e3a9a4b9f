// Bundles the extension with the client that it stands on, into one file; with `tests`, what is tested instead.
import { build } from "esbuild";
import { readdirSync } from "node:fs";

const common = {
  bundle: true,
  platform: "node",
  target: "node20",
  alias: { "tackroom-client": "../typescript/src/index.ts" },
  logLevel: "warning",
};

if (process.argv[2] === "tests") {
  const entryPoints = readdirSync("tests").filter((name) => name.endsWith(".test.ts")).map((name) => `tests/${name}`);
  await build({ ...common, entryPoints, format: "esm", outdir: "build", outExtension: { ".js": ".mjs" }, sourcemap: "inline" });
} else if (process.argv[2] === "editor") {
  const entryPoints = ["tests/editor/editor.test.ts"];
  await build({ ...common, entryPoints, format: "esm", outfile: "build/editor.mjs", external: ["playwright-core"], sourcemap: "inline" });
} else {
  const entryPoints = ["src/extension.ts"];
  await build({ ...common, entryPoints, format: "cjs", outfile: "dist/extension.js", external: ["vscode"], minify: true });
}
