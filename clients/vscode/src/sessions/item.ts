// A session as something to pick.
import type { Entry } from "tackroom-client";
import { iconless, oneLine } from "../clean";
import { age, shortPath } from "../words";
import { markOf, timeOf, titleOf } from "./entry";

export interface Item {
  label: string;
  description: string;
  detail?: string;
  entry: Entry;
}

export function itemOf(entry: Entry, nowMs: number, home: string): Item {
  const title = titleOf(entry);
  const name = oneLine(entry.peer?.name ?? "");
  const mark = markOf(entry);
  const words = [name !== title && name, entry.state, entry.harness, age(nowMs, timeOf(entry)), mark && `[${mark}]`];
  return {
    label: iconless(title),
    description: iconless(words.filter(Boolean).join(" · ")),
    ...(entry.workspace !== undefined && { detail: iconless(shortPath(entry.workspace, home)) }),
    entry,
  };
}
