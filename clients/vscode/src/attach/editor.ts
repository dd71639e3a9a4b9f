// A line that is typed, with as many lines in it as were pasted.
import { clean } from "../clean";
import type { Key } from "./keys";
import { widthOf } from "./width";

/** What stands for a line feed in one line. */
const FEED = "⏎";

/** A line that is put aside. */
export interface Draft {
  text: string;
  /** Whether it was entered, and came back. */
  isOffered: boolean;
}

export const NO_DRAFT: Draft = { text: "", isOffered: false };

export class Editor {
  /** By character as a person counts them, more or less. */
  #text: string[] = [];
  #at = 0;
  #isOffered = false;

  get isEmpty(): boolean {
    return this.#text.length === 0;
  }

  /** All of it, and begins anew. */
  take(): string {
    const text = this.#text.join("");
    this.set("");
    return text;
  }

  set(text: string): void {
    this.#text = [...text];
    this.#at = this.#text.length;
    this.#isOffered = false;
  }

  /** What was entered in vain: it can be entered again and edited, and what is typed takes its place. */
  offer(text: string): void {
    this.set(text);
    this.#isOffered = true;
  }

  putAside(): Draft {
    const isOffered = this.#isOffered;
    return { text: this.take(), isOffered };
  }

  bringBack({ text, isOffered }: Draft): void {
    this.set(text);
    this.#isOffered = isOffered;
  }

  edit(key: Key): void {
    if (this.#isOffered && (key.kind === "text" || key.kind === "paste")) this.set("");
    this.#isOffered = false;
    switch (key.kind) {
      case "text":
      case "paste":
        return this.#insert(key.kind === "paste" ? clean(key.text.replace(/\r\n?/g, "\n")) : key.text);
      case "backspace":
        return this.#delete(this.#at - 1, this.#at);
      case "delete":
        return this.#delete(this.#at, this.#at + 1);
      case "left":
        return this.#go(this.#at - 1);
      case "right":
        return this.#go(this.#at + 1);
      case "home":
        return this.#go(0);
      case "end":
        return this.#go(this.#text.length);
      case "ctrl":
        return this.#control(key.letter);
    }
  }

  /** What of it fits into so many columns, and the column of the cursor in that. */
  visible(columns: number): { text: string; column: number } {
    const shown = this.#text.map((c) => (c === "\n" ? FEED : c));
    let from = this.#at;
    let column = 0;
    while (from > 0 && column + widthOf(shown[from - 1]!) < columns) column += widthOf(shown[--from]!);
    let [to, width] = [this.#at, column];
    while (to < shown.length && width + widthOf(shown[to]!) < columns) width += widthOf(shown[to++]!);
    return { text: shown.slice(from, to).join(""), column };
  }

  #control(letter: string): void {
    switch (letter) {
      case "a":
        return this.#go(0);
      case "e":
        return this.#go(this.#text.length);
      case "b":
        return this.#go(this.#at - 1);
      case "f":
        return this.#go(this.#at + 1);
      case "d":
        return this.#delete(this.#at, this.#at + 1);
      case "k":
        return this.#delete(this.#at, this.#text.length);
      case "u":
        return this.#delete(0, this.#at);
      case "w":
        return this.#delete(this.#wordStart(), this.#at);
    }
  }

  #insert(text: string): void {
    const letters = [...text];
    this.#text = [...this.#text.slice(0, this.#at), ...letters, ...this.#text.slice(this.#at)];
    this.#at += letters.length;
  }

  #delete(from: number, to: number): void {
    if (from < 0) return;
    this.#text.splice(from, to - from);
    this.#at = from;
  }

  #go(to: number): void {
    this.#at = Math.min(Math.max(to, 0), this.#text.length);
  }

  #wordStart(): number {
    let at = this.#at;
    while (at > 0 && /\s/.test(this.#text[at - 1]!)) at -= 1;
    while (at > 0 && !/\s/.test(this.#text[at - 1]!)) at -= 1;
    return at;
  }
}
