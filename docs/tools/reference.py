#!/usr/bin/env python3
"""Writes docs/reference/ from schema/openrpc.json; with --check it only says whether the files there are fresh."""

import json
import re
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
PAGES = TOP / "docs/reference"
COLUMNS = 100
MADE = "<!-- Made by docs/tools/reference.py from schema/openrpc.json. -->\n\n"

# What passes as a runtime spells it has a page of its own.
RUNTIME = "What passes here in the runtime's own spelling: [Driving a runtime](../runtime.md).\n"
SPELLED = ["attach", "describe", "invoke", "respond", "event"]

document = json.loads((TOP / "schema/openrpc.json").read_text())
schemas = document["components"]["schemas"]
errors = document["components"]["errors"]
requests = [method for method in document["methods"] if "x-notification" not in method]
notices = [method for method in document["methods"] if "x-notification" in method]


def anchor(heading):
    """As MkDocs makes it."""
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower())


def reference(schema):
    """The name of the type that a schema only refers to."""
    while "allOf" in schema and len(schema["allOf"]) == 1 and "properties" not in schema:
        schema = schema["allOf"][0]
    return schema["$ref"].rsplit("/", 1)[1] if "$ref" in schema else None


def without_null(schema):
    """What a client reads of it: that `null` means absent is said once for all."""
    options = [option for option in schema.get("anyOf", []) if option.get("type") != "null"]
    return options[0] if len(options) == 1 else schema


def kind(schema, used):
    """The type of a member in words; types of their own go to `used`."""
    if schema is True:
        return "any"
    schema = without_null(schema)
    if name := reference(schema):
        used.add(name)
        return f"[{name}](types.md#{anchor(name)})"
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "oneOf" in schema or "anyOf" in schema:
        return " or ".join(kind(option, used) for option in schema.get("oneOf") or schema["anyOf"])
    words = schema.get("type", "any")
    words = [word for word in ([words] if isinstance(words, str) else words) if word != "null"] or ["null"]
    word = words[0]
    if word == "array":
        return "list of " + kind(schema.get("items", True), used)
    if word == "object" and isinstance(schema.get("additionalProperties"), dict):
        return "object of " + kind(schema["additionalProperties"], used)
    return word


def cell(text):
    return " ".join(text.split()).replace("|", "\\|")


def table(members, required, used):
    rows = ["| member | type | |", "|---|---|---|"]
    for name, schema in members.items():
        must = "**required.** " if name in required else ""
        said = (must + cell(schema.get("description", ""))).strip()
        rows.append(f"| `{name}` | {kind(schema, used)} | {said} |")
    return "\n".join(rows) + "\n"


def members_of(schema):
    """The members of an object and the names of those that must be there, also where it is put together."""
    members, required = dict(schema.get("properties", {})), set(schema.get("required", []))
    for part in schema.get("allOf", []):
        more, must = members_of(schemas[reference(part)] if "$ref" in part else part)
        members, required = members | more, required | must
    return members, required


def flat(value):
    return json.dumps(value, ensure_ascii=False)


def shown(value, indent=0, before=0):
    """JSON with as much on a line as fits."""
    if len(flat(value)) + indent + before <= COLUMNS or not isinstance(value, (dict, list)) or not value:
        return flat(value)
    inner, pad = indent + 2, "\n" + " " * (indent + 2)
    if isinstance(value, dict):
        items = [f"{flat(name)}: {shown(item, inner, len(name) + 4)}" for name, item in value.items()]
        return "{" + pad + ("," + pad).join(items) + "\n" + " " * indent + "}"
    if all(isinstance(item, str) for item in value):
        return "[" + pad + filled([flat(item) for item in value], inner) + "\n" + " " * indent + "]"
    return "[" + pad + ("," + pad).join(shown(item, inner) for item in value) + "\n" + " " * indent + "]"


def spelled(method):
    return [RUNTIME] if method["name"] in [f"runtime/{name}" for name in SPELLED] else []


def filled(words, indent):
    lines = [""]
    for number, word in enumerate(words):
        word += "," if number + 1 < len(words) else ""
        if lines[-1] and len(lines[-1]) + len(word) + 1 + indent > COLUMNS:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return ("\n" + " " * indent).join(lines)


def example(method):
    """The exchange as it crosses."""
    if not method["examples"]:
        return ""
    pairing = method["examples"][0]
    params = {param["name"]: param["value"] for param in pairing["params"]}
    if "result" not in pairing:
        sent = {"jsonrpc": "2.0", "method": method["name"], "params": params}
        arrow = "<--" if method["x-notification"] == "server" else "-->"
        return f"```text\n{arrow} {shown(sent)}\n```\n"
    asked = {"jsonrpc": "2.0", "id": 1, "method": method["name"], "params": params}
    answered = {"jsonrpc": "2.0", "id": 1, "result": pairing["result"]["value"]}
    return f"```text\n--> {shown(asked)}\n<-- {shown(answered)}\n```\n"


def params_of(method, used):
    if not method["params"]:
        return "No params.\n"
    members = {param["name"]: param["schema"] for param in method["params"]}
    return table(members, {param["name"] for param in method["params"] if param["required"]}, used)


def result_of(method, used):
    schema = method["result"]["schema"]
    if schema is True:
        return "Result: an object.\n"
    name = reference(schema)
    members, required = members_of(schemas[name]) if name else ({}, set())
    if members:
        return "Result:\n\n" + table(members, required, used)
    nothing = name == "Empty" or schema.get("type") == "null"
    return f"Result: `{'{}' if name else 'null'}`.\n" if nothing else "Result: an object.\n"


def common():
    """The errors that every method with a permission has."""
    lists = [reasons_of(method) for method in requests if method["x-permissions"]]
    return [reason for reason in lists[0] if all(reason in others for others in lists)]


def reasons_of(method):
    return [error["$ref"].rsplit("/", 1)[1] for error in method["errors"]]


def linked(reasons):
    return ", ".join(f"[`{reason}`](errors.md#{anchor(reason)})" for reason in reasons)


def methods_page(used):
    everywhere = common()
    text = (
        "# Methods\n\nMembers that are not required may be absent; `null` then means the same. Every params object may"
        f" carry [`_meta`](types.md#requestmeta). Any method can fail with {linked(everywhere)}, so only what is beyond"
        " these stands with each. The examples are real exchanges that a test keeps true; paths, ids and times of the"
        " run have fixed values in them.\n"
    )
    used.add("RequestMeta")
    for method in requests:
        permissions = ", ".join(f"`{permission}`" for permission in method["x-permissions"]) or "none"
        more = [reason for reason in reasons_of(method) if reason not in everywhere]
        parts = [f"## {method['name']}\n", cell(method["summary"]) + "\n", f"Permission: {permissions}.\n"]
        parts += spelled(method)
        parts += [params_of(method, used), result_of(method, used)]
        parts += [f"Errors: {linked(more)}.\n"] if more else []
        text += "\n" + "\n".join(parts + [example(method)]).rstrip() + "\n"
    return text


def notifications_page(used):
    text = "# Notifications\n"
    for direction, title in [("server", "From the server"), ("client", "From the client")]:
        text += f"\n## {title}\n"
        for notice in (notice for notice in notices if notice["x-notification"] == direction):
            parts = [f"### {notice['name']}\n", cell(notice["summary"]) + "\n", *spelled(notice)]
            parts += [params_of(notice, used), example(notice)]
            text += "\n" + "\n".join(parts).rstrip() + "\n"
    return text


def variants(schema, used):
    """One of several: words with their meanings, or objects told apart by a member."""
    options = schema.get("oneOf") or schema["anyOf"]
    if all("const" in option for option in options):
        rows = [f"| `{option['const']}` | {cell(option.get('description', ''))} |" for option in options]
        return "| value | |\n|---|---|\n" + "\n".join(rows) + "\n"
    parts = []
    for option in options:
        members, required = members_of(option)
        said = cell(option.get("description", "")) or "One of them:"
        parts.append(f"{said}\n\n{table(members, required, used)}" if members else f"- {kind(option, used)}: {said}\n")
    return "\n".join(parts)


def type_of(name, used):
    schema = schemas[name]
    said = cell(schema.get("description", ""))
    parts = [f"## {name}\n"] + ([said + "\n"] if said else [])
    members, required = members_of(schema)
    if "oneOf" in schema or "anyOf" in schema:
        parts.append(variants(schema, used))
    elif members:
        parts.append(table(members, required, used))
    else:
        parts.append(f"Type: {kind(schema, used)}.\n")
    return "\n".join(parts)


def types_page(used):
    done = {}
    while missing := used - done.keys():
        for name in missing:
            done[name] = type_of(name, used)
    return "# Types\n\n" + "\n".join(done[name] for name in sorted(done))


def errors_page():
    text = (
        "# Errors\n\nAn error has a `code`, a `message` for a person, which says what to do next, and"
        " `data.reason`, the stable word that a program switches on.\n"
    )
    for reason, error in errors.items():
        methods = [method["name"] for method in requests if reason in reasons_of(method)]
        where = ", ".join(f"[`{name}`](methods.md#{anchor(name)})" for name in methods)
        where = {0: "Of no method: what is at fault is the frame, the name, or somebody else."}.get(len(methods), where + ".")
        if reason in common():
            where = "Any method."
        text += f"\n## {reason}\n\n`{error['code']}`. {cell(error['message'])}\n\n{where}\n"
    return text


def limits_page():
    told = next(method for method in requests if method["name"] == "initialize")["examples"][0]["result"]["value"]
    members, _ = members_of(schemas["Limits"])
    rows = [f"| `{name}` | {told['limits'][name]:,} | {cell(schema['description'])} |" for name, schema in members.items()]
    return (
        "# Limits\n\n`initialize` tells them, and `tackroom serve --limit NAME=VALUE` lowers them. All other bounds are"
        " named in `src/limits.rs`.\n\n| limit | default | |\n|---|---|---|\n" + "\n".join(rows) + "\n"
    )


def pages():
    used = set()
    made = {"methods": methods_page(used), "notifications": notifications_page(used)}
    made |= {"types": types_page(used), "errors": errors_page(), "limits": limits_page()}
    return {f"{name}.md": MADE + text for name, text in made.items()}


def main():
    stale = []
    for name, text in pages().items():
        path = PAGES / name
        if not path.exists() or path.read_text() != text:
            stale.append(name)
            if "--check" not in sys.argv:
                path.write_text(text)
    if stale and "--check" in sys.argv:
        sys.exit(f"docs/reference/ is stale ({', '.join(stale)}): run docs/tools/reference.py")


main()
