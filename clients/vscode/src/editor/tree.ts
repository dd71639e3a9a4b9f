// The view of sessions.
import type { Entry } from "tackroom-client";
import { homedir } from "node:os";
import * as vscode from "vscode";
import { oneLine } from "../clean";
import type { Server } from "../server";
import { compare, contextOf, markOf, timeOf, titleOf } from "../sessions/entry";
import { type GroupNode, type Node, type SessionNode, type Shape, type Stale, TreeModel } from "../sessions/model";
import type { Change, Sessions } from "../sessions/sessions";
import { age, count, folderOf, shortPath } from "../words";

/** How often ages are drawn anew though nothing changed, in milliseconds. */
const AGES_MS = 60_000;
/** Subagents of a session that are shown. */
const CHILDREN = 200;
const SHAPE = "tackroom.shape";
/** Without arguments: those of a row are gone while it is drawn anew, and so would be the click. */
const SELECT: vscode.Command = { title: "Open", command: "tackroom.select" };

const ICONS: Record<string, [string, string?]> = {
  waiting: ["bell-dot", "charts.orange"],
  busy: ["sync", "charts.blue"],
  idle: ["pass", "charts.green"],
  live: ["pulse", "charts.green"],
  shutting_down: ["circle-slash"],
  persisted: ["comment", "disabledForeground"],
};

export class SessionTree implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  readonly #sessions: Sessions;
  readonly #waiting: Sessions;
  readonly #server: Server;
  readonly #memory: vscode.Memento;
  readonly #model: TreeModel;
  readonly #view: vscode.TreeView<Node>;
  readonly #changed = new vscode.EventEmitter<Node | Node[] | undefined>();
  readonly #disposables: vscode.Disposable[];
  readonly onDidChangeTreeData = this.#changed.event;

  constructor(server: Server, sessions: Sessions, waiting: Sessions, memory: vscode.Memento) {
    this.#server = server;
    this.#sessions = sessions;
    this.#waiting = waiting;
    this.#memory = memory;
    const shape: Shape = { grouping: "workspace", liveOnly: false, ...memory.get<Partial<Shape>>(SHAPE), text: "" };
    const isOurs = (name: string) => vscode.workspace.workspaceFolders?.some(({ uri }) => uri.fsPath === name) ?? false;
    this.#model = new TreeModel(shape, isOurs);
    this.#view = vscode.window.createTreeView<Node>("tackroom.sessions", { treeDataProvider: this, showCollapseAll: true });
    const ages = setInterval(() => this.#view.visible && this.#changed.fire(undefined), AGES_MS);
    this.#disposables = [
      this.#view,
      this.#changed,
      { dispose: () => clearInterval(ages) },
      this.#view.onDidChangeVisibility(({ visible }) => visible && sessions.open()),
      sessions.changed.on((change) => this.#take(change)),
      waiting.changed.on(() => this.#badge()),
    ];
    if (this.#view.visible) sessions.open();
    this.#tellShape();
  }

  dispose(): void {
    for (const one of this.#disposables) one.dispose();
  }

  get shape(): Readonly<Shape> {
    return this.#model.shape;
  }

  /** Shows the same in another way. */
  reshape(change: Partial<Shape>): void {
    this.#model.reshape({ ...this.#model.shape, ...change }, this.#sessions.entries.values());
    const { grouping, liveOnly } = this.#model.shape;
    void this.#memory.update(SHAPE, { grouping, liveOnly });
    this.#tellShape();
    this.#draw(this.#model.flush());
  }

  /** What a click is on: a session; of `Show more…` it shows more. */
  select(): SessionNode | undefined {
    const node = this.#view.selection[0];
    if (node?.kind === "session") return node;
    if (node?.kind !== "more") return undefined;
    this.#model.showMore(node.group);
    this.#draw(this.#model.flush());
    return undefined;
  }

  async getChildren(node?: Node): Promise<Node[]> {
    if (!node) {
      this.#sessions.open();
      return this.#sessions.isKnown ? this.#model.roots() : [];
    }
    if (node.kind === "group") return this.#model.sessions(node);
    return node.kind === "session" ? this.#children(node) : [];
  }

  getParent(node: Node): Node | undefined {
    return node.kind === "session" ? node.parent : node.kind === "more" ? node.group : undefined;
  }

  getTreeItem(node: Node): vscode.TreeItem {
    switch (node.kind) {
      case "group":
        return this.#groupItem(node);
      case "session":
        return this.#sessionItem(node);
      case "more": {
        const item = new vscode.TreeItem(`Show more… (${node.count})`);
        item.id = `more:${node.group?.name ?? ""}`;
        item.iconPath = new vscode.ThemeIcon("ellipsis");
        item.command = SELECT;
        return item;
      }
    }
  }

  resolveTreeItem(item: vscode.TreeItem, node: Node): vscode.TreeItem {
    if (node.kind === "session") item.tooltip = tooltip(node.entry);
    return item;
  }

  #groupItem(group: GroupNode): vscode.TreeItem {
    const { name, isOpen, members, waiting, live } = group;
    const { grouping } = this.#model.shape;
    const label = grouping === "harness" ? name : name === "" ? "(no workspace)" : folderOf(name);
    const state = vscode.TreeItemCollapsibleState;
    const item = new vscode.TreeItem(label, isOpen ? state.Expanded : state.Collapsed);
    item.id = `group:${grouping}:${name}`;
    item.contextValue = "group";
    const alive = [waiting > 0 && `${waiting} waiting`, live > waiting && `${live - waiting} live`].filter(Boolean).join(", ");
    const place = grouping === "workspace" && name !== "" ? shortPath(name, homedir()) : undefined;
    item.description = [place !== label && place, members.size, alive].filter(Boolean).join(" · ");
    item.tooltip = place;
    item.iconPath = new vscode.ThemeIcon(grouping === "workspace" ? "folder" : "hubot");
    item.accessibilityInformation = { label: `${place ?? label}, ${count(members.size, "session")}, ${waiting} waiting, ${live} live` };
    return item;
  }

  #sessionItem(node: SessionNode): vscode.TreeItem {
    const { entry, parent } = node;
    const state = vscode.TreeItemCollapsibleState;
    const hasChildren = (entry.childCount ?? 0) > 0;
    const item = new vscode.TreeItem(titleOf(entry), hasChildren ? state.Collapsed : state.None);
    item.id = parent.kind === "group" ? `session:${entry.id}` : `child:${parent.entry.id}:${entry.id}`;
    item.contextValue = contextOf(entry);
    const [icon, colour] = ICONS[entry.state] ?? ICONS["live"]!;
    item.iconPath = new vscode.ThemeIcon(icon, colour === undefined ? undefined : new vscode.ThemeColor(colour));
    const mark = markOf(entry);
    const isByHarness = this.#model.shape.grouping === "harness";
    const where = isByHarness ? (entry.workspace ? folderOf(entry.workspace) : undefined) : entry.harness;
    const words = [mark && `[${mark}]`, where, age(Date.now(), timeOf(entry))];
    item.description = words.filter(Boolean).join(" · ");
    item.command = SELECT;
    item.accessibilityInformation = { label: [entry.state, titleOf(entry), ...words].filter(Boolean).join(", ") };
    return item;
  }

  /** The sessions that this one started. */
  async #children(parent: SessionNode): Promise<Node[]> {
    const query = { rootId: parent.entry.id, includeChildren: true };
    try {
      const { entries } = await this.#server.require().request("registry/list", { query, limit: CHILDREN });
      const own = entries.filter((entry) => entry.parent?.sessionId === parent.entry.sessionId);
      return own.sort(compare).map((entry) => ({ kind: "session", entry, parent }));
    } catch {
      // Why there is no answer is told where the whole list is.
      return [];
    }
  }

  #take(change: Change): void {
    const { entries } = this.#sessions;
    if (change === "all") this.#model.replace(entries.values());
    for (const id of change === "all" ? [] : change) {
      const entry = entries.get(id);
      if (entry) this.#model.set(entry);
      else this.#model.remove(id);
    }
    const stale = this.#model.flush();
    // The first look also tells that there is nothing.
    this.#draw(change === "all" && stale === undefined ? "all" : stale);
    void vscode.commands.executeCommand("setContext", "tackroom.known", true);
  }

  #draw(stale: Stale | undefined): void {
    if (stale === "all") this.#changed.fire(undefined);
    else if (stale && stale.length > 0) this.#changed.fire(stale);
  }

  #badge(): void {
    const waiting = [...this.#waiting.entries.values()].filter(({ state }) => state === "waiting").length;
    this.#view.badge = waiting > 0 ? { value: waiting, tooltip: `${count(waiting, "session")} waiting for you` } : undefined;
  }

  #tellShape(): void {
    const { grouping, liveOnly, text } = this.#model.shape;
    const words = [...(liveOnly ? ["live only"] : []), ...(text === "" ? [] : [`“${text}”`])];
    this.#view.description = words.join(", ");
    const contexts = { grouping, liveOnly, filtered: text !== "" };
    for (const [name, value] of Object.entries(contexts)) {
      void vscode.commands.executeCommand("setContext", `tackroom.${name}`, value);
    }
  }
}

function tooltip(entry: Entry): vscode.MarkdownString {
  const text = new vscode.MarkdownString();
  const time = (ms: number | undefined) => ms && new Date(ms).toLocaleString();
  const rows: Array<[string, string | undefined | 0]> = [
    ["state", [entry.state, entry.activity?.waitingFor].filter(Boolean).join(": ")],
    ["harness", entry.harness],
    ["model", entry.model],
    ["workspace", entry.workspace && shortPath(entry.workspace, homedir())],
    ["peer name", entry.peer?.name],
    ["updated", time(entry.updatedAtMs)],
    ["id", entry.id],
  ];
  text.appendText(titleOf(entry));
  for (const [name, value] of rows) if (value) text.appendMarkdown("\n\n").appendText(`${name}: ${oneLine(value)}`);
  return text;
}
