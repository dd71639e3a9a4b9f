// Writes src/protocol.ts from the schema that the server checks in; with --check it only says whether that is fresh.
import { readFileSync, writeFileSync } from "node:fs";

const schemas = new URL("../../../schema/", import.meta.url);
const target = new URL("../src/protocol.ts", import.meta.url);
const read = (name) => JSON.parse(readFileSync(new URL(name, schemas), "utf8"));

const { definitions, methods, notifications } = read("schema.json");
const meta = read("meta.json");
const summaries = new Map(read("openrpc.json").methods.map(({ name, summary }) => [name, summary]));

// What is written by hand: `Error` is JavaScript's own name, for which `TackroomError` stands; the kinds of a runtime's
// events are left open by the schema.
const own = ["Error", "RuntimeEvent"];

// Of these members one must be there and no other, which the schema says in words alone.
const PEER = [["id"], ["sessionId"], ["name"], ["endpoint"]];
const exclusive = {
  AttachParams: [["id"], ["runtimeId"], ["endpoint", "source"]],
  MessageParams: PEER,
  PeerSelector: PEER,
  RuntimeDescribeParams: [["attachment"], ["id"], ["runtimeId"]],
};

const indent = (text) => text.replaceAll("\n", "\n  ");

/** A comment before what it is about. */
function comment(...paragraphs) {
  const lines = paragraphs.filter(Boolean).join("\n").split("\n").filter(Boolean);
  if (lines.length === 0) return "";
  if (lines.length === 1) return `/** ${lines[0]} */\n`;
  return `/**\n${lines.map((line) => ` * ${line}\n`).join("")} */\n`;
}

function object({ properties, required = [], additionalProperties }) {
  if (!properties) {
    if (!additionalProperties) return "Record<string, never>";
    return `Record<string, ${additionalProperties === true ? "unknown" : type(additionalProperties)}>`;
  }
  const members = Object.entries(properties).map(([name, schema]) => {
    const optional = required.includes(name) ? "" : "?";
    return `${comment(schema.description)}${name}${optional}: ${type(schema)};`;
  });
  return `{\n  ${indent(members.join("\n"))}\n}`;
}

function union(schemas) {
  if (schemas.every(({ type, description }) => !description || type === "null")) return schemas.map(type).join(" | ");
  return schemas.map((schema) => `\n  ${indent(comment(schema.description))}| ${indent(type(schema))}`).join("");
}

function array(items) {
  const of = type(items);
  return /^\w+$/.test(of) ? `${of}[]` : `Array<${of}>`;
}

const plain = { string: "string", integer: "number", number: "number", boolean: "boolean", null: "null" };

/** The type of a schema. What the generator does not know stops it, so that nothing becomes `unknown` unnoticed. */
function type(schema) {
  const { description, format, minimum, maximum, default: absent, ...rest } = schema;
  if (Object.keys(rest).length === 0) return "unknown";
  if (rest.$ref) return rest.$ref.replace("#/definitions/", "");
  if (rest.oneOf ?? rest.anyOf) return union(rest.oneOf ?? rest.anyOf);
  if (rest.allOf) {
    const { allOf, ...own } = rest;
    return [...(own.type ? [type(own)] : []), ...allOf.map(type)].join(" & ");
  }
  if ("const" in rest) return JSON.stringify(rest.const);
  if (rest.enum) return rest.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (Array.isArray(rest.type)) return rest.type.map((one) => type({ ...rest, type: one })).join(" | ");
  if (rest.type === "object") return object(rest);
  if (rest.type === "array") return array(rest.items);
  if (rest.type in plain) return plain[rest.type];
  throw new Error(`a schema that this generator does not know: ${JSON.stringify(schema)}`);
}

function definition([name, schema]) {
  const body = exclusive[name] ? `OneOf<${type(schema)}, ${exclusive[name].map((way) => JSON.stringify(way)).join(" | ")}>` : type(schema);
  const isInterface = schema.type === "object" && body.startsWith("{") && !schema.allOf;
  const line = isInterface ? `interface ${name} ${body}` : `type ${name} =${body.startsWith("\n") ? "" : " "}${body};`;
  return `${comment(schema.description)}export ${line}\n`;
}

function method([name, { params, result }]) {
  const { permissions } = meta.methods[name];
  const needs = permissions.length > 0 && `Needs ${permissions.map((word) => `\`${word}\``).join(" and ")}.`;
  const about = comment(summaries.get(name), needs);
  return `${about}"${name}": { params: ${type(params)}; result: ${type(result)} };`;
}

const map = (about, name, rows) => `${comment(about)}export interface ${name} {\n  ${indent(rows.join("\n"))}\n}\n`;

function errors() {
  const rows = meta.errors.map(({ reason, code, meaning }) => `${comment(`${meaning} (${code})`)}| "${reason}"`);
  return `/** The word in an error that a program switches on. */\nexport type Reason =\n  ${indent(rows.join("\n"))};\n`;
}

const oneOf = `/** An object with exactly one of these groups of its members. */
type OneOf<T, Way extends Array<keyof T>, Every extends Way = Way> = Omit<T, Every[number]> &
  (Way extends unknown
    ? Required<Pick<T, Way[number]>> & { [Other in Exclude<Every[number], Way[number]>]?: never }
    : never);
`;

const told = meta.serverNotifications.map((name) => `"${name}": ${type(notifications[name].params)};`);
const parts = [
  "// Generated from schema/ by `npm run generate`; not to be edited.\nimport type { RuntimeEvent } from \"./events.js\";\n",
  `export const PROTOCOL_VERSION = ${meta.version};\n`,
  map("The params and the result of each method.", "Methods", Object.entries(methods).map(method)),
  map("The params of each notification that the server sends.", "Notifications", told),
  errors(),
  oneOf,
  ...Object.entries(definitions).filter(([name]) => !own.includes(name)).map(definition),
];
const generated = parts.join("\n");

if (!process.argv.includes("--check")) {
  writeFileSync(target, generated);
} else if (readFileSync(target, "utf8") !== generated) {
  console.error("src/protocol.ts is stale: `npm run generate`");
  process.exitCode = 1;
}
