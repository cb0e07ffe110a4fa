"""What lint says of a shell_command: what its command does that its author may not mean."""

import re
from collections.abc import Iterator
from typing import Any, Final

from vespe.files.on_path import is_on_path
from vespe.models import JsonObject, JsonValue
from vespe.schemas.explain import short
from vespe.tool_types import Remark
from vespe.tools import templates
from vespe.tools.templates import Slot

_DETAILS: Final = "/implementation_details"
_ARGV: Final = f"{_DETAILS}/args/argv"
_PROBES: Final = ("-", "-x", "--x", "-rf", "--output=x", "-1")
_IN_A_SHELL: Final = ("sh", "bash", "dash", "zsh", "ksh", "fish", "cmd", "powershell", "pwsh")
_DESTRUCTIVE: Final = (
    "rm",
    "rmdir",
    "unlink",
    "shred",
    "dd",
    "mkfs",
    "truncate",
    "kill",
    "pkill",
    "killall",
    "shutdown",
    "reboot",
    "dropdb",
)


def remarks(details: JsonObject, inputs: JsonValue) -> Iterator[Remark]:
    """Return all that is to be said of `implementation_details` and the schema of the inputs."""
    args = details.get("args")
    elements = list(_elements(args.get("argv") if isinstance(args, dict) else None, _ARGV))
    yield from _options(elements, inputs)
    yield from _in_a_shell(details, elements, inputs)
    yield from _secrets(elements)
    yield from _missing_program(details)


def destroys(details: JsonObject) -> str | None:
    """Return the program that it runs, where that is known to destroy."""
    program = details.get("entrypoint")
    return f"run {program}" if program in _DESTRUCTIVE else None


def _options(elements: list[tuple[str, str]], inputs: JsonValue) -> Iterator[Remark]:
    # An element that begins with an input can begin with a dash, unless a `--` stands before it.
    names = templates.input_names(inputs)
    for at, element in elements:
        if element == "--":
            return
        first = next(iter(templates.parse(element, names).pieces), None)
        if isinstance(first, Slot) and _can_begin_with_a_dash(_schema_of(inputs, first.name)):
            yield Remark(
                "safety-argv-option",
                at,
                f"a value of {short(first.name)} that begins with a dash would be read as an "
                "option, so such calls are refused",
                f'put "--" before it, or write "--name={{{first.name}}}" as one element, '
                "or allow no dash by a `pattern`",
            )


def _in_a_shell(
    details: JsonObject, elements: list[tuple[str, str]], inputs: JsonValue
) -> Iterator[Remark]:
    if details.get("entrypoint") not in _IN_A_SHELL or not any(
        re.fullmatch(r"-[a-z]*c|/[cC]|-[Cc]ommand", text) for _, text in elements
    ):
        return
    names = templates.input_names(inputs)
    for at, element in elements:
        for slot in templates.parse(element, names).slots:
            yield Remark(
                "safety-shell",
                at,
                f"the input {short(slot)} becomes part of a shell command, so its value can "
                "run other programs",
                "call the program directly, with each input as a separate element",
            )


def _secrets(elements: list[tuple[str, str]]) -> Iterator[Remark]:
    for at, element in elements:
        if templates.parse(element, ()).secrets:
            yield Remark(
                "safety-literal-secret",
                at,
                "every user of the machine can see a secret in argv in the list of processes",
                "the program gets the declared secrets as environment variables: let it read "
                "the variable",
            )


def _missing_program(details: JsonObject) -> Iterator[Remark]:
    program = details.get("entrypoint")
    if (
        details.get("path") is None
        and isinstance(program, str)
        and program.isprintable()
        and program
        and not is_on_path(program)
    ):
        yield Remark(
            "layout-program",
            f"{_DETAILS}/entrypoint",
            f"the program {short(program)} is not on PATH here",
            "install it, and say in description.md that the tool needs it",
        )


def _elements(argv: Any, at: str) -> Iterator[tuple[str, str]]:
    for index, item in enumerate(argv) if isinstance(argv, list) else ():
        if isinstance(item, str):
            yield f"{at}/{index}", item
        else:
            yield from _elements(item, f"{at}/{index}")


def _schema_of(inputs: JsonValue, name: str) -> Any:
    named = inputs.get("properties") if isinstance(inputs, dict) else None
    found = named.get(name) if isinstance(named, dict) else None
    items = found.get("items") if isinstance(found, dict) and found.get("type") == "array" else None
    return items if isinstance(items, dict) else found


def _can_begin_with_a_dash(schema: Any) -> bool:
    if not isinstance(schema, dict):
        return True
    fixed = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if isinstance(fixed, list):
        return any(str(value).startswith("-") for value in fixed)
    if schema.get("type") == "boolean":
        return False
    if schema.get("type") in ("integer", "number"):
        least = schema.get("minimum", schema.get("exclusiveMinimum"))
        return not (isinstance(least, (int, float)) and least >= 0)
    return not _pattern_forbids_it(schema.get("pattern"))


def _pattern_forbids_it(pattern: Any) -> bool:
    """Whether a pattern lets through none of some texts that begin with a dash."""
    try:
        return (
            isinstance(pattern, str)
            and pattern.startswith("^")
            and not any(re.search(pattern, probe) for probe in _PROBES)
        )
    except (re.error, RecursionError, OverflowError):
        return False
