// Back into a session with its own program, messages into live ones, and what becomes of such messages here.
import { type Entry, type InboundPolicy, type MessageResult, TackroomError } from "tackroom-client";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import * as vscode from "vscode";
import { oneLine, unlinked } from "../clean";
import type { Server } from "../server";
import { commandLine } from "../shell";
import { isLive, titleOf } from "../sessions/entry";
import { shortPath } from "../words";
import { program } from "./config";

/** Goes back into a session with its own program, in a terminal. */
export async function resume(entry: Entry): Promise<void> {
  if (isLive(entry)) {
    const pid = entry.activity?.pid;
    const detail = `${pid === undefined ? "A process" : `Process ${pid}`} has it open already. Two programs in one session can get in each other's way.`;
    const chosen = await vscode.window.showWarningMessage(`“${unlinked(titleOf(entry))}” is running.`, { modal: true, detail }, "Resume Anyway");
    if (chosen === undefined) return;
  }
  const words = [program(), "resume", entry.persistedId ?? entry.id];
  const line = commandLine(words, process.platform === "win32");
  if (line === undefined) throw new Error(`this cannot be typed into a shell: ${oneLine(words.join(" "))}`);
  const cwd = entry.resume?.cwd;
  // In a shell, where what is said stays to be read when it ends.
  const terminal = vscode.window.createTerminal({
    name: titleOf(entry),
    iconPath: new vscode.ThemeIcon("terminal"),
    ...(cwd !== undefined && existsSync(cwd) && { cwd }),
  });
  terminal.show();
  terminal.sendText(line);
}

/** Asks for a text, and sends it into a live session. */
export async function sendMessage(server: Server, entry: Entry): Promise<void> {
  const client = server.require();
  const name = unlinked(entry.peer?.name ?? titleOf(entry));
  const { messageBytes } = client.server.limits;
  const text = await vscode.window.showInputBox({
    title: `Message ${name}`,
    prompt: "Delivered into the live session as a message of another session; it is no answer to what it asks.",
    ignoreFocusOut: true,
    validateInput: (value) => (Buffer.byteLength(value) > messageBytes ? `At most ${messageBytes} bytes.` : undefined),
  });
  if (text === undefined || text.trim() === "") return;
  const location = vscode.ProgressLocation.Notification;
  await vscode.window.withProgress({ location, title: `Sending to ${name}`, cancellable: true }, async (_, token) => {
    const abort = new AbortController();
    token.onCancellationRequested(() => abort.abort());
    try {
      tellOutcome(name, await client.request("peer/message", { id: entry.id, text }, { signal: abort.signal }));
    } catch (error) {
      if (!abort.signal.aborted) void vscode.window.showErrorMessage(`Message to ${name}: ${unlinked((error as Error).message)}`);
    }
  });
}

function tellOutcome(name: string, { outcome, detail }: MessageResult): void {
  const more = detail === undefined ? "" : ` ${unlinked(detail)}`;
  switch (outcome) {
    case "accepted":
      return void vscode.window.showInformationMessage(`In the inbox of ${name}.${more}`);
    case "held":
      return void vscode.window.showWarningMessage(`${name} holds the message until a person there lets it in.${more}`);
    case "refused":
      return void vscode.window.showErrorMessage(`${name} takes no messages: it was not delivered.${more}`);
  }
}

const POLICIES: Array<{ label: string; detail: string; policy: InboundPolicy | null }> = [
  { label: "accept", detail: "Messages of other sessions are delivered.", policy: "accept" },
  { label: "hold", detail: "They wait for a person.", policy: "hold" },
  { label: "refuse", detail: "They are thrown away.", policy: "refuse" },
  { label: "reset", detail: "Take the setting out, so that Claude Code decides by itself.", policy: null },
];

/** Shows and changes what Claude Code does with messages of other sessions. */
export async function changeInbound(server: Server): Promise<void> {
  const client = server.require();
  const { crossSessionInbound: now, path, revision } = await client.request("settings/read");
  const file = shortPath(path, homedir());
  const items = POLICIES.map((item) => (item.policy === (now ?? null) ? { ...item, description: "current" } : item));
  const chosen = await vscode.window.showQuickPick(items, {
    title: "Claude Code: messages of other sessions",
    placeHolder: `${now ?? "not set"} in ${file}; other settings can override it`,
  });
  if (!chosen || chosen.policy === (now ?? null)) return;
  try {
    await client.request("settings/update", { crossSessionInbound: chosen.policy, expectedRevision: revision });
  } catch (error) {
    if (error instanceof TackroomError && error.reason === "changed_during_write") {
      throw new Error(`${file} was changed meanwhile, so nothing was written; try again`);
    }
    throw error;
  }
  const done = chosen.policy === null ? "is not set any more" : `is “${chosen.policy}” now`;
  const text = `It ${done} in ${file}. That is user-level evidence: managed, project and command-line settings can override it.`;
  void vscode.window.showInformationMessage(text);
}
