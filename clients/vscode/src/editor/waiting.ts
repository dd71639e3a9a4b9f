// What waits for a person, in the status bar.
import type { Entry } from "tackroom-client";
import { homedir } from "node:os";
import * as vscode from "vscode";
import { compare, hasDoor, titleOf } from "../sessions/entry";
import { itemOf } from "../sessions/item";
import type { Sessions } from "../sessions/sessions";
import { count } from "../words";

export class Waiting implements vscode.Disposable {
  readonly #sessions: Sessions;
  readonly #item: vscode.StatusBarItem;
  readonly #release: vscode.Disposable;

  constructor(sessions: Sessions) {
    this.#sessions = sessions;
    this.#item = vscode.window.createStatusBarItem("tackroom.waiting", vscode.StatusBarAlignment.Left);
    this.#item.name = "Tackroom: Sessions That Wait for You";
    this.#item.command = "tackroom.showWaiting";
    this.#item.backgroundColor = new vscode.ThemeColor("statusBarItem.warningBackground");
    this.#release = sessions.changed.on(() => this.#draw());
  }

  dispose(): void {
    this.#release.dispose();
    this.#item.dispose();
  }

  get entries(): Entry[] {
    return [...this.#sessions.entries.values()].filter(({ state }) => state === "waiting").sort(compare);
  }

  /** Offers what waits, and goes to what is chosen. */
  async show(): Promise<void> {
    const { entries } = this;
    if (entries.length === 0) return void vscode.window.showInformationMessage("No session waits for you.");
    const placeHolder = `${count(entries.length, "session")} waiting for you`;
    const items = entries.map((entry) => itemOf(entry, Date.now(), homedir()));
    const chosen = await vscode.window.showQuickPick(items, { placeHolder, matchOnDescription: true, matchOnDetail: true });
    if (!chosen) return;
    const canAttach = hasDoor(chosen.entry, "runtime") && vscode.workspace.isTrusted;
    await vscode.commands.executeCommand(canAttach ? "tackroom.attach" : "tackroom.open", chosen.entry);
  }

  #draw(): void {
    const { entries } = this;
    if (entries.length === 0) return this.#item.hide();
    const text = `${count(entries.length, "session")} waiting for you`;
    this.#item.text = `$(bell-dot) ${entries.length} waiting`;
    const tooltip = new vscode.MarkdownString();
    tooltip.appendText(text);
    for (const entry of entries.slice(0, 10)) tooltip.appendMarkdown("\n\n").appendText(titleOf(entry));
    this.#item.tooltip = tooltip;
    this.#item.accessibilityInformation = { label: text };
    this.#item.show();
  }
}
