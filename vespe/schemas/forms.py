"""The form of a value in config.json: what is said of one that is wrong, and the JSON Schema that
refuses it, in one place.

Tables of forms by key say which keys there are: `FIELDS` in `fields.py`, and for each type of tools
its `FORM` in `vespe/types/NAME/form.py`. Vespe checks by these tables, and `./dev docs` makes
`vespe/data/tool.schema.json` of them. Who adds a key adds its row.

The schemas are not what checks: their sentences would be those of JSON Schema, and a command would
have to read them. They are never looked at while Vespe runs.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any, Final, TypeAlias

from vespe.documents.pointers import pointer_to
from vespe.models import JsonObject
from vespe.records import dataclass
from vespe.schemas.explain import describe, short

Found: TypeAlias = tuple[str, str] | tuple[str, str, str]
"""A JSON Pointer into config.json, what is wrong there, and what it is about where the pointer does
not say.
"""
Check: TypeAlias = Callable[[Any, str, str], Iterable[Found]]
"""Yields what is wrong with a value, which stands at a JSON Pointer and has a name in sentences."""

DETAILS: Final = "/implementation_details"
UNPRINTABLE: Final = (
    r"\u0000-\u001f\u007f-\u00a0\u00ad\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff"
)
"""For a pattern: characters but the space that `str.isprintable` refuses, all that people meet."""
DEFINITIONS: Final[JsonObject] = {
    "schema": {
        "if": {
            "type": "object",
            "required": ["$schema"],
            "properties": {
                "$schema": {
                    "not": {
                        "enum": [
                            "https://json-schema.org/draft/2020-12/schema",
                            "https://json-schema.org/draft/2020-12/schema#",
                        ]
                    }
                }
            },
        },
        "else": {"$ref": "https://json-schema.org/draft/2020-12/schema"},
    },
    "ownFile": {
        "type": "string",
        "pattern": rf"^[^{UNPRINTABLE}\\]+$",
        "not": {"pattern": r"(?:^|/)\.{0,2}(?:/|$)"},
    },
    "template": {
        "type": ["string", "array"],
        "pattern": r"^[^\u0000]*$",
        "items": {"$ref": "#/$defs/template"},
    },
    "withoutSecrets": {
        "not": {"type": "string", "pattern": r"\$\{env:"},
        "items": {"$ref": "#/$defs/withoutSecrets"},
        "propertyNames": {"$ref": "#/$defs/withoutSecrets"},
        "additionalProperties": {"$ref": "#/$defs/withoutSecrets"},
    },
    "withSecrets": {
        "not": {
            "type": "string",
            "pattern": r"\$\{env:(?:[^A-Za-z_]|$|[A-Za-z_][A-Za-z0-9_]*(?:[^A-Za-z0-9_}]|$))",
        },
        "items": {"$ref": "#/$defs/withSecrets"},
        "propertyNames": {"$ref": "#/$defs/withoutSecrets"},
        "additionalProperties": {"$ref": "#/$defs/withSecrets"},
    },
}
"""What the schemas of forms can refer to, as `#/$defs/NAME`."""


class Form:
    """What a value may be. `found` yields what is wrong with one, `schema` is the JSON Schema that
    refuses the same, as far as a schema can.
    """

    __slots__ = ("found", "schema")

    def __init__(self, found: Check, schema: JsonObject, description: str = "") -> None:
        self.found = found
        self.schema = {"description": description, **schema} if description else schema

    def described(self, description: str) -> "Form":
        """Return the same form with a description."""
        return Form(self.found, self.schema, description)


def nothing(value: Any, at: str, name: str) -> tuple[Found, ...]:
    """Find nothing wrong: whoever reads the value judges it."""
    return ()


def kind(
    wanted: str,
    holds: Callable[[Any], bool],
    schema: JsonObject,
    description: str = "",
    *,
    shown: Callable[[Any], str] = describe,
) -> Form:
    """Return the form of what `holds` is true of. The sentence is that it must be what `wanted`
    says, not what `shown` makes of the value.
    """

    def found(value: Any, at: str, name: str) -> Iterator[Found]:
        if not holds(value):
            yield at, f"`{name}` must be {wanted}, not {shown(value)}"

    return Form(found, schema, description)


def text(description: str = "") -> Form:
    """Return the form of a string."""
    return kind("a string", lambda value: isinstance(value, str), {"type": "string"}, description)


def text_or_null(description: str = "") -> Form:
    """Return the form of a string that may be left out by null."""
    return kind(
        "a string",
        lambda value: value is None or isinstance(value, str),
        {"type": ["string", "null"]},
        description,
    )


def flag(description: str = "") -> Form:
    """Return the form of true or false."""
    return kind(
        "true or false", lambda value: isinstance(value, bool), {"type": "boolean"}, description
    )


def integer(
    least: int,
    most: int | None,
    description: str = "",
    *,
    wanted: str = "",
    shown: Callable[[Any], str] = short,
) -> Form:
    """Return the form of an integer in bounds, both included."""
    return kind(
        wanted or f"an integer from {least} to {most}",
        lambda value: (
            isinstance(value, int)
            and not isinstance(value, bool)
            and least <= value
            and (most is None or value <= most)
        ),
        {"type": "integer", "minimum": least} | ({} if most is None else {"maximum": most}),
        description,
        shown=shown,
    )


def number(wanted: str, most: float | None, description: str = "") -> Form:
    """Return the form of a number above 0 and at most `most`."""
    return kind(
        wanted,
        lambda value: (
            isinstance(value, (int, float))
            and not isinstance(value, bool)
            and value > 0
            and (most is None or value <= most)
        ),
        {"type": "number", "exclusiveMinimum": 0} | ({} if most is None else {"maximum": most}),
        description,
        shown=short,
    )


def choice(*choices: str, description: str = "") -> Form:
    """Return the form of one of some strings."""
    return kind(
        f"one of {', '.join(choices)}",
        lambda value: isinstance(value, str) and value in choices,
        {"enum": [*choices]},
        description,
    )


def only(value: str, description: str = "") -> Form:
    """Return the form of a key that has one value or is not there."""

    def found(stated: Any, at: str, name: str) -> Iterator[Found]:
        if stated != value:
            yield at, f'`{name}` must be "{value}" or be left out, not {describe(stated)}'

    return Form(found, {"const": value}, description)


def texts(description: str = "", *, each: Form | None = None) -> Form:
    """Return the form of a list of strings that are not empty, each of the form `each`."""

    def found(value: Any, at: str, name: str) -> Iterator[Found]:
        if not isinstance(value, list):
            yield at, f"`{name}` must be a list of strings, not {describe(value)}"
            return
        full = []
        for index, item in enumerate(value):
            if isinstance(item, str) and item:
                full.append((index, item))
            else:
                what = f"a string that is not empty, not {describe(item)}"
                yield f"{at}/{index}", f"`{name}[{index}]` must be {what}"
        if each is not None:
            for index, item in full:
                yield from each.found(item, f"{at}/{index}", f"{name}[{index}]")

    of_each: JsonObject = {"type": "string", "minLength": 1}
    if each is not None:
        of_each |= each.schema
    return Form(found, {"type": "array", "items": of_each}, description)


def integers(allowed: range) -> Form:
    """Return the form of a list of at least one integer from `allowed`."""
    first, last = allowed[0], allowed[-1]
    one = {"type": "integer", "minimum": first, "maximum": last}
    return kind(
        f"a list of integers from {first} to {last}",
        lambda value: (
            isinstance(value, list)
            and bool(value)
            and all(
                isinstance(item, int) and not isinstance(item, bool) and item in allowed
                for item in value
            )
        ),
        {"type": "array", "minItems": 1, "items": one},
        shown=short,
    )


def fields(keys: Mapping[str, Form], description: str = "") -> Form:
    """Return the form of an object whose `keys` have their forms; others are let be."""

    def found(value: Any, at: str, name: str) -> Iterator[Found]:
        if not isinstance(value, dict):
            yield at, f"`{name}` must be an object, not {describe(value)}"
            return
        for key, form in keys.items():
            if key in value:
                yield from form.found(value[key], f"{at}/{key}", f"{name}.{key}")

    properties = {"properties": schemas(keys)} if keys else {}
    return Form(found, {"type": "object", **properties}, description)


def own_file(what: str, *, ends: str = "", description: str = "") -> Form:
    """Return the form of the path of a file inside the tool's directory, a key of
    `implementation_details` that has to be there.
    """

    def found(path: Any, at: str, name: str) -> Iterator[Found]:
        if not isinstance(path, str):
            yield DETAILS, f"`implementation_details` needs `{name}`: {what}", "path"
            return
        if (
            not path
            or path.startswith("/")
            or "\\" in path
            or not path.isprintable()
            or {"", ".", ".."} & set(path.split("/"))
        ):
            yield (
                at,
                f"`{name}` must be {what}, written relative to it without . and .., "
                f"not {short(path)}",
            )
        if not path.endswith(ends):
            yield at, f"`{name}` must be a {ends} file, not {short(path)}"

    schema: JsonObject = {"$ref": "#/$defs/ownFile"}
    return Form(found, schema | ({"pattern": rf"\{ends}$"} if ends else {}), description)


def schemas(forms: Mapping[str, Form]) -> JsonObject:
    """Return the schema of each form."""
    return {key: form.schema for key, form in forms.items()}


def _no_more(details: JsonObject, document: JsonObject) -> tuple[Found, ...]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DetailsForm:
    """What `implementation_details` of one type may be.

    `keys` have the forms of the keys beside `type`, `args` those of what is in `args`. What is in
    `required` and `required_args` has to be there. `closed` says that nothing else may be in
    `args`. `more` yields what is wrong with several keys together or with the rest of the document,
    and `more_schema` refuses the same, as far as a schema can.
    """

    keys: Mapping[str, Form] = field(default_factory=dict)
    args: Mapping[str, Form] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    required_args: tuple[str, ...] = ()
    closed: bool = False
    more: Callable[[JsonObject, JsonObject], Iterable[Found]] = _no_more
    more_schema: JsonObject = field(default_factory=dict)

    def found(self, details: JsonObject, document: JsonObject) -> Iterator[Found]:
        """Yield what is wrong with the `implementation_details` of a config.json. `args` is an
        object.
        """
        for key, form in self.keys.items():
            if key in details:
                yield from form.found(details[key], f"{DETAILS}/{key}", key)
            elif key in self.required:
                yield from form.found(None, DETAILS, key)
        args = details.get("args", {})
        for key in sorted(args.keys() - self.args.keys()) if self.closed else ():
            takes = ", ".join(sorted(self.args))
            yield arg(key), f"`args` accepts {takes}, but not {short(key)}"
        yield from self.more(details, document)
        for key, form in self.args.items():
            if key in args or key in self.required_args:
                yield from form.found(args.get(key), arg(key), f"args.{key}")

    def schema(self) -> JsonObject:
        """Return the JSON Schema that refuses the same."""
        args: JsonObject = {"properties": schemas(self.args)} if self.args else {}
        if self.required_args:
            args["required"] = [*self.required_args]
        if self.closed:
            args["additionalProperties"] = False
        properties = schemas(self.keys) | ({"args": args} if args else {})
        return {"required": [*self.required], "properties": properties, **self.more_schema}


def arg(*steps: str | int) -> str:
    """Return the pointer to a value in `args`."""
    return pointer_to(("implementation_details", "args", *steps))
