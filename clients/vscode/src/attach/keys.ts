// What a terminal sends, as keys.

export type Key =
  | { kind: "text" | "paste"; text: string }
  | { kind: "ctrl"; letter: string }
  | { kind: "enter" | "backspace" | "delete" | "left" | "right" | "home" | "end" };

const NAMED: Record<string, Key["kind"]> = {
  D: "left",
  C: "right",
  H: "home",
  F: "end",
  "1~": "home",
  "7~": "home",
  "4~": "end",
  "8~": "end",
  "3~": "delete",
};
const PASTE = "\x1b[200~";
const PASTED = "\x1b[201~";
/** Characters of a paste of which the end does not come. */
const LONGEST = 1 << 20;

export class Keys {
  /** What came of a paste that is not over. */
  #paste: string | undefined;

  take(input: string): Key[] {
    const keys: Key[] = [];
    let rest = input;
    while (rest !== "") rest = this.#one(rest, keys);
    return keys;
  }

  /** Takes one key, and answers what is left. */
  #one(input: string, keys: Key[]): string {
    if (this.#paste !== undefined) return this.#pasted(input, keys);
    if (input.startsWith(PASTE)) {
      this.#paste = "";
      return input.slice(PASTE.length);
    }
    const sequence = /^\x1b(?:\[|O)([0-9;]*[@-~])/.exec(input);
    if (sequence) {
      const kind = NAMED[sequence[1]!.replace(/^1;\d+(?=[A-Z]$)/, "")];
      if (kind) keys.push({ kind } as Key);
      return input.slice(sequence[0].length);
    }
    const c = String.fromCodePoint(input.codePointAt(0)!);
    if (c === "\r" || c === "\n") keys.push({ kind: "enter" });
    else if (c === "\x7f" || c === "\b") keys.push({ kind: "backspace" });
    else if (c === "\x1b") return input.slice(/^\x1b[^\x1b[O]?/.exec(input)![0].length);
    else if (c < " ") keys.push({ kind: "ctrl", letter: String.fromCharCode(c.charCodeAt(0) + 96) });
    else keys.push({ kind: "text", text: c });
    return input.slice(c.length);
  }

  #pasted(input: string, keys: Key[]): string {
    const all = this.#paste + input;
    const end = all.indexOf(PASTED);
    if (end < 0 && all.length < LONGEST) {
      this.#paste = all;
      return "";
    }
    this.#paste = undefined;
    keys.push({ kind: "paste", text: end < 0 ? all : all.slice(0, end) });
    return end < 0 ? "" : all.slice(end + PASTED.length);
  }
}
