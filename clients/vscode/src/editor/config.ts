// The settings of a person, as the server takes them.
import type { Permission, SpawnOptions } from "tackroom-client";
import { homedir } from "node:os";
import { join } from "node:path";
import * as vscode from "vscode";

/** What a server may do where the folder is not trusted. */
const UNTRUSTED: Permission[] = ["observe"];

export function config(): vscode.WorkspaceConfiguration {
  return vscode.workspace.getConfiguration("tackroom");
}

/** The program, as it is named in the settings. */
export function program(): string {
  const path = config().get<string>("path", "").trim() || "tackroom";
  return path.startsWith("~/") ? join(homedir(), path.slice(2)) : path;
}

/** The folders that sessions are looked for in; undefined: everywhere. */
export function scope(): string[] | undefined {
  if (config().get<string>("scope") !== "workspace") return undefined;
  const folders = vscode.workspace.workspaceFolders ?? [];
  return folders.filter(({ uri }) => uri.scheme === "file").map(({ uri }) => uri.fsPath);
}

export function spawnOptions(version: string, log: vscode.LogOutputChannel): SpawnOptions {
  const allow = vscode.workspace.isTrusted ? config().get<Permission[]>("allow", UNTRUSTED) : UNTRUSTED;
  return {
    command: program(),
    clientInfo: { name: "vscode", title: vscode.env.appName, version },
    allow: allow.length > 0 ? allow : UNTRUSTED,
    workspaces: scope(),
    onStderr: (line) => log.info(line),
  };
}
