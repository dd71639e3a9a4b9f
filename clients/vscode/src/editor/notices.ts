// What agents ask, in notifications that go away when it is answered. An editor takes back none that has buttons, so the choices
// are links in one that tells of progress.
import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import type { Asked } from "../attach/asked";
import { type Choice, noticeOf } from "../attach/notice";

const COMMAND = "tackroom.choose";

interface Open {
  choose(choice: Choice): void;
}

export class Notices implements vscode.Disposable {
  /** By a secret, for a link somewhere else must not be able to choose. */
  readonly #open = new Map<string, Open>();
  readonly #command: vscode.Disposable;

  constructor() {
    this.#command = vscode.commands.registerCommand(COMMAND, (key: string, choice: Choice) => this.#open.get(key)?.choose(choice));
  }

  dispose(): void {
    this.#command.dispose();
  }

  /** Shows it until something was chosen, the person closes it, or `answered` is fulfilled. */
  async show(name: string, asked: Asked, answered: Promise<void>): Promise<Choice | undefined> {
    const { text, choices } = noticeOf(name, asked);
    const key = randomBytes(16).toString("hex");
    const links = choices.map((choice) => `[${choice}](command:${COMMAND}?${encodeURIComponent(JSON.stringify([key, choice]))})`);
    const options = { location: vscode.ProgressLocation.Notification, cancellable: true, title: text };
    try {
      return await vscode.window.withProgress(options, (progress, closed) => {
        progress.report({ message: links.join(" | ") });
        return new Promise<Choice | undefined>((resolve) => {
          this.#open.set(key, { choose: resolve });
          closed.onCancellationRequested(() => resolve(undefined));
          void answered.then(() => resolve(undefined));
        });
      });
    } finally {
      this.#open.delete(key);
    }
  }
}
