import type { Entry } from "tackroom-client";
import * as vscode from "vscode";
import { unlinked } from "./clean";
import { scope, spawnOptions } from "./editor/config";
import { Documents } from "./editor/documents";
import { pick } from "./editor/pick";
import { changeInbound, resume, sendMessage } from "./editor/talk";
import { Terminals } from "./editor/terminals";
import { SessionTree } from "./editor/tree";
import { Waiting } from "./editor/waiting";
import { Server, type Status } from "./server";
import type { SessionNode } from "./sessions/model";
import { Sessions } from "./sessions/sessions";
import { cut } from "./words";

/** Characters of an error in a notification. */
const ERROR = 200;

/** What ends with the window, and must have ended before it is gone. */
let farewell: (() => Promise<void>) | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("Tackroom", { log: true });
  const version = (context.extension.packageJSON as { version: string }).version;
  const server = new Server(() => spawnOptions(version, log));
  const all = new Sessions(server, {});
  const live = new Sessions(server, { persisted: false });
  const tree = new SessionTree(server, all, live, context.workspaceState);
  const documents = new Documents(server);
  const terminals = new Terminals(server);
  const waiting = new Waiting(live);
  context.subscriptions.push(log, all, live, tree, documents, terminals, waiting, ...lifecycle(server, log));
  context.subscriptions.push(...commands({ server, tree, documents, terminals, waiting, log, extension: context.extension }));
  farewell = async () => {
    await terminals.leaveAll();
    await server.stop();
  };
  live.open();
  server.restart();
}

export async function deactivate(): Promise<void> {
  await farewell?.();
}

/** Starts the server again when what it was started with has changed, and tells how it fares. */
function lifecycle(server: Server, log: vscode.LogOutputChannel): vscode.Disposable[] {
  let isTold = false;
  const tell = (status: Status) => {
    void vscode.commands.executeCommand("setContext", "tackroom.server", status.kind === "failed" && !status.isFinal ? "starting" : status.kind);
    if (status.kind === "ready") log.info(`tackroom ${status.client.server.serverInfo.version} runs as process ${status.client.pid}`);
    if (status.kind !== "failed" && status.kind !== "missing") return;
    log.error(status.error.message);
    if (status.kind === "missing" || (isTold && !status.isFinal)) return;
    isTold = !status.isFinal;
    const what = status.isFinal ? `Tackroom's server cannot be kept running: ${cut(unlinked(status.error.message), ERROR)}` : "Tackroom's server ended, and is started again.";
    void vscode.window.showWarningMessage(what, ...(status.isFinal ? ["Try Again"] : []), "Show Log").then((chosen) => {
      if (chosen === "Try Again") server.restart();
      else if (chosen === "Show Log") log.show();
    });
  };
  return [
    server.changed.on(tell),
    vscode.workspace.onDidChangeConfiguration((change) => change.affectsConfiguration("tackroom") && server.restart()),
    vscode.workspace.onDidChangeWorkspaceFolders(() => scope() && server.restart()),
    vscode.workspace.onDidGrantWorkspaceTrust(() => server.restart()),
  ];
}

interface Parts {
  server: Server;
  tree: SessionTree;
  documents: Documents;
  terminals: Terminals;
  waiting: Waiting;
  log: vscode.LogOutputChannel;
  extension: vscode.Extension<unknown>;
}

/** What a command is given: a row of the tree, an entry, a document, or nothing from the palette. */
type Given = SessionNode | Entry | vscode.Uri | undefined;

function commands({ server, tree, documents, terminals, waiting, log, extension }: Parts): vscode.Disposable[] {
  const register = (name: string, act: (argument: never) => unknown) =>
    vscode.commands.registerCommand(`tackroom.${name}`, async (argument: never) => {
      try {
        await act(argument);
      } catch (error) {
        log.error(`${name}: ${(error as Error).message}`);
        void vscode.window.showErrorMessage(`Tackroom: ${unlinked((error as Error).message)}`);
      }
    });
  const withSession = (name: "open" | "attach" | "message" | "resume", act: (entry: Entry) => unknown) =>
    register(name, async (given: Given) => {
      const entry = entryOf(given, documents) ?? (await pick(server, name));
      if (entry) await act(entry);
    });
  return [
    withSession("open", (entry) => documents.show(entry)),
    withSession("attach", (entry) => terminals.attach(entry)),
    withSession("message", (entry) => sendMessage(server, entry)),
    withSession("resume", (entry) => resume(entry)),
    register("copyId", (node: SessionNode) => vscode.env.clipboard.writeText(node.entry.id)),
    register("loadOlder", (uri: vscode.Uri | undefined) => documents.loadOlder(uri)),
    register("select", async () => {
      const node = tree.select();
      if (node) await documents.show(node.entry);
    }),
    register("groupByWorkspace", () => tree.reshape({ grouping: "workspace" })),
    register("groupByHarness", () => tree.reshape({ grouping: "harness" })),
    register("showLiveOnly", () => tree.reshape({ liveOnly: true })),
    register("showStored", () => tree.reshape({ liveOnly: false })),
    register("filter", () => filter(tree)),
    register("clearFilter", () => tree.reshape({ text: "" })),
    register("showWaiting", () => waiting.show()),
    register("inbound", () => changeInbound(server)),
    register("restart", () => server.restart()),
    register("showLog", () => log.show()),
    register("setPath", setPath),
    register("howToInstall", () => vscode.commands.executeCommand("extension.open", extension.id)),
  ];
}

function entryOf(given: Given, documents: Documents): Entry | undefined {
  if (given === undefined) return undefined;
  if (given instanceof vscode.Uri) return documents.entryOf(given);
  return "kind" in given ? given.entry : given;
}

async function filter(tree: SessionTree): Promise<void> {
  const prompt = "Only sessions with this in their title, id, workspace, model, state or peer name; empty: all";
  const text = await vscode.window.showInputBox({ title: "Filter Sessions", prompt, value: tree.shape.text });
  if (text !== undefined) tree.reshape({ text: text.trim() });
}

async function setPath(): Promise<void> {
  const options = { title: "The program tackroom", openLabel: "Use This Program" };
  const chosen = (await vscode.window.showOpenDialog(options))?.[0];
  if (chosen) await vscode.workspace.getConfiguration("tackroom").update("path", chosen.fsPath, vscode.ConfigurationTarget.Global);
}
