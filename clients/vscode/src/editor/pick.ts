// Sessions to pick from.
import type { Entry } from "tackroom-client";
import { homedir } from "node:os";
import * as vscode from "vscode";
import type { Server } from "../server";
import { compare, contextOf } from "../sessions/entry";
import { itemOf } from "../sessions/item";

/** Sessions that are offered beside those that live. */
const STORED = 1_000;

/** Asks for a session that can be used so; undefined where none was chosen. */
export async function pick(server: Server, use: "open" | "attach" | "message" | "resume"): Promise<Entry | undefined> {
  const client = server.require();
  const isLiveOnly = use === "attach" || use === "message";
  const items = async () => {
    const live = await client.request("registry/list", { query: { persisted: false }, limit: STORED });
    const all = isLiveOnly ? live : await client.request("registry/list", { limit: STORED });
    const entries = new Map([...live.entries, ...all.entries].map((entry) => [entry.id, entry]));
    const fitting = [...entries.values()].filter((entry) => use === "open" || contextOf(entry).split(" ").includes(use));
    return fitting.sort(compare).map((entry) => itemOf(entry, Date.now(), homedir()));
  };
  const none = { attach: "No running agent can be attached to.", message: "No live session takes messages." };
  const found = await items();
  if (found.length === 0) {
    void vscode.window.showInformationMessage(isLiveOnly ? none[use] : "There are no sessions.");
    return undefined;
  }
  const options = { placeHolder: `A session to ${use}`, matchOnDescription: true, matchOnDetail: true };
  return (await vscode.window.showQuickPick(found, options))?.entry;
}
