"""Makes `types.py` and `_methods.py` of the package from the checked-in schema of the protocol.

    python scripts/generate.py            writes them
    python scripts/generate.py --check    fails where they are not what it would write
"""

from __future__ import annotations

import json
import re
import sys
import textwrap
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SCHEMA = HERE.parents[2] / "schema"
PACKAGE = HERE.parent / "src" / "tackroom"
WIDTH = 120
NOTE = "# Made by scripts/generate.py from the schema of the protocol; do not edit.\n"

# What is written by hand, in `_events.py`: the schema leaves the kinds open, by which these are told apart.
OWN = ["DisconnectedEvent", "LaggedEvent", "RequestEvent", "RuntimeEvent", "RuntimeRequest", "ToldEvent"]

# What notifications carry, and what any request may.
TOLD = ["RegistryEvent", "SessionEvent", "ProgressValue", "RequestMeta"]

Schema = dict[str, Any]


def pascal(words: str) -> str:
    return "".join(word[0].upper() + word[1:] for word in re.split(r"[^A-Za-z0-9]+", words) if word)


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", re.sub(r"[^A-Za-z0-9]+", "_", name)).lower()


def doc(text: str | None, indent: str) -> list[str]:
    """A docstring, wrapped."""
    if not text:
        return []
    text = " ".join(text.split()).replace("\\", "\\\\").replace('"""', "'''")
    text += " " if text.endswith('"') else ""
    lines = textwrap.wrap(text, WIDTH - len(indent) - 6, break_long_words=False)
    if len(lines) == 1:
        return [f'{indent}"""{lines[0]}"""']
    return [f'{indent}"""{lines[0]}', *(indent + line for line in lines[1:]), f'{indent}"""']


Call = str | tuple[str, list["Call"], str]


def fit(call: Call, indent: str, end: str = "") -> str:
    """A call or a definition: in one line, or where that is too long with a line for each part."""
    line = indent + flat(call) + end
    if isinstance(call, str) or len(line) <= WIDTH:
        return line
    head, parts, tail = call
    return "\n".join([indent + head, *(fit(part, indent + "    ", ",") for part in parts), indent + tail + end])


def flat(call: Call) -> str:
    return call if isinstance(call, str) else call[0] + ", ".join(map(flat, call[1])) + call[2]


class Types:
    """The module of types: each definition once, after those that it needs."""

    def __init__(self, definitions: dict[str, Schema]) -> None:
        self.definitions = definitions
        self.begun: set[str] = set()
        self.done: list[str] = [*OWN]
        self.blocks: list[list[str]] = []

    def define(self, name: str) -> None:
        if name not in self.begun and name not in OWN:
            self.begun.add(name)
            block = self.definition(name, self.definitions[name])
            self.done.append(name)
            self.blocks.append(block)

    def definition(self, name: str, schema: Schema) -> list[str]:
        if "oneOf" in schema and all("const" in one for one in schema["oneOf"]):
            return self.alias(name, ("Literal[", [json.dumps(one["const"]) for one in schema["oneOf"]], "]"), schema)
        if "oneOf" in schema:
            variants: list[Call] = [self.variant(name, one) for one in schema["oneOf"]]
            return self.alias(name, ("Union[", variants, "]") if len(variants) > 1 else flat(variants[0]), schema)
        if schema.get("type") == "object":
            return self.typed_dict(name, schema)
        return self.alias(name, self.expression(schema), schema)

    def variant(self, union: str, schema: Schema) -> str:
        [tag] = [member["const"] for member in schema["properties"].values() if "const" in member]
        name = pascal(tag) + union
        base = schema["allOf"][0]["$ref"].rsplit("/", 1)[-1] if "allOf" in schema else None
        if base:
            self.define(base)
        self.blocks.append(self.typed_dict(name, schema, base or "TypedDict"))
        self.done.append(name)
        return name

    def alias(self, name: str, call: Call, schema: Schema) -> list[str]:
        head, parts, tail = (call, [], "") if isinstance(call, str) else call
        return [fit((f"{name}: TypeAlias = {head}", parts, tail), ""), *doc(schema.get("description"), "")]

    def typed_dict(self, name: str, schema: Schema, base: str = "TypedDict") -> list[str]:
        lines = [f"class {name}({base}):", *doc(schema.get("description"), "    ")]
        required = schema.get("required", [])
        for member, of in schema.get("properties", {}).items():
            kind = self.expression(of)
            # A variant may refer to the union that it is of, which is not there yet.
            unfinished = any(word not in self.done for word in re.findall(r"\w+", kind) if word in self.definitions)
            kind = f'"{kind}"' if unfinished else kind
            lines.append(f"    {member}: {kind if member in required else f'NotRequired[{kind}]'}")
            lines += doc(of.get("description"), "    ")
        return lines if len(lines) > 1 else [*lines, "    pass"]

    def expression(self, schema: Any) -> str:
        """How a schema is written as a type."""
        if schema is True:
            return "Any"
        if "$ref" in schema:
            name = schema["$ref"].rsplit("/", 1)[-1]
            self.define(name)
            return str(name)
        if "allOf" in schema:
            return self.expression(schema["allOf"][0])
        if "anyOf" in schema:
            return " | ".join(dict.fromkeys(self.expression(one) for one in schema["anyOf"]))
        if "const" in schema:
            return f"Literal[{json.dumps(schema['const'])}]"
        kinds = schema.get("type", "any")
        kinds = kinds if isinstance(kinds, list) else [kinds]
        return " | ".join(self.simple(kind, schema) for kind in kinds)

    def simple(self, kind: str, schema: Schema) -> str:
        if kind == "array":
            return f"list[{self.expression(schema.get('items', True))}]"
        if kind == "object":
            return f"dict[str, {self.expression(schema.get('additionalProperties', True))}]"
        names = {"string": "str", "integer": "int", "number": "int | float", "boolean": "bool", "null": "None"}
        return names.get(kind, "Any")

    def module(self) -> str:
        names = ",\n".join(f'    "{name}"' for name in sorted(self.done))
        head = [
            NOTE + '"""What crosses the wire, as it crosses: members keep the names that the protocol gives them."""',
            "from typing import Any, Literal, NotRequired, TypeAlias, TypedDict, Union",
            f"from ._events import {', '.join(OWN)}",
            f"__all__ = [\n{names},\n]",
        ]
        return "\n\n".join(head) + "\n\n\n" + "\n\n\n".join("\n".join(block) for block in self.blocks) + "\n"


def method_doc(spec: Schema) -> list[str]:
    needs = " and ".join(f"`{word}`" for word in spec["x-permissions"])
    told = [f"`{spec['name']}`: {spec['summary']}" + (f" Needs {needs}." if needs else "")]
    described = [param for param in spec["params"] if "description" in param]
    params = [f"- `{snake(param['name'])}`: {param['description']}" for param in described]
    lines = [line for text in told for line in textwrap.wrap(" ".join(text.split()), WIDTH - 12)]
    lines += [""] if params else []
    lines += [line for text in params for line in
              textwrap.wrap(" ".join(text.split()), WIDTH - 8, subsequent_indent="  ")]
    indented = [f"        {line}".rstrip() for line in lines]
    indented[0] = f'        """{lines[0]}'
    return [indented[0] + '"""'] if len(lines) == 1 else [*indented, '        """']


def method(types: Types, spec: Schema) -> str:
    """One method of the client."""
    name, result = spec["name"], types.expression(spec["result"]["schema"])
    required = [param for param in spec["params"] if param["required"]]
    optional = [param for param in spec["params"] if not param["required"]]
    arguments = [f"{snake(param['name'])}: {types.expression(param['schema'])}" for param in required]
    arguments += ["*"] if optional else []
    for param in optional:
        kind = types.expression(param["schema"])
        kind = kind if kind == "Any" or kind.endswith(" | None") else f"{kind} | None"
        arguments.append(f"{snake(param['name'])}: {kind} = None")
    head = fit((f"async def {snake(name)}(", ["self", *arguments], f") -> {result}:"), "    ")
    pairs: list[Call] = [f'"{param["name"]}": {snake(param["name"])}' for param in required]
    given: list[Call] = [f"{param['name']}={snake(param['name'])}" for param in optional]
    if pairs:
        sent: list[Call] = [("{", [*pairs, ("**given(", given, ")")] if given else pairs, "}")]
    else:
        sent = [("given(", given, ")")] if given else []
    returns = "" if result == "None" else f"result: {result} = "
    call = fit((f"{returns}await self.request(", [f'"{name}"', *sent], ")"), "        ")
    return "\n".join([head, *method_doc(spec), call, *(["        return result"] if returns else [])])


def methods_module(types: Types, specs: list[Schema]) -> str:
    methods = [method(types, spec) for spec in specs if "result" in spec]
    used = sorted({name for name in types.begun if re.search(rf"\b{name}\b", "\n".join(methods))})
    imports = ",\n".join(f"    {name}" for name in used)
    return f'''{NOTE}"""The methods of the protocol, each as a method of the client."""

from collections.abc import Mapping
from typing import Any

from .types import (
{imports},
)


def given(**params: Any) -> dict[str, Any]:
    """The params that were given."""
    return {{name: value for name, value in params.items() if value is not None}}


class Methods:
    """Every method of the protocol. Errors are `TackroomError`; absent params are `None`."""

    async def request(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        raise NotImplementedError

''' + "\n\n".join(methods) + "\n"


def main() -> None:
    document = json.loads((SCHEMA / "openrpc.json").read_text("utf-8"))
    types = Types(json.loads((SCHEMA / "schema.json").read_text("utf-8"))["definitions"])
    modules = {PACKAGE / "_methods.py": methods_module(types, document["methods"])}
    for told in TOLD:
        types.define(told)
    modules[PACKAGE / "types.py"] = types.module()
    if sys.argv[1:] == ["--check"]:
        stale = [path.name for path, text in modules.items() if not path.exists() or path.read_text("utf-8") != text]
        sys.exit(f"stale, run scripts/generate.py: {', '.join(stale)}" if stale else 0)
    for path, text in modules.items():
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
