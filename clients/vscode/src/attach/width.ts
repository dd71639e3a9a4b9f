// How many columns of a terminal a text takes.

/** Wide: East Asian scripts and their punctuation, and pictures. */
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
/** Nothing: what is put on the letter before it. */
const NONE = /^[\p{Mn}\p{Me}\u200b-\u200d\ufe00-\ufe0f]/u;

/** Of one character. */
export function widthOf(c: string): number {
  if (c < "\u0300") return 1;
  return NONE.test(c) ? 0 : WIDE.test(c) ? 2 : 1;
}

export function width(text: string): number {
  let columns = 0;
  for (const c of text) columns += widthOf(c);
  return columns;
}

/** The beginning of a text that fits. */
export function clip(text: string, columns: number): string {
  let end = 0;
  let left = columns;
  for (const c of text) {
    left -= widthOf(c);
    if (left < 0) return text.slice(0, end);
    end += c.length;
  }
  return text;
}

/** The last rows of a text that is broken where a row is full. */
export function lastRows(text: string, columns: number, rows: number): string[] {
  const all: string[] = [];
  let row = "";
  let left = columns;
  for (const c of text) {
    if (widthOf(c) > left) {
      all.push(row);
      row = "";
      left = columns;
    }
    row += c;
    left -= widthOf(c);
  }
  all.push(row);
  return all.slice(-rows);
}
