"""What runs a tool, as its config.json says: `implementation_details`, whose form its type has, and
where secrets may stand.
"""

from collections.abc import Iterator
from typing import Any, Final, TypeAlias

from vespe.documents.pointers import pointer_to
from vespe.lazy import pattern
from vespe.schemas import forms
from vespe.schemas.explain import describe, short
from vespe.schemas.forms import DETAILS, Form, Found
from vespe.tool_types import TYPES, type_in, type_of
from vespe.tools.secret_items import names_in
from vespe.tools.templates import input_names

Steps: TypeAlias = tuple[str | int, ...]

_SECRET: Final = pattern(r"\$\{env:(?:(?P<name>[A-Za-z_][A-Za-z0-9_]*)\})?")
SHARED: Final[dict[str, Form]] = {
    "path": forms.text_or_null(),
    "entrypoint": forms.text_or_null(),
    "args": forms.fields({}, "Fixed configuration that the model can neither see nor override."),
}
"""The keys of `implementation_details` that every type has beside `type`; what more they must be
says the type.
"""
WITHOUT_SECRETS: Final = (
    "name",
    "description",
    "kit_id",
    "version",
    "tags",
    "schema",
    "permissions",
    "annotations",
)
"""The keys of config.json that show wherever the tool does, and so can have no secret in them."""


def found_in_implementation(
    document: dict[str, Any], *, source: bytes | None = None
) -> list[Found]:
    """Return all that is wrong with `implementation_details`, and with every `${env:NAME}` of a
    config.json.

    A tool without implementation_details is found by name among the in-process ones: nothing is
    wrong with it.
    """
    details = document.get("implementation_details")
    found: list[Found] = []
    if details is not None and not isinstance(details, dict):
        found.append(
            (DETAILS, f"`implementation_details` must be an object, not {describe(details)}")
        )
    elif details:
        found += _checked(details, document)
    if source is None or b"${env:" in source or b"\\u" in source:
        found += _secrets(document)
    return found


def named_secrets(details: dict[str, Any]) -> list[str]:
    """Return the names of the secrets that `${env:NAME}` asks for in the arguments of an
    implementation, each once.
    """
    kind = type_in(details)
    slots = [details.get(key) for key in (kind.secret_keys if kind is not None else ("args",))]
    texts = (text for _, text, is_key in _strings(slots, ()) if not is_key)
    return list(
        dict.fromkeys(
            place["name"] for text in texts for place in _SECRET.finditer(text) if place["name"]
        )
    )


def _checked(details: dict[str, Any], document: dict[str, Any]) -> Iterator[Found]:
    kind = details.get("type")
    for key, form in SHARED.items():
        if key not in details:
            continue
        name = f"implementation_details.{key}"
        if found := [*form.found(details[key], f"{DETAILS}/{key}", name)]:
            yield from found
            details = {**details, key: {} if key == "args" else None}
    if isinstance(kind, str) and kind in TYPES:
        yield from type_of(kind).form().found(details, document)
    elif "type" in details:
        yield (
            f"{DETAILS}/type",
            f"`implementation_details.type` must be one of {', '.join(sorted(TYPES))}, "
            f"not {describe(kind)}",
        )
    else:
        yield DETAILS, f"`implementation_details` needs `type`: one of {', '.join(sorted(TYPES))}"


def not_inputs(details: dict[str, Any], document: dict[str, Any]) -> Iterator[Found]:
    """Yield each fixed argument that is an input too, where a tool gets both as one object."""
    if args := details.get("args"):
        schema = document.get("schema")
        names = input_names(schema.get("input") if isinstance(schema, dict) else None)
        for key in args:
            if key in names:
                said = f"the fixed argument {short(key)} is also an input; it can be one of them"
                yield forms.arg(key), said


def _secrets(document: dict[str, Any]) -> Iterator[Found]:
    """Find `${env:NAME}` where it does not stand in `args`, or names no declared secret."""
    details = document.get("implementation_details")
    details = details if isinstance(details, dict) else {}
    for key in WITHOUT_SECRETS:
        yield from _misplaced(document.get(key), (key,))
    kind = type_in(details)
    slots = ("args",) if kind is None else kind.secret_keys
    for key in ("type", "path", "entrypoint", "args"):
        if key in slots:
            continue
        yield from _misplaced(details.get(key), ("implementation_details", key))
    declared = names_in(document.get("secrets"))
    stated = {key: details[key] for key in slots if key in details}
    for steps, text, is_key in _strings(stated, ("implementation_details",)):
        for place in _SECRET.finditer(text):
            if is_key:
                yield (
                    pointer_to(steps),
                    "`${env:NAME}` is in a key; only values may have it",
                    "secret",
                )
            elif place["name"] is None:
                yield (
                    pointer_to(steps),
                    f"`${{env:` begins no secret in {short(text)}: write ${{env:NAME}}",
                    "secret",
                )
            elif place["name"] not in declared:
                yield (
                    pointer_to(steps),
                    f"`${{env:{place['name']}}}` is not a declared secret: "
                    f"add {short(place['name'])} to `secrets`",
                    "secret",
                )


def _misplaced(value: Any, steps: Steps) -> Iterator[Found]:
    for at, text, _ in _strings(value, steps):
        if "${env:" in text:
            yield (
                pointer_to(at),
                "`${env:NAME}` can stand in `implementation_details.args` alone",
                "secret",
            )


def _strings(value: Any, steps: Steps) -> Iterator[tuple[Steps, str, bool]]:
    if isinstance(value, str):
        yield steps, value, False
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _strings(item, (*steps, index))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield (*steps, key), key, True
            yield from _strings(item, (*steps, key))
