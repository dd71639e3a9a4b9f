// Running agents joined in terminals.
import type { Entry } from "tackroom-client";
import * as vscode from "vscode";
import type { Asked } from "../attach/asked";
import { Console } from "../attach/console";
import { decisionOf } from "../attach/notice";
import { unlinked } from "../clean";
import type { Server } from "../server";
import { tabOf } from "../sessions/entry";
import { Notices } from "./notices";

/** The size of a terminal that has none yet. */
const SIZE = { columns: 80, rows: 24 };

/** Where an agent's terminal stands. */
interface Place {
  show(): void;
  /** Whether the person looks at it. */
  isInFront(): boolean;
  /** Opens another one in its place. */
  again(): void;
}

export class Terminals implements vscode.Disposable {
  readonly #server: Server;
  readonly #open = new Map<string, { terminal: vscode.Terminal; pty: AgentTerminal }>();
  readonly #notices = new Notices();
  readonly #closed: vscode.Disposable;

  constructor(server: Server) {
    this.#server = server;
    this.#closed = vscode.window.onDidCloseTerminal((closed) => {
      for (const [id, { terminal }] of this.#open) if (terminal === closed) this.#open.delete(id);
    });
  }

  dispose(): void {
    this.#closed.dispose();
    this.#notices.dispose();
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
    const name = tabOf(entry);
    const place: Place = {
      show: () => this.#open.get(entry.id)?.terminal.show(),
      isInFront: () => isInFront(this.#open.get(entry.id)?.terminal),
      again: () => this.attach(entry),
    };
    const pty = new AgentTerminal(this.#server, this.#notices, entry.id, name, place);
    const iconPath = new vscode.ThemeIcon("plug");
    const location = vscode.TerminalLocation.Editor;
    const terminal = vscode.window.createTerminal({ name, pty, iconPath, location, isTransient: true });
    this.#open.set(entry.id, { terminal, pty });
    terminal.show();
  }
}

function isInFront(terminal: vscode.Terminal | undefined): boolean {
  const { state, activeTerminal, tabGroups } = vscode.window;
  const isShown = tabGroups.activeTabGroup.activeTab?.input instanceof vscode.TabInputTerminal;
  return state.focused && isShown && terminal !== undefined && activeTerminal === terminal;
}

class AgentTerminal implements vscode.Pseudoterminal {
  readonly #server: Server;
  readonly #id: string;
  readonly #name: string;
  readonly #notices: Notices;
  readonly #place: Place;
  readonly #write = new vscode.EventEmitter<string>();
  readonly #close = new vscode.EventEmitter<void>();
  #console: Console | undefined;
  #asked: Asked | undefined;
  /** Takes away what is shown of what was asked before. */
  #settle = () => {};
  readonly onDidWrite = this.#write.event;
  readonly onDidClose = this.#close.event;

  constructor(server: Server, notices: Notices, id: string, name: string, place: Place) {
    this.#server = server;
    this.#id = id;
    this.#name = unlinked(name);
    this.#notices = notices;
    this.#place = place;
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
    void this.#tellLeft();
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

  /** Asks outside of the terminal, too, unless it is before the person's eyes. */
  async #ask(asked: Asked | undefined): Promise<void> {
    this.#asked = asked;
    this.#settle();
    if (!asked || this.#place.isInFront()) return;
    const answered = new Promise<void>((resolve) => (this.#settle = resolve));
    const choice = await this.#notices.show(this.#name, asked, answered);
    if (choice === undefined) return;
    if (choice === "Show") return this.#place.show();
    if (this.#console?.answer(asked.id, asked.decided(decisionOf(choice)))) return;
    void vscode.window.showInformationMessage(`${this.#name}: that request does not wait any more; nothing was sent.`);
  }

  /** A terminal cannot be kept from being closed; what that means can be said. */
  async #tellLeft(): Promise<void> {
    if (!this.#asked) return;
    const text = `${this.#name}: you left while it asked something. A runtime denies what nobody watches.`;
    if ((await vscode.window.showWarningMessage(text, "Attach Again")) !== undefined) this.#place.again();
  }

  async #mayTake(holder: string): Promise<boolean> {
    const text = `${unlinked(holder)} drives ${this.#name}.`;
    const detail = "Only one client drives at a time. Who drives now can go on looking.";
    return (await vscode.window.showWarningMessage(text, { modal: true, detail }, "Take Control")) === "Take Control";
  }
}
