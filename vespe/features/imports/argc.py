"""The comments by which argc (https://github.com/sigoden/argc) describes a script's options, as
inputs; and how such a script is run.
"""

import re
from collections.abc import Iterator
from typing import Final

from vespe.features.imports.made import plain
from vespe.models import JsonObject
from vespe.records import dataclass

_TAG: Final = re.compile(r"#\s*@(\w+)\s*(.*)")
_FUNCTION: Final = re.compile(
    r"(?:function\s+)?([A-Za-z_][\w:.-]*)\s*\(\)|function\s+([A-Za-z_][\w:.-]*)"
)
_OPTION: Final = re.compile(
    r"(?:-\w,?\s+)?(?P<dashes>--?)?(?P<name>[A-Za-z_][\w-]*)(?P<mark>[!+*,~]*)"
    r"(?:\[(?P<choices>[^\]]*)\])?(?:=(?P<default>`[^`]*`|\"[^\"]*\"|\S+))?(?P<hints>(?:\s+<[^>]*>)*)\s*(?P<text>.*)"
)
_TYPES: Final = {
    "int": "integer",
    "num": "number",
    "integer": "integer",
    "number": "number",
    "float": "number",
    "bool": "boolean",
}

_RUNNER: Final = '''#!/usr/bin/env python3
"""Runs the tool beside it as argc would, without argc: what it would say to the script comes from the JSON on stdin."""

import json
import os
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ARGC = 'argc() { cat "$VESPE_ARGC"; }; export -f argc; exec bash "$0"'


def said(name, value):
    if isinstance(value, list):
        return f"argc_{name}=({' '.join(shlex.quote(str(one)) for one in value)})"
    if isinstance(value, bool):
        return f"argc_{name}=1" if value else ""
    return f"argc_{name}={shlex.quote(str(value))}"


with tempfile.NamedTemporaryFile("w", encoding="utf-8") as lines:
    lines.write("\\n".join([*(said(*pair) for pair in json.load(sys.stdin).items()), "FUNCTION"]) + "\\n")
    lines.flush()
    environment = {**os.environ, "VESPE_ARGC": lines.name, "LLM_OUTPUT": "/dev/stdout", "LLM_ROOT_DIR": HERE}
    words = ["bash", "-c", ARGC, os.path.join(HERE, "tool.sh")]
    sys.exit(subprocess.run(words, env=environment, stdin=subprocess.DEVNULL, check=False).returncode)
'''  # noqa: E501  # a file as it is written
_GUARD: Final = (
    "#!/usr/bin/env bash\n# Vespe asks by its own rules, before the tool starts.\nexit 0\n"
)


def runner(function: str) -> str:
    """Return the program that runs a script, and in it a function where it has several."""
    return _RUNNER.replace("FUNCTION", function or "main")


def guards(text: str) -> dict[str, str]:
    """Return the guards that a script calls, which let everything pass here, by their paths."""
    return {
        f"utils/{name}": _GUARD for name in ("guard_operation.sh", "guard_path.sh") if name in text
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option, flag or argument of a script."""

    name: str
    required: bool
    schema: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """One environment variable that a script reads."""

    name: str
    required: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgcCommand:
    """One function of a script; the whole script where the name is empty."""

    name: str
    description: str
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """What the comments of a script say."""

    commands: tuple[ArgcCommand, ...]
    variables: tuple[Variable, ...]
    needs: tuple[str, ...]


def parse(text: str) -> Script:
    """Read the comments of a script: those before the first function are the whole script's, `@cmd`
    begins one of its own.
    """
    variables: dict[str, Variable] = {}
    needs: list[str] = []
    commands: list[ArgcCommand] = []
    description, is_command = "", False
    options: list[Option] = []
    whole: tuple[str, list[Option]] = ("", [])
    for tag, rest, line in _tagged(text):
        if tag == "env":
            name = re.match(r"([A-Za-z_]\w*)(!?)", rest)
            if name and not name[1].startswith("LLM_"):
                variables[name[1]] = Variable(name=name[1], required=bool(name[2]))
        elif tag == "meta" and rest.startswith("require-tools"):
            needs += [one for one in re.split(r"[,\s]+", rest)[1:] if one]
        elif tag in ("describe", "cmd"):
            is_command = is_command or tag == "cmd"
            description = rest
        elif tag in ("option", "flag", "arg"):
            options += _option(tag, rest)
        elif tag == "" and (found := _FUNCTION.match(line)):
            if is_command:
                commands.append(
                    ArgcCommand(
                        name=found[1] or found[2], description=description, options=tuple(options)
                    )
                )
            elif not whole[0]:
                whole = (description, options)
            description, options, is_command = "", [], False
    if not commands:
        described, said = whole if whole[0] else (description, options)
        commands.append(ArgcCommand(name="", description=described, options=tuple(said)))
    return Script(commands=tuple(commands), variables=tuple(variables.values()), needs=tuple(needs))


def _tagged(text: str) -> Iterator[tuple[str, str, str]]:
    """Return (tag, what follows it, the line), with the comment lines beneath a `@describe` or
    `@cmd` joined to it.
    """
    waiting: tuple[str, str, str] | None = None
    for line in text.split("\n"):
        found = _TAG.match(line)
        if (
            found is None
            and waiting is not None
            and waiting[0] in ("describe", "cmd")
            and line.startswith("# ")
        ):
            waiting = (waiting[0], f"{waiting[1]} {line[2:].strip()}", waiting[2])
            continue
        if waiting is not None:
            yield waiting
            waiting = None
        if found:
            waiting = (found[1], found[2].strip(), line)
        elif line and not line.startswith("#"):
            yield "", "", line
    if waiting is not None:
        yield waiting


def _option(tag: str, rest: str) -> Iterator[Option]:
    found = _OPTION.match(rest)
    if found is None:
        return
    kind = "flag" if tag == "flag" else "list" if set(found["mark"]) & set("+*,~") else "one"
    one: JsonObject = {"type": "boolean"} if kind == "flag" else _schema(found)
    schema: JsonObject = {"type": "array", "items": one} if kind == "list" else one
    default, text = found["default"], plain(found["text"])
    if default and not default.startswith("`"):
        text = f"{text} Default: {plain(default)}.".strip()
    required = bool(set(found["mark"]) & set("!+")) and kind != "flag"
    schema |= {"description": text} if text else {}
    yield Option(name=found["name"].replace("-", "_"), required=required, schema=schema)


def _schema(found: re.Match[str]) -> JsonObject:
    choices = found["choices"]
    if choices and not choices.startswith(("`", "?`")):
        return {"type": "string", "enum": [one.lstrip("=") for one in choices.split("|")]}
    hints = [hint.lower() for hint in re.findall(r"<([^>]*)>", found["hints"])]
    return {"type": _TYPES.get(hints[0], "string") if hints else "string"}


def inputs(command: ArgcCommand) -> JsonObject:
    """Return the input schema of a command."""
    properties = {option.name: option.schema for option in command.options}
    required = [option.name for option in command.options if option.required]
    return {
        "type": "object",
        "properties": properties,
        **({"required": required} if required else {}),
        "additionalProperties": False,
    }
