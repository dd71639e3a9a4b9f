// Texts of others, before a person sees them: without escape sequences, line ends in one form, and what could act on a
// screen made visible. They come in pieces, and a piece may end anywhere.

/** Letters of a string for the terminal; a longer one is text that was not meant so. */
const STRING = 4_096;
const TAB = "    ";
const REPLACEMENT = "\ufffd";

type State = "text" | "escape" | "control" | "string";

/**
 * Controls, direction marks, other separators of lines, and characters that show nothing. The joiners U+200C and U+200D
 * stay: scripts and emoji need them.
 */
const ACTS =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e007f}]/u;

export class Cleaner {
  #state: State = "text";
  /** What a string for the terminal may still have, and whether an escape came in it. */
  #left = 0;
  #isEscaped = false;
  /** A carriage return came, which ends a line unless a line feed does. */
  #hasReturned = false;

  /** The next piece, clean: of control characters only line feeds are left. */
  clean(piece: string): string {
    let clean = "";
    for (const c of piece) clean += this.#take(c);
    return clean;
  }

  #take(c: string): string {
    let lead = "";
    if (this.#hasReturned && this.#state === "text") {
      this.#hasReturned = false;
      if (c === "\n") return "\n";
      lead = "\n";
    }
    switch (this.#state) {
      case "text":
        return lead + this.#text(c);
      case "escape":
        return this.#escape(c);
      case "control":
        if (c === "\x1b") this.#state = "escape";
        else if (c < " " || c > "?") return this.#ended(c);
        return "";
      case "string":
        return this.#string(c);
    }
  }

  #text(c: string): string {
    if (c === "\x1b") this.#state = "escape";
    else if (c === "\u009b") this.#state = "control";
    else if (c === "\u0090" || c === "\u0098" || (c >= "\u009d" && c <= "\u009f")) this.#begin();
    else if (c === "\r") this.#hasReturned = true;
    else if (c === "\n") return c;
    else if (c === "\t") return TAB;
    // What draws a bell or goes back means nothing on a page.
    else if (c !== "\x07" && c !== "\b" && c !== "\0") return ACTS.test(c) ? REPLACEMENT : c;
    return "";
  }

  #escape(c: string): string {
    if (c === "[") this.#state = "control";
    else if ("]PX^_".includes(c)) this.#begin();
    // Between an escape and its final letter.
    else if (c !== "\x1b" && !(c >= " " && c <= "/")) return this.#ended(c);
    return "";
  }

  #begin(): void {
    this.#state = "string";
    this.#left = STRING;
    this.#isEscaped = false;
  }

  #string(c: string): string {
    const isOver = c === "\x07" || c === "\u009c" || (this.#isEscaped && c === "\\");
    if (isOver || c === "\n" || this.#left === 0) return this.#ended(c);
    this.#left -= 1;
    this.#isEscaped = c === "\x1b";
    return "";
  }

  /** A line ends whatever was left open. */
  #ended(c: string): string {
    this.#state = "text";
    return c === "\n" ? c : "";
  }
}

/** A whole text, clean. */
export function clean(text: string): string {
  return new Cleaner().clean(text);
}

/** A whole text as one line. */
export function oneLine(text: string): string {
  return clean(text).split(/\s+/).filter(Boolean).join(" ");
}

/** A whole text as one line of a notification, where links would be more than text, and their targets not seen. */
export function unlinked(text: string): string {
  return oneLine(text).replaceAll("](", "] (");
}

/** A text where an editor would draw `$(name)` as a picture. */
export function iconless(text: string): string {
  return text.replaceAll("$(", "$\u200b(");
}
