// What somebody else wrote in markdown, in a document where other things stand around it.

/** What opens a fence: what it is indented by, a list's marks with it, and the fence. */
const OPENS = /^(\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)*)(`{3,}(?=[^`]*$)|~{3,})/;
/** An address that would be a command of the editor. */
const COMMAND = /(^\s*|[(<]\s*|\]:\s*<?)command:(?=\S)/gi;

interface Fence {
  indent: number;
  mark: string;
}

/** A text that says what it said, but opens no fence that it does not close, makes no heading, and links to no command. */
export function tamed(text: string): string {
  const lines: string[] = [];
  let fence: Fence | undefined;
  let isBelowText = false;
  for (const line of text.split("\n")) {
    // It ends what it is nested in, of which readers of markdown do not all know.
    if (fence && line.trim() !== "" && indentOf(line) < fence.indent) {
      lines.push(closing(fence));
      fence = undefined;
    }
    if (fence) {
      lines.push(line);
      if (closes(line, fence)) fence = undefined;
      continue;
    }
    const [, before, mark] = OPENS.exec(line) ?? [];
    if (mark !== undefined) fence = { indent: before!.length, mark };
    lines.push(fence ? line : plain(line, isBelowText));
    isBelowText = !fence && line.trim() !== "";
  }
  if (fence) lines.push(closing(fence));
  return lines.join("\n");
}

const indentOf = (line: string) => line.length - line.trimStart().length;
const closing = ({ indent, mark }: Fence) => " ".repeat(indent) + mark;

function closes(line: string, { indent, mark }: Fence): boolean {
  const said = line.trim();
  return indentOf(line) <= indent + 3 && said.length >= mark.length && said === mark[0]!.repeat(said.length);
}

/** Headings look like those that say who speaks, and HTML can hide what follows. */
function plain(line: string, isBelowText: boolean): string {
  const isHeading = /^ {0,3}#{1,6}(?:\s|$)/.test(line) || (isBelowText && /^ {0,3}(?:=+|-+)\s*$/.test(line));
  const isHtml = /^ {0,3}<[a-z/!?]/i.test(line);
  const escaped = isHeading || isHtml ? line.replace(/\S/, "\\$&") : line;
  return escaped.replaceAll(/(?<!\\)<!--/g, "<\\!--").replaceAll(COMMAND, "$1command :");
}
