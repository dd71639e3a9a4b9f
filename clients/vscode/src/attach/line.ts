// What agents say and do, as lines for a person in a terminal.
import { clean, oneLine } from "../clean";
import { count, cut } from "../words";

export type Colour = "none" | "dim" | "bold" | "calm" | "alert";

/** A line, however long: what is put before it says what it is. Without control characters. */
export interface Line {
  text: string;
  colour: Colour;
}

/** Lines of what a tool said. */
export const LINES_OF_TOOL = 12;
/** Characters of a line that is shortened, and of a call's arguments. */
export const CHARACTERS = 400;

/** Something that is not said by an agent. */
export const note = (text: string): Line => ({ text: `-- ${oneLine(text)}`, colour: "dim" });
/** Something that a person must see. */
export const alert = (text: string): Line => ({ text: `! ${oneLine(text)}`, colour: "alert" });

/** A call of a tool, shortened. */
export function call(name: string, made: string): Line {
  return { text: cut(`* ${oneLine(name)} ${oneLine(made)}`, CHARACTERS), colour: "calm" };
}

/** The lines of a text; of one that has more lines than may be shown, how many more. */
export function whole(lead: string, colour: Colour, text: string, atMost = Infinity): Line[] {
  const all = clean(text).replace(/\n+$/, "").split("\n");
  if (all.length === 1 && all[0] === "") return [];
  const lines = all.slice(0, atMost).map((line, at): Line => {
    const before = at > 0 && lead === "> " ? "  " : lead;
    return { text: before + (atMost === Infinity ? line : cut(line, CHARACTERS)), colour };
  });
  if (all.length > atMost) lines.push({ text: `  … ${count(all.length - atMost, "more line")}`, colour: "dim" });
  return lines;
}
