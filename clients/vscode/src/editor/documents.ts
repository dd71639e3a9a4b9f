// Transcripts as documents that go on as they are written.
import type { Entry } from "tackroom-client";
import { homedir } from "node:os";
import * as vscode from "vscode";
import type { Server } from "../server";
import { contextOf, titleOf } from "../sessions/entry";
import { Transcript } from "../transcript/transcript";

export const SCHEME = "tackroom";
/** Messages that are loaded at a time. */
const PAGE = 100;
/** Characters of a title in a tab. */
const TITLE = 60;

export class Documents implements vscode.TextDocumentContentProvider, vscode.CodeLensProvider, vscode.Disposable {
  readonly #server: Server;
  readonly #open = new Map<string, Transcript>();
  /** Editors that see the end of what is about to change. */
  readonly #following = new Set<vscode.TextEditor>();
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly #lenses = new vscode.EventEmitter<void>();
  readonly #disposables: vscode.Disposable[];
  readonly onDidChange = this.#changed.event;
  readonly onDidChangeCodeLenses = this.#lenses.event;

  constructor(server: Server) {
    this.#server = server;
    this.#disposables = [
      this.#changed,
      this.#lenses,
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      vscode.languages.registerCodeLensProvider({ scheme: SCHEME }, this),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.#close(uri)),
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.#follow(document)),
      server.changed.on(() => this.#open.forEach((transcript) => void transcript.open())),
    ];
  }

  dispose(): void {
    this.#open.forEach((transcript) => transcript.close());
    for (const one of this.#disposables) one.dispose();
  }

  /** Shows a session's transcript, at its end. */
  async show(entry: Entry): Promise<void> {
    const document = await vscode.workspace.openTextDocument(this.#uriOf(entry));
    const isShown = vscode.window.visibleTextEditors.some((editor) => editor.document === document);
    const editor = await vscode.window.showTextDocument(document, { preview: true });
    if (isShown) return;
    const end = endOf(document);
    editor.selection = new vscode.Selection(end, end);
    editor.revealRange(new vscode.Range(end, end));
  }

  async loadOlder(uri: vscode.Uri | undefined): Promise<void> {
    const shown = uri ?? vscode.window.activeTextEditor?.document.uri;
    const transcript = shown && this.#open.get(shown.toString());
    if (transcript && !transcript.hasOlder) void vscode.window.showInformationMessage("There are no older messages.");
    await transcript?.loadOlder();
  }

  /** The session of a document, where it is one of ours. */
  entryOf(uri: vscode.Uri): Entry | undefined {
    return this.#open.get(uri.toString())?.entry;
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const key = uri.toString();
    const known = this.#open.get(key);
    if (known) return known.text();
    const options = { home: homedir(), page: PAGE };
    const transcript = new Transcript(this.#server, uri.query, options);
    this.#open.set(key, transcript);
    await transcript.open();
    transcript.changed.on(() => this.#update(uri));
    return transcript.text();
  }

  provideCodeLenses({ uri }: vscode.TextDocument): vscode.CodeLens[] {
    const transcript = this.#open.get(uri.toString());
    const entry = transcript?.entry;
    if (!entry) return [];
    const can = contextOf(entry).split(" ");
    const trusted = vscode.workspace.isTrusted;
    const lens = (title: string, command: string, argument: unknown) =>
      new vscode.CodeLens(new vscode.Range(0, 0, 0, 0), { title, command, arguments: [argument] });
    return [
      ...(transcript.hasOlder ? [lens("Load older messages", "tackroom.loadOlder", uri)] : []),
      ...(trusted && can.includes("attach") ? [lens("Attach", "tackroom.attach", entry)] : []),
      ...(trusted && can.includes("message") ? [lens("Message", "tackroom.message", entry)] : []),
      ...(trusted && can.includes("resume") ? [lens("Resume in terminal", "tackroom.resume", entry)] : []),
    ];
  }

  /** One document for each session, whatever it is called meanwhile. */
  #uriOf(entry: Entry): vscode.Uri {
    // A runtime's own id is gone with the runtime.
    const id = entry.persistedId ?? entry.id;
    const open = [...this.#open].find(([, transcript]) => transcript.id === id)?.[0];
    if (open !== undefined) return vscode.Uri.parse(open, true);
    const name = titleOf(entry).replace(/[\\/:*?"<>|#%]+/g, " ").slice(0, TITLE).replace(/[\s.]+$/, "") || "session";
    return vscode.Uri.from({ scheme: SCHEME, path: `/${name}.md`, query: id });
  }

  #close(uri: vscode.Uri): void {
    const key = uri.toString();
    this.#open.get(key)?.close();
    this.#open.delete(key);
  }

  #update(uri: vscode.Uri): void {
    const key = uri.toString();
    for (const editor of vscode.window.visibleTextEditors) {
      const { document, visibleRanges } = editor;
      const last = visibleRanges.at(-1)?.end.line ?? 0;
      if (document.uri.toString() === key && last >= document.lineCount - 2) this.#following.add(editor);
    }
    this.#changed.fire(uri);
    this.#lenses.fire();
  }

  /** Who saw the end sees the new one. */
  #follow(document: vscode.TextDocument): void {
    for (const editor of this.#following) {
      if (editor.document !== document) continue;
      this.#following.delete(editor);
      const end = endOf(document);
      editor.revealRange(new vscode.Range(end, end));
    }
  }
}

function endOf(document: vscode.TextDocument): vscode.Position {
  return document.lineAt(document.lineCount - 1).range.end;
}
