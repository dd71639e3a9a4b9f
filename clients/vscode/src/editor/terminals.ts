// Running agents joined in terminals.
import type { Entry } from "tackroom-client";
import * as vscode from "vscode";
import type { Asked } from "../attach/asked";
import { Console } from "../attach/console";
import { unlinked } from "../clean";
import type { Server } from "../server";
import { titleOf } from "../sessions/entry";
import { cut } from "../words";

/** The size of a terminal that has none yet. */
const SIZE = { columns: 80, rows: 24 };
/** Characters of what would run that fit into a notification; who is shown less must not allow it there. */
const DETAILS = 300;

export class Terminals implements vscode.Disposable {
  readonly #server: Server;
  readonly #open = new Map<string, { terminal: vscode.Terminal; pty: AgentTerminal }>();
  readonly #closed: vscode.Disposable;

  constructor(server: Server) {
    this.#server = server;
    this.#closed = vscode.window.onDidCloseTerminal((closed) => {
      for (const [id, { terminal }] of this.#open) if (terminal === closed) this.#open.delete(id);
    });
  }

  dispose(): void {
    this.#closed.dispose();
    for (const { terminal } of this.#open.values()) terminal.dispose();
  }

  /** Fulfilled when no runtime is attached to any more. */
  async leaveAll(): Promise<void> {
    await Promise.all([...this.#open.values()].map(({ pty }) => pty.leave()));
  }

  /** Joins a running agent, or goes to where it is joined already. */
  attach(entry: Entry): void {
    const known = this.#open.get(entry.id);
    if (known) return known.terminal.show();
    const name = titleOf(entry);
    const pty = new AgentTerminal(this.#server, entry.id, name, () => this.#open.get(entry.id)?.terminal.show());
    const iconPath = new vscode.ThemeIcon("plug");
    const location = vscode.TerminalLocation.Editor;
    const terminal = vscode.window.createTerminal({ name, pty, iconPath, location, isTransient: true });
    this.#open.set(entry.id, { terminal, pty });
    terminal.show();
  }
}

class AgentTerminal implements vscode.Pseudoterminal {
  readonly #server: Server;
  readonly #id: string;
  readonly #name: string;
  readonly #show: () => void;
  readonly #write = new vscode.EventEmitter<string>();
  readonly #close = new vscode.EventEmitter<void>();
  #console: Console | undefined;
  readonly onDidWrite = this.#write.event;
  readonly onDidClose = this.#close.event;

  constructor(server: Server, id: string, name: string, show: () => void) {
    this.#server = server;
    this.#id = id;
    this.#name = unlinked(name);
    this.#show = show;
  }

  open(size: vscode.TerminalDimensions | undefined): void {
    // Pasted lines come as one.
    this.#write.fire("\x1b[?2004h");
    this.#console = new Console(this.#id, size ?? SIZE, {
      client: () => this.#server.require(),
      now: () => performance.now(),
      write: (text) => this.#write.fire(text),
      left: () => this.#close.fire(),
      asks: (asked) => void this.#ask(asked),
      mayTake: (holder) => this.#mayTake(holder),
    });
    void this.#console.open();
  }

  close(): void {
    void this.leave();
  }

  async leave(): Promise<void> {
    await this.#console?.close();
  }

  handleInput(data: string): void {
    this.#console?.input(data);
  }

  setDimensions({ columns, rows }: vscode.TerminalDimensions): void {
    this.#console?.resize(columns, rows);
  }

  /** Asks outside of the terminal, too. */
  async #ask(asked: Asked | undefined): Promise<void> {
    if (!asked) return;
    const details = asked.details === "" ? "" : ` ${unlinked(asked.details)}`;
    const isWhole = asked.kind === "approval" && details.length <= DETAILS;
    const buttons = isWhole ? ["Allow", "Allow for Session", "Deny", "Show"] : asked.kind === "approval" ? ["Deny", "Show"] : ["Show"];
    const text = `${this.#name}: ${unlinked(asked.question)}${cut(details, DETAILS)}`;
    const chosen = await vscode.window.showWarningMessage(text, ...buttons);
    if (chosen === undefined) return;
    if (chosen === "Show") return this.#show();
    const decision = chosen === "Deny" ? "deny" : chosen === "Allow" ? "allow" : "allow_for_session";
    if (this.#console?.answer(asked.id, asked.decided(decision))) return;
    void vscode.window.showInformationMessage(`${this.#name}: that request does not wait any more; nothing was sent.`);
  }

  async #mayTake(holder: string): Promise<boolean> {
    const text = `${unlinked(holder)} drives ${this.#name}.`;
    const detail = "Only one client drives at a time. Who drives now can go on looking.";
    return (await vscode.window.showWarningMessage(text, { modal: true, detail }, "Take Control")) === "Take Control";
  }
}
