// A form that an agent asks a person to fill in, as text: the flat JSON Schema of ACP's and MCP's elicitation.

type Schema = Record<string, unknown>;

const record = (value: unknown): Schema => (typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Schema) : {});
const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** What each question takes, in the order of the form: a line for it, then one for each of its choices. */
export function formQuestions(schema: unknown, order: unknown): string[][] {
  const { properties, required } = record(schema);
  const needed = Array.isArray(required) ? required : [];
  const questions: string[][] = [];
  let choice: string | undefined;
  for (const name of namesOf(record(properties), order)) {
    const field = record(record(properties)[name]);
    // A free text that belongs to the choice before it: what is no choice goes there.
    if (choice !== undefined && field["type"] === "string" && !needed.includes(name) && name.startsWith(`${choice}_`)) continue;
    const choices = choicesOf(field);
    choice = choices.length > 0 ? name : undefined;
    const label = text(field["title"]) || name;
    const what = text(field["description"]) && ` - ${text(field["description"])}`;
    const optional = needed.includes(name) ? "" : " (optional)";
    questions.push([`${label}${optional}${what}`, ...choices.map((title, at) => `  ${at + 1}. ${title}`)]);
  }
  return questions;
}

/** The names of the fields, in the order that the host lists: an object has keys such as "1" before all others. */
function namesOf(fields: Schema, order: unknown): string[] {
  const listed = Array.isArray(order) ? order.filter((name): name is string => typeof name === "string" && Object.hasOwn(fields, name)) : [];
  return [...new Set([...listed, ...Object.keys(fields)])];
}

function choicesOf(field: Schema): string[] {
  const of = field["type"] === "array" ? record(field["items"]) : field;
  const titled = of["oneOf"] ?? of["anyOf"];
  if (Array.isArray(titled)) return titled.map((one) => text(record(one)["title"]) || text(record(one)["const"]));
  return Array.isArray(of["enum"]) ? of["enum"].map(text) : [];
}
