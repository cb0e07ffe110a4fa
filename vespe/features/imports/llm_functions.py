"""Directories of llm-functions: tools in Bash by argc's comments, in JavaScript and in Python, one
file or one function each.
"""

import os
import re
from collections.abc import Iterator
from typing import Any, Final

from vespe.errors import InvalidDocument, StorageError, UsageError, VespeError
from vespe.features.imports import argc
from vespe.features.imports.made import (
    Imported,
    LeftOut,
    Made,
    Selection,
    plain,
    selected,
    short,
    slug,
)
from vespe.files import atomic
from vespe.files.trees import TreeFile
from vespe.models import JsonObject
from vespe.tools.python.names import parse_source, read_names
from vespe.tools.python.signatures import derive

_ENDS: Final = (".sh", ".js", ".py")
_MAX_FILES: Final = 1000
_GUARDS: Final = "utils"
_EXPORT: Final = re.compile(
    r"^(?:module\.)?exports\.([A-Za-z]\w*)\s*=\s*(?:async\s+)?function", re.MULTILINE
)
_PROPERTY: Final = re.compile(r"@property\s+\{([^}]*)\}\s+(\[?)([\w$]+)(?:=[^\]]*)?\]?\s*-?\s*(.*)")
_JS_TYPES: Final = {
    "string": "string",
    "number": "number",
    "integer": "integer",
    "int": "integer",
    "boolean": "boolean",
    "bool": "boolean",
}
_RUN_JS: Final = """#!/usr/bin/env node
// Calls one function of the tool's file with the arguments on stdin, and prints what it returns.
const tool = require("./{file}");
let said = "";
process.stdin.on("data", (piece) => (said += piece)).on("end", async () => {{
  const result = await tool.{function}(JSON.parse(said));
  if (result !== undefined) process.stdout.write(typeof result === "string" ? result : JSON.stringify(result));
}});
"""  # noqa: E501  # a file as it is written


def import_directory(source: str, *, kit_id: str, selection: Selection) -> Imported:
    """Make a tool of each function in `tools/` and `agents/*/` of a directory, or of one file;
    nothing of it is run.

    Raises UsageError where there is none.
    """
    files = list(_files(source))
    every: list[tuple[str, Made | LeftOut]] = []
    for name, path in files:
        try:
            every += [(made.source, made) for made in _tools(name, path, os.path.dirname(path))]
        except VespeError as error:
            every.append((name, LeftOut(what=name, reason=str(error))))
    if not every:
        raise UsageError(
            f"{source} does not contain tools of llm-functions",
            hint="it has tools/NAME.sh, .js or .py, or agents/NAME/tools.sh",
        )
    wanted = selected(
        every,
        selection,
        tags=lambda one: (one[0].split("/")[0], *one[0].split("/")[1:2]),
        path=lambda one: one[0],
    )
    tools: dict[str, Made] = {}
    left_out: list[LeftOut] = []
    for _, made in wanted:
        if isinstance(made, LeftOut):
            left_out.append(made)
        elif made.name in tools:
            left_out.append(
                LeftOut(what=made.source, reason=f"{tools[made.name].source} has its name already")
            )
        else:
            tools[made.name] = made
    title = os.path.basename(os.path.realpath(source)).partition(".")[0]
    return Imported(
        kind="llm-functions",
        title=plain(title) or kit_id,
        description="",
        version="0",
        tools=tuple(tools.values()),
        left_out=tuple(left_out),
        unselected=len(every) - len(wanted),
    )


def _files(source: str) -> Iterator[tuple[str, str]]:
    """Return the files of tools by their path beneath the source, sorted; links are not
    followed.
    """
    if os.path.isfile(source):
        yield os.path.basename(source), os.path.realpath(source)
        return
    root = os.path.realpath(source)
    inner = (
        "tools"
        if os.path.isdir(os.path.join(root, "tools")) or os.path.isdir(os.path.join(root, "agents"))
        else ""
    )
    found = [
        (f"{inner}/{name}" if inner else name, os.path.join(root, inner, name))
        for name in _listed(os.path.join(root, inner))
    ]
    for agent in _listed(os.path.join(root, "agents")):
        names = _listed(os.path.join(root, "agents", agent))
        found += [
            (f"agents/{agent}/{name}", os.path.join(root, "agents", agent, name))
            for name in names
            if name.startswith("tools.")
        ]
    for name, path in sorted(found)[:_MAX_FILES]:
        if name.endswith(_ENDS) and os.path.isfile(path) and not os.path.islink(path):
            yield name, path


def _listed(directory: str) -> list[str]:
    try:
        return sorted(os.listdir(directory)) if not os.path.islink(directory) else []
    except FileNotFoundError:
        return []
    except NotADirectoryError:
        return []
    except OSError as error:
        raise StorageError("read", directory, error) from error


def _tools(name: str, path: str, directory: str) -> Iterator[Made]:
    data = atomic.read_bytes(path)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidDocument("is not text in UTF-8", path=name) from None
    stem = os.path.basename(path).rpartition(".")[0]
    stem = (
        os.path.basename(directory) if stem == "tools" and not name.startswith("tools/") else stem
    )
    if name.endswith(".sh"):
        yield from _bash(name, text, stem)
    elif name.endswith(".js"):
        yield from _javascript(name, text, stem)
    else:
        yield from _python(name, text, stem)


def _bash(name: str, text: str, stem: str) -> Iterator[Made]:
    script = argc.parse(text)
    guards = argc.guards(text)
    notes = [f"it needs {', '.join(script.needs)} on PATH"] if script.needs else []
    notes += (
        [
            "its confirmation prompts on the terminal are turned off: "
            "Vespe asks instead, according to its own rules"
        ]
        if guards
        else []
    )
    notes += [
        f"{variable.name} is not passed to the tool, because it is optional: only required "
        "variables are"
        for variable in script.variables
        if not variable.required
    ]
    secrets = [variable.name for variable in script.variables if variable.required]
    for command in script.commands:
        files = {
            "run.py": TreeFile(data=argc.runner(command.name).encode("utf-8"), executable=True),
            "tool.sh": TreeFile(data=text.encode("utf-8"), executable=True),
            **{
                path: TreeFile(data=guard.encode("utf-8"), executable=True)
                for path, guard in guards.items()
            },
        }
        details: JsonObject = {"type": "shell_command", "path": "run.py", "args": {"stdin": "json"}}
        source = f"{name}:{command.name}" if command.name else name
        more = {
            "secrets": secrets,
            "files": files,
            "notes": notes,
            "hints": {"destructiveHint": True} if guards else {},
        }
        yield _made(
            slug(command.name or stem),
            source,
            command.description,
            argc.inputs(command),
            details=details,
            **more,
        )


def _javascript(name: str, text: str, stem: str) -> Iterator[Made]:
    for found in _EXPORT.finditer(text):
        function, before = found[1], text[: found.start()]
        comment = (
            before[before.rindex("/**") :]
            if before.rstrip().endswith("*/") and "/**" in before
            else ""
        )
        lines = [line.strip().lstrip("/*").strip() for line in comment.split("\n")]
        about = " ".join(line for line in lines if line and not line.startswith("@"))
        properties, required = {}, []
        for kind, optional, key, said in (
            match.groups() for line in lines if (match := _PROPERTY.match(line))
        ):
            properties[key] = {**_js_schema(kind), **({"description": plain(said)} if said else {})}
            if not optional and not kind.strip().endswith(("=", "?")):
                required.append(key)
        schema = {
            "type": "object",
            "properties": properties,
            **({"required": required} if required else {}),
            "additionalProperties": False,
        }
        runner = _RUN_JS.format(file="tool.js", function=function)
        files = {
            "run.js": TreeFile(data=runner.encode("utf-8"), executable=True),
            "tool.js": TreeFile(data=text.encode("utf-8")),
        }
        details: JsonObject = {"type": "shell_command", "path": "run.js", "args": {"stdin": "json"}}
        packages = sorted(
            set(re.findall(r"require\([\"'](?!node:|\.)([^\"']+)[\"']\)", text)) - _NODE
        )
        notes = (
            [f"it needs the packages {', '.join(packages)}, installed where Node finds them"]
            if packages
            else []
        )
        yield _made(
            slug(stem if function == "run" else function),
            f"{name}:{function}" if function != "run" else name,
            about,
            schema,
            details=details,
            files=files,
            notes=notes,
        )


_NODE_WORDS: Final = (
    "assert buffer child_process crypto dns events fs http https net os path "
    "process querystring readline stream tls url util"
)
_NODE: Final = frozenset(_NODE_WORDS.split(" "))


def _js_schema(kind: str) -> JsonObject:
    kind = kind.strip().rstrip("=?").strip("()")
    if kind.endswith("[]") or kind.startswith("Array<"):
        return {
            "type": "array",
            "items": _js_schema(kind.removesuffix("[]").removeprefix("Array<").rstrip(">")),
        }
    if "|" in kind and all(part.strip()[:1] in "\"'" for part in kind.split("|")):
        return {"type": "string", "enum": [part.strip().strip("\"'") for part in kind.split("|")]}
    known = _JS_TYPES.get(kind.lower())
    return {"type": known} if known else {}


def _python(name: str, text: str, stem: str) -> Iterator[Made]:
    try:
        functions = [
            one for one in read_names(parse_source(text)).functions if not one.startswith("_")
        ]
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InvalidDocument(f"is not Python: {error}", path=name) from None
    wanted = ["run"] if "run" in functions else functions
    if not wanted:
        raise InvalidDocument("has no function `run`", path=name)
    for function in wanted:
        derived = derive(text, function, path=name)
        details: JsonObject = {"type": "python_script", "path": "tool.py", "entrypoint": function}
        yield _made(
            slug(stem if function == "run" else function),
            f"{name}:{function}" if function != "run" else name,
            derived.description,
            derived.input_schema,
            details=details,
            files={"tool.py": TreeFile(data=text.encode("utf-8"))},
            notes=list(derived.notes),
        )


def _made(
    name: str, source: str, description: str, schema: Any, *, details: JsonObject, **more: Any
) -> Made:
    secrets = more.get("secrets") or []
    document: JsonObject = {
        "name": name,
        "description": short(plain(description)) or f"The tool {name}, which has no description.",
        "schema": {"input": schema},
        "implementation_details": details,
        **({"secrets": secrets} if secrets else {}),
        **({"annotations": more["hints"]} if more.get("hints") else {}),
    }
    return Made(document=document, source=source, files=more["files"], notes=tuple(more["notes"]))
