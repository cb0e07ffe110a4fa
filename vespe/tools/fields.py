"""The keys of a tool's config.json: `FIELDS` has a row for each, by which Vespe checks it and by
which the published schema is made.
"""

from collections.abc import Iterator
from typing import Any, Final

from vespe import defaults
from vespe.models import PERMISSIONS, JsonObject
from vespe.schemas import forms
from vespe.schemas.explain import describe, short
from vespe.schemas.forms import Form, Found
from vespe.tools import origins, secret_items
from vespe.tools.names import NAME_PATTERN, UID_PATTERN

MAX_OUTPUT_LIMIT: Final = 1 << 30
MIN_MODEL_TOKENS: Final = 100
MAX_MODEL_TOKENS: Final = 1_000_000
EFFECTS: Final = ("reads_private", "reads_untrusted", "sends_out", "writes", "destructive")
"""It reads what is not everybody's; what strangers may have written; it gives data to others; it
changes something; what it changes may be lost.
"""
_UID_RULE: Final = "a uid is `tool-`, then a letter or digit, then at most 58 of a-z, 0-9, _ and -"


def found_in_fields(document: dict[str, Any], *, uid: str, kit_id: str | None) -> list[Found]:
    """Return all that is wrong with the keys of a config.json that stands in the directory `uid` of
    the kit `kit_id`.

    Unknown keys are let be, and whether `schema` holds JSON Schemas is not judged here.
    """
    found = [*_identity(document, uid, kit_id)]
    for key, value in document.items():
        if form := FIELDS.get(key):
            found += form.found(value, f"/{key}", key)
    if not isinstance(schema := document.get("schema"), dict):
        at = "/schema" if "schema" in document else ""
        found.append(
            (
                at,
                "needs `schema`, an object with the JSON Schemas `input` and, optionally, `output`",
                "schema",
            )
        )
    elif "input" not in schema:
        found.append(("/schema", "needs `input`, the JSON Schema of the tool's inputs"))
    return found


def _identity(document: dict[str, Any], uid: str, kit_id: str | None) -> Iterator[Found]:
    if not UID_PATTERN.fullmatch(uid):
        yield "", f"is in a directory that is named {short(uid)}; {_UID_RULE}", "uid"
    if document.get("uid") != uid:
        yield (
            (
                "/uid",
                f"`uid` must be the directory's name, {short(uid)}, "
                f"not {describe(document['uid'])}",
            )
            if "uid" in document
            else ("", f"needs `uid`, the directory's name: {short(uid)}", "uid")
        )
    name = document.get("name")
    if not isinstance(name, str) or not NAME_PATTERN.fullmatch(name):
        if "name" not in document:
            yield "", "needs `name`, what the model calls", "name"
        else:
            yield (
                "/name",
                "`name` must be a letter or _, then at most 63 letters, digits, _ or -; "
                f"it is {describe(name)}",
            )
    claimed = document.get("kit_id")
    if claimed is not None and not isinstance(claimed, str):
        yield "/kit_id", f"`kit_id` must be a string, not {describe(claimed)}"
    elif claimed is not None and kit_id is not None and claimed != kit_id:
        yield (
            "/kit_id",
            f"`kit_id` must be the kit that the tool stands in, {short(kit_id)}, "
            f"not {short(claimed)}",
        )


_OUTPUTS: Final = ("output", "output_schema", "output_pattern")


def _expectations(example: dict[str, Any], at: str, name: str) -> Iterator[Found]:
    if "output_schema" in example and not isinstance(example["output_schema"], (dict, bool)):
        yield (
            f"{at}/output_schema",
            f"{name} must give `output_schema` as a JSON Schema, "
            f"not {describe(example['output_schema'])}",
        )
    if "output_pattern" in example and not isinstance(example["output_pattern"], str):
        yield (
            f"{at}/output_pattern",
            f"{name} must give `output_pattern` as a string, "
            f"not {describe(example['output_pattern'])}",
        )


def _examples(value: Any, pointer: str, key: str) -> Iterator[Found]:
    if not isinstance(value, list):
        yield pointer, f"`{key}` must be a list, not {describe(value)}"
        return
    for index, example in enumerate(value):
        at, name = f"{pointer}/{index}", f"`{key}[{index}]`"
        if not isinstance(example, dict) or not isinstance(example.get("input"), dict):
            yield at, f"{name} must be an object with `input`, an object, and `output` or `error`"
            continue
        yield from _expectations(example, at, name)
        if "error" in example and any(key in example for key in _OUTPUTS):
            said = next(key for key in _OUTPUTS if key in example)
            yield at, f"{name} has both `{said}` and `error`; a call has one of them"
        elif "error" in example and not (isinstance(example["error"], str) and example["error"]):
            yield f"{at}/error", f"{name} must give `error` as the code of an error, a string"


def _created_from(value: Any, pointer: str, key: str) -> Iterator[Found]:
    if wrong := origins.problem(value):
        yield pointer, f"`{key}` {wrong}"


_CREATED_FROM: Final[JsonObject] = {
    "type": "object",
    "required": ["path", "sha256"],
    "properties": {
        "path": {
            "type": "string",
            "pattern": r"^[^/\u0000][^\u0000]*$",
            "not": {"pattern": r"(?:^|/)\.\.(?:/|$)"},
            "description": "The copied file, relative to the project's root.",
        },
        "function": {
            "type": "string",
            "description": "The function in that file that the tool runs.",
        },
        "sha256": {
            "type": "string",
            "pattern": "^[0-9a-f]{64}$",
            "description": "The SHA-256 digest of the copied bytes.",
        },
    },
}
_EXAMPLE: Final[JsonObject] = {
    "type": "object",
    "required": ["input"],
    "properties": {
        "input": {"type": "object", "description": "The arguments."},
        "output": True,
        "error": {"type": "string", "minLength": 1, "description": "The expected error code."},
        "output_schema": {
            "type": ["object", "boolean"],
            "description": "A JSON Schema that the result must match.",
        },
        "output_pattern": {
            "type": "string",
            "description": "A regular expression that must match somewhere in the result.",
        },
    },
    "if": {"required": ["error"]},
    "then": {"not": {"anyOf": [{"required": [key]} for key in _OUTPUTS]}},
}
_SCHEMA: Final[JsonObject] = {
    "type": "object",
    "required": ["input"],
    "properties": {
        "input": {
            "description": "The JSON Schema of the inputs. Unknown inputs are rejected, unless its "
            "root has additionalProperties or unevaluatedProperties.",
            "type": "object",
            "required": ["type"],
            "properties": {"type": {"const": "object"}},
            "$ref": "#/$defs/schema",
        },
        "output": {
            "description": "The JSON Schema of the result.",
            "type": ["object", "boolean"],
            "$ref": "#/$defs/schema",
        },
    },
}
_LIMITS: Final = {
    "timeout_s": forms.number(
        f"a number of seconds above 0, at most {defaults.MAX_TIMEOUT_S}",
        defaults.MAX_TIMEOUT_S,
        "The time limit of a call in seconds. Default: 30.",
    ),
    "max_output_bytes": forms.integer(
        1, MAX_OUTPUT_LIMIT, "The maximum size of a result in bytes. Default: 1 MiB."
    ),
    "model_tokens": forms.kind(
        'an integer from 100 to 1000000 or "whole"',
        lambda value: (
            value == defaults.WHOLE
            or (
                isinstance(value, int)
                and not isinstance(value, bool)
                and MIN_MODEL_TOKENS <= value <= MAX_MODEL_TOKENS
            )
        ),
        {
            "anyOf": [
                {
                    "type": "integer",
                    "minimum": MIN_MODEL_TOKENS,
                    "maximum": MAX_MODEL_TOKENS,
                },
                {"const": defaults.WHOLE},
            ]
        },
        "How much of a result a model sees, in tokens of four characters. It can read the rest "
        'with `read_result`. "whole": no limit. Default: 10,000.',
        shown=short,
    ),
    "worker": forms.only(
        "persistent",
        "Keep the process of a python_script, with its module state, between "
        "calls in a long-lived Vespe process.",
    ),
    "max_calls": forms.integer(
        1,
        None,
        "Replace a persistent process after this many calls. Default: 1,000.",
        wanted="a number above 0",
    ),
    "max_idle_s": forms.number(
        "a number above 0",
        None,
        "End a persistent process after this many seconds without a call. Default: 300.",
    ),
}
_ANNOTATIONS: Final = {
    "readOnlyHint": forms.flag("The tool changes nothing. Agents may call it without approval."),
    "destructiveHint": forms.flag("The tool can delete or overwrite data."),
    "idempotentHint": forms.flag("Repeating a call with the same arguments changes nothing more."),
    "openWorldHint": forms.flag("The tool deals with systems of other people, such as websites."),
    "title": forms.text("A title for people."),
}
_NO_NUL: Final = forms.kind(
    "a string without NUL",
    lambda value: "\0" not in value,
    {"pattern": "^[^\\u0000]*$"},
)
_PERMISSIONS: Final = {
    name: forms.integer(1, one.most, one.description)
    if one.values == "number"
    else forms.texts(one.description, each=_NO_NUL)
    for name, one in PERMISSIONS.items()
}
_EFFECT: Final = forms.kind(
    f"one of {', '.join(EFFECTS)}",
    lambda effect: effect in EFFECTS,
    {"enum": [*EFFECTS]},
    shown=short,
)
_LET_BE: Final[JsonObject] = {
    "type": "object",
    "description": "Lint settings for this tool.",
    "properties": {
        "ignore": {
            "type": "object",
            "description": "Rules to ignore: an object of rule codes and reasons.",
            "additionalProperties": {"type": "string", "minLength": 1},
        }
    },
    "additionalProperties": False,
}
_AFTER_S: Final = forms.number(
    f"a number of seconds above 0, at most {defaults.MAX_TIMEOUT_S}",
    defaults.MAX_TIMEOUT_S,
    "The seconds after which a call becomes a task.",
)


def _task(value: Any, at: str, name: str) -> Iterator[Found]:
    if value == "always":
        return
    if not isinstance(value, dict):
        yield at, f'`{name}` must be "always" or an object with `after_s`, not {describe(value)}'
        return
    for key in value:
        if key != "after_s":
            yield f"{at}/{key}", f"`{name}` has `{key}`, which is not known: it takes `after_s`"
    if "after_s" not in value:
        yield at, f"`{name}` needs `after_s`, a number of seconds"
    else:
        yield from _AFTER_S.found(value["after_s"], f"{at}/after_s", f"{name}.after_s")


_TASK: Final[JsonObject] = {
    "anyOf": [
        {"const": "always"},
        {
            "type": "object",
            "required": ["after_s"],
            "properties": {"after_s": _AFTER_S.schema},
            "additionalProperties": False,
        },
    ]
}
FIELDS: Final[dict[str, Form]] = {
    # judged above, with the directory that the file is in
    "uid": Form(
        forms.nothing,
        {"type": "string", "pattern": f"^{UID_PATTERN.pattern}$"},
        "The UID of the tool, which is also the name of its directory.",
    ),
    "name": Form(
        forms.nothing,
        {"type": "string", "pattern": f"^{NAME_PATTERN.pattern}$"},
        "The name that models use to call the tool.",
    ),
    "kit_id": Form(
        forms.nothing, {"type": ["string", "null"]}, "The kit that the tool belongs to."
    ),
    # judged as JSON Schemas in directory.py
    "schema": Form(forms.nothing, _SCHEMA, "The JSON Schemas of the inputs and the result."),
    # judged in implementations.py
    "implementation_details": Form(
        forms.nothing,
        {
            "type": ["object", "null"],
            "if": {"type": "object", "minProperties": 1},
            "then": {"$ref": "#/$defs/implementation"},
        },
        "How to run the tool. Without it, your program registers an implementation by name.",
    ),
    "description": forms.text(
        "The description for models. description.md has the documentation for people."
    ),
    "version": forms.text("The version of the tool."),
    "tags": forms.texts("Tags for people and for the search."),
    "secrets": secret_items.FORM,
    "limits": forms.fields(_LIMITS, "The limits of a call."),
    "task": Form(
        _task,
        _TASK,
        'Whether `vespe mcp serve` runs calls as tasks, for clients that support tasks: "always", '
        "or calls that take longer than `after_s`.",
    ),
    "annotations": forms.fields(
        _ANNOTATIONS, "What the tool's author says of it: the hints of the Model Context Protocol."
    ),
    "examples": Form(
        _examples,
        {"type": "array", "items": _EXAMPLE},
        "Example calls with their expected outcome, which `vespe tool test` runs.",
    ),
    "permissions": forms.fields(
        _PERMISSIONS,
        "What the tool may use, in addition to what its interpreter needs. The sandbox enforces "
        "it. A missing key has its default.",
    ),
    "queries": forms.texts(
        "Requests of people for which this tool is right. The search for tools uses them."
    ),
    "effects": forms.texts(
        "The effects of a call, instead of those that Vespe derives: "
        f"{', '.join(EFFECTS[:-1])} or {EFFECTS[-1]}.",
        each=_EFFECT,
    ),
    origins.KEY: Form(
        _created_from,
        _CREATED_FROM,
        "The file that `vespe tool create --from` copied. `vespe tool sync` uses it to copy later "
        "changes.",
    ),
    # no tool is broken for these: they are judged by whoever reads them
    "example_files": Form(
        forms.nothing,
        {"type": "object", "additionalProperties": {"type": "string"}},
        "Files to create before the examples run: an object of paths and contents.",
    ),
    "example_git": Form(
        forms.nothing,
        {"type": "boolean"},
        "Whether the examples run in a git repository in which `example_files` are committed.",
    ),
    "lint": Form(forms.nothing, _LET_BE),
    "api_fields": Form(
        forms.nothing,
        {"type": "object", "additionalProperties": {"type": "object"}},
        "Fields of an imported definition that exist in only one API, by the name of the API.",
    ),
    "$schema": Form(
        forms.nothing, {"type": "string"}, "The JSON Schema of this file, for editors."
    ),
}
"""Every key of config.json that Vespe reads; others are kept and mean nothing."""
REQUIRED: Final = ("uid", "name", "schema")
"""The keys that must be there."""
