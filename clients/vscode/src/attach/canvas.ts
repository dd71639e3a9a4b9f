// A terminal on which lines scroll by above a few rows that are drawn again and again.
import type { Colour, Line } from "./line";
import { clip, lastRows, width } from "./width";

const PAINT: Record<Colour, string> = { none: "", dim: "2", bold: "1", calm: "36", alert: "33" };
const paint = (text: string, colour: Colour) => (colour === "none" ? text : `\x1b[${PAINT[colour]}m${text}\x1b[0m`);

export interface Below {
  /** The line that is being said. */
  partial: Line | undefined;
  status: Line;
  /** What is typed, and the column of the cursor in it. */
  typed: string;
  column: number;
}

/** What stands before what is typed. */
const PROMPT = "› ";

export class Canvas {
  #columns: number;
  #rows: number;
  /** The width of each row above the cursor's that is drawn below the lines. */
  #drawn: number[] = [];

  constructor(columns: number, rows: number) {
    this.#columns = Math.max(columns, 4);
    this.#rows = Math.max(rows, 4);
  }

  /** Columns for what is typed. */
  get room(): number {
    return this.#columns - width(PROMPT);
  }

  resize(columns: number, rows: number): void {
    this.#columns = Math.max(columns, 4);
    this.#rows = Math.max(rows, 4);
  }

  /** What is to be written so that these lines are printed, and this stands below them. */
  draw(lines: Line[], { partial, status, typed, column }: Below): string {
    const printed = lines.map(({ text, colour }) => `${paint(text, colour)}\r\n`).join("");
    // A row of a line that is being said may not scroll out of reach.
    const said = partial ? lastRows(partial.text, this.#columns, this.#rows - 3) : [];
    const rows = [
      ...said.map((row) => [row, paint(row, partial!.colour)]),
      [status.text, paint(clip(status.text, this.#columns - 1), status.colour)],
    ] as const;
    const above = rows.map(([, painted]) => `${painted}\r\n`).join("");
    const cursor = width(PROMPT) + column;
    const out = `${this.#erase()}${printed}${above}${PROMPT}${typed}\r\x1b[${cursor}C`;
    this.#drawn = rows.map(([text]) => Math.min(width(text), this.#columns));
    return `\x1b[?25l${out}\x1b[?25h`;
  }

  /** Takes the rows below away. */
  close(lines: Line[]): string {
    return this.#erase() + lines.map(({ text, colour }) => `${paint(text, colour)}\r\n`).join("");
  }

  /** To the beginning of what is drawn below, also where a narrower terminal has broken its rows. */
  #erase(): string {
    const up = this.#drawn.reduce((rows, wide) => rows + Math.max(1, Math.ceil(wide / this.#columns)), 0);
    this.#drawn = [];
    return `\r${up > 0 ? `\x1b[${up}A` : ""}\x1b[J`;
  }
}
