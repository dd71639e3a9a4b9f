// The tree of sessions, without an editor: groups and what is in them, and what of it must be drawn anew.
import type { Entry } from "tackroom-client";
import { compare, isLive, matches, rank, timeOf } from "./entry";

export type Grouping = "workspace" | "harness";

export interface SessionNode {
  readonly kind: "session";
  entry: Entry;
  /** Where it stands below another session, and not in a group. */
  readonly parent: GroupNode | SessionNode;
}

export interface GroupNode {
  readonly kind: "group";
  /** A workspace or a harness; empty for sessions of no known workspace. */
  readonly name: string;
  /** Whether it is open at first. */
  readonly isOpen: boolean;
  readonly members: Map<string, SessionNode>;
  /** What is shown of it, in order, and how many more there are. */
  shown: SessionNode[];
  hidden: number;
  waiting: number;
  live: number;
  limit: number;
}

export interface MoreNode {
  readonly kind: "more";
  /** The group that has more, or none where there are more groups. */
  readonly group: GroupNode | undefined;
  readonly count: number;
}

export type Node = GroupNode | SessionNode | MoreNode;

/** What must be drawn anew: all, or these with what is below them. */
export type Stale = "all" | Array<GroupNode | SessionNode>;

/** Stored sessions of a group that are shown at first. */
export const PAGE = 20;
/** Groups that are shown at first; and how many more of groups or sessions each time. */
export const MORE = 100;
/** Groups without anything alive that are open at first. */
const OPEN = 3;

export interface Shape {
  grouping: Grouping;
  liveOnly: boolean;
  text: string;
}

export class TreeModel {
  #shape: Shape;
  readonly #isOurs: (name: string) => boolean;
  readonly #groups = new Map<string, GroupNode>();
  readonly #groupOf = new Map<string, GroupNode>();
  #order: GroupNode[] = [];
  #limit = MORE;
  /** Groups in which something changed, and the sessions that did. */
  readonly #changed = new Map<GroupNode, Set<SessionNode>>();
  #hasMoved = false;

  /** `isOurs` says which groups are open at first in any case. */
  constructor(shape: Shape, isOurs: (name: string) => boolean = () => false) {
    this.#shape = shape;
    this.#isOurs = isOurs;
  }

  get shape(): Readonly<Shape> {
    return this.#shape;
  }

  /** All that there is, instead of what was known. */
  replace(entries: Iterable<Entry>): void {
    const stale = new Set(this.#groupOf.keys());
    // In order, so that the groups that are open at first are the first ones.
    for (const entry of [...entries].sort(compare)) {
      stale.delete(entry.id);
      const known = this.find(entry.id)?.entry;
      if (JSON.stringify(known) !== JSON.stringify(entry)) this.set(entry);
    }
    for (const id of stale) this.remove(id);
  }

  set(entry: Entry): void {
    if (!this.#fits(entry)) return this.remove(entry.id);
    const name = (this.#shape.grouping === "workspace" ? entry.workspace : entry.harness) ?? "";
    const before = this.#groupOf.get(entry.id);
    if (before && before.name !== name) this.remove(entry.id);
    const group = this.#groups.get(name) ?? this.#begin(name, entry);
    const node = group.members.get(entry.id) ?? { kind: "session", entry, parent: group };
    node.entry = entry;
    group.members.set(entry.id, node);
    this.#groupOf.set(entry.id, group);
    this.#touch(group).add(node);
  }

  remove(id: string): void {
    const group = this.#groupOf.get(id);
    if (!group) return;
    this.#touch(group);
    group.members.delete(id);
    this.#groupOf.delete(id);
  }

  /** Another shape of the same entries. */
  reshape(shape: Shape, entries: Iterable<Entry>): void {
    this.#shape = shape;
    this.#groups.clear();
    this.#groupOf.clear();
    this.#changed.clear();
    this.#order = [];
    this.#limit = MORE;
    this.#hasMoved = true;
    this.replace(entries);
  }

  /** Shows more of a group, or more groups. */
  showMore(group: GroupNode | undefined): void {
    if (group) {
      group.limit += MORE;
      this.#touch(group);
    } else {
      this.#limit += MORE;
      this.#hasMoved = true;
    }
  }

  /** Puts what changed in order, and says what must be drawn anew; undefined: nothing. */
  flush(): Stale | undefined {
    if (this.#changed.size === 0 && !this.#hasMoved) return undefined;
    const stale: Array<GroupNode | SessionNode> = [];
    for (const [group, sessions] of this.#changed) {
      const { shown, hidden, waiting, live } = group;
      arrange(group);
      const isSame = waiting === group.waiting && live === group.live && hidden === group.hidden;
      if (isSame && shown.length === group.shown.length && shown.every((node, at) => node === group.shown[at])) {
        stale.push(...shown.filter((node) => sessions.has(node)));
      } else {
        stale.push(group);
      }
      if (group.members.size === 0) this.#groups.delete(group.name);
    }
    this.#changed.clear();
    const order = [...this.#groups.values()].sort(compareGroups);
    this.#hasMoved ||= order.length !== this.#order.length || order.some((group, at) => group !== this.#order[at]);
    this.#order = order;
    const hasMoved = this.#hasMoved;
    this.#hasMoved = false;
    return hasMoved ? "all" : stale;
  }

  roots(): Node[] {
    const hidden = this.#order.length - this.#limit;
    if (hidden <= 0) return this.#order;
    return [...this.#order.slice(0, this.#limit), { kind: "more", group: undefined, count: hidden }];
  }

  /** The sessions of a group. */
  sessions(group: GroupNode): Node[] {
    if (group.hidden === 0) return group.shown;
    return [...group.shown, { kind: "more", group, count: group.hidden }];
  }

  find(id: string): SessionNode | undefined {
    return this.#groupOf.get(id)?.members.get(id);
  }

  #fits(entry: Entry): boolean {
    const { liveOnly, text } = this.#shape;
    return (!liveOnly || isLive(entry)) && (text === "" || matches(entry, text.toLowerCase()));
  }

  #begin(name: string, first: Entry): GroupNode {
    const isOpen = this.#isOurs(name) || isLive(first) || this.#groups.size < OPEN || this.#shape.text !== "";
    const group: GroupNode = {
      kind: "group", name, isOpen, members: new Map(), shown: [], hidden: 0, waiting: 0, live: 0, limit: PAGE,
    };
    this.#groups.set(name, group);
    return group;
  }

  #touch(group: GroupNode): Set<SessionNode> {
    const changed = this.#changed.get(group) ?? new Set();
    this.#changed.set(group, changed);
    return changed;
  }
}

/** What lives is always shown; of the rest so many. */
function arrange(group: GroupNode): void {
  const all = [...group.members.values()].sort((a, b) => compare(a.entry, b.entry));
  group.live = all.filter(({ entry }) => isLive(entry)).length;
  group.waiting = all.filter(({ entry }) => entry.state === "waiting").length;
  group.shown = all.slice(0, group.live + group.limit);
  group.hidden = all.length - group.shown.length;
}

/** By what needs a person most, then by what was last. */
function compareGroups(a: GroupNode, b: GroupNode): number {
  const [first, second] = [a.shown[0]!.entry, b.shown[0]!.entry];
  const byTime = (timeOf(second) ?? 0) - (timeOf(first) ?? 0);
  return rank(first.state) - rank(second.state) || byTime || (a.name < b.name ? -1 : 1);
}
