"""What `implementation_details` of a shell_command may be."""

from collections.abc import Iterator
from typing import Any, Final

from vespe.models import JsonObject
from vespe.schemas import forms
from vespe.schemas.explain import describe, short
from vespe.schemas.forms import DETAILS, Form, Found

_FILE: Final = forms.own_file("an executable file inside the tool's directory")


def _what_runs(details: JsonObject, document: JsonObject) -> Iterator[Found]:
    """Judge `path` and `entrypoint` together: a file of the tool's own, or else a program."""
    path, entrypoint = details.get("path"), details.get("entrypoint")
    if path is not None:
        yield from _FILE.found(path, f"{DETAILS}/path", "path")
    elif not entrypoint:
        yield (
            DETAILS,
            "a shell_command needs `entrypoint`, a program found on PATH, or `path`, "
            "an executable file inside the tool's directory",
        )
    elif (
        "/" in entrypoint
        or entrypoint.startswith("-")
        or entrypoint in (".", "..")
        or not entrypoint.isprintable()
    ):
        yield (
            f"{DETAILS}/entrypoint",
            "`entrypoint` must be the name of a program found on PATH, "
            f"not {short(entrypoint)}; a file of the tool's own is its `path`",
        )


_WHAT_RUNS: Final[JsonObject] = {
    "if": {"required": ["path"], "properties": {"path": {"type": "string"}}},
    "then": {"properties": {"path": _FILE.schema}},
    "else": {
        "required": ["entrypoint"],
        "properties": {
            "entrypoint": {
                "type": "string",
                "pattern": f"^[^{forms.UNPRINTABLE}/-][^{forms.UNPRINTABLE}/]*$",
                "not": {"enum": [".", ".."]},
            }
        },
    },
}


def _argv(value: Any, at: str, name: str) -> Iterator[Found]:
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _template(item, f"{at}/{index}", f"{name}[{index}]")
    else:
        yield at, f"`{name}` must be a list of templates, not {describe(value)}"


def _template(value: Any, at: str, name: str) -> Iterator[Found]:
    if isinstance(value, list):
        yield from _argv(value, at, name)
    elif not isinstance(value, str):
        yield (
            at,
            f"`{name}` must be a template, a string, or a list of them, not {describe(value)}",
        )
    elif "\0" in value:
        yield (
            at,
            (
                f"`{name}` contains a NUL character, which is not allowed in an argument of "
                "a program"
            ),
        )


FORM: Final = forms.DetailsForm(
    keys={
        "path": Form(forms.nothing, {}, "An executable file, relative to the tool's directory."),
        "entrypoint": Form(forms.nothing, {}, "Instead of `path`: the name of a program on PATH."),
    },
    args={
        "argv": Form(
            _argv,
            {"type": "array", "items": {"$ref": "#/$defs/template"}},
            "The arguments of the program, as templates. A nested list is left out if the call "
            "does not have an input that the list contains.",
        ),
        "stdin": forms.kind(
            'a template, or "json"',
            lambda value: isinstance(value, str),
            {"type": "string"},
            "The standard input: a template, or `json` for all inputs as a JSON object.",
        ),
        "cwd": forms.choice(
            "project",
            "tool",
            description="The working directory: the project's or the tool's. Default: project.",
        ),
        "output": forms.choice(
            "text",
            "json",
            "lines",
            description="What the standard output is: a string, JSON, or a list of lines. "
            "Default: text.",
        ),
        "success_codes": forms.integers(range(256)).described(
            "The exit codes of success. Default: 0."
        ),
    },
    more=_what_runs,
    more_schema=_WHAT_RUNS,
)
