"""The keys of a tool's config.json but for what runs it: the type and the bounds of each, in plain
Python.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeAlias

from vespe.documents.pointers import pointer_to
from vespe.lazy import pattern
from vespe.schemas.explain import describe, short
from vespe.tools import origins
from vespe.tools.permissions import LISTS, NUMBERS

Found: TypeAlias = tuple[str, str] | tuple[str, str, str]
"""A JSON Pointer into config.json, what is wrong there, and what it is about where the pointer does
not say.
"""

NAME_PATTERN: Final = pattern(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
UID_PATTERN: Final = pattern(r"tool-[a-z0-9][a-z0-9_-]{0,58}")
SECRET_PATTERN: Final = pattern(r"[A-Za-z_][A-Za-z0-9_]*")
MAX_TIMEOUT_S: Final = 86_400
MAX_OUTPUT_LIMIT: Final = 1 << 30
EFFECTS: Final = ("reads_private", "reads_untrusted", "sends_out", "writes", "destructive")
"""It reads what is not everybody's; what strangers may have written; it gives data to others; it
changes something; what it changes may be lost.
"""
_HINTS: Final = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
_UID_RULE: Final = "a uid is `tool-`, then a letter or digit, then at most 58 of a-z, 0-9, _ and -"


def found_in_fields(document: dict[str, Any], *, uid: str, kit_id: str | None) -> list[Found]:
    """Return all that is wrong with the keys of a config.json that stands in the directory `uid` of
    the kit `kit_id`.

    Unknown keys are let be, and whether `schema` holds JSON Schemas is not judged here.
    """
    found = [*_identity(document, uid, kit_id)]
    for key, value in document.items():
        if check := CHECKED.get(key):
            found += check(value)
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
        yield "/kit_id", f"`kit_id` must be a text, not {describe(claimed)}"
    elif claimed is not None and kit_id is not None and claimed != kit_id:
        yield (
            "/kit_id",
            f"`kit_id` must be the kit that the tool stands in, {short(kit_id)}, "
            f"not {short(claimed)}",
        )


def _text(key: str) -> Callable[[Any], Iterable[Found]]:
    def check(value: Any) -> Iterable[Found]:
        return (
            ()
            if isinstance(value, str)
            else ((f"/{key}", f"`{key}` must be a text, not {describe(value)}"),)
        )

    return check


def texts(value: Any, *, steps: tuple[str, ...]) -> Iterator[Found]:
    """Say where a value is no list of texts that are not empty."""
    name = ".".join(steps)
    if not isinstance(value, list):
        yield pointer_to(steps), f"`{name}` must be a list of texts, not {describe(value)}"
        return
    for index, item in enumerate(value):
        if not isinstance(item, str) or not item:
            yield (
                pointer_to((*steps, index)),
                f"`{name}[{index}]` must be a text that is not empty, not {describe(item)}",
            )


def _secrets(value: Any) -> Iterator[Found]:
    yield from texts(value, steps=("secrets",))
    for index, item in enumerate(value if isinstance(value, list) else ()):
        if isinstance(item, str) and item and not SECRET_PATTERN.fullmatch(item):
            yield (
                f"/secrets/{index}",
                f"`secrets[{index}]` must be the name of an environment variable, "
                f"not {short(item)}",
            )


def _limits(value: Any) -> Iterator[Found]:
    if not isinstance(value, dict):
        yield "/limits", f"`limits` must be an object, not {describe(value)}"
        return
    timeout, most = value.get("timeout_s", 1), value.get("max_output_bytes", 1)
    if (
        isinstance(timeout, bool)
        or not isinstance(timeout, (int, float))
        or not 0 < timeout <= MAX_TIMEOUT_S
    ):
        yield (
            "/limits/timeout_s",
            f"`limits.timeout_s` must be a number of seconds above 0, at most {MAX_TIMEOUT_S}, "
            f"not {short(timeout)}",
        )
    if isinstance(most, bool) or not isinstance(most, int) or not 0 < most <= MAX_OUTPUT_LIMIT:
        yield (
            "/limits/max_output_bytes",
            f"`limits.max_output_bytes` must be an integer from 1 to {MAX_OUTPUT_LIMIT}, "
            f"not {short(most)}",
        )
    if value.get("worker", "persistent") != "persistent":
        yield (
            "/limits/worker",
            f'`limits.worker` is "persistent" or is not there, not {describe(value["worker"])}',
        )
    for key, kinds in (("max_calls", (int,)), ("max_idle_s", (int, float))):
        found = value.get(key, 1)
        if isinstance(found, bool) or not isinstance(found, kinds) or found <= 0:
            yield f"/limits/{key}", f"`limits.{key}` must be a number above 0, not {short(found)}"


def _annotations(value: Any) -> Iterator[Found]:
    if not isinstance(value, dict):
        yield "/annotations", f"`annotations` must be an object, not {describe(value)}"
        return
    for hint in _HINTS:
        if hint in value and not isinstance(value[hint], bool):
            yield (
                f"/annotations/{hint}",
                f"`annotations.{hint}` must be true or false, not {describe(value[hint])}",
            )
    if "title" in value and not isinstance(value["title"], str):
        yield (
            "/annotations/title",
            f"`annotations.title` must be a text, not {describe(value['title'])}",
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
            f"{name} must give `output_pattern` as a text, "
            f"not {describe(example['output_pattern'])}",
        )


def _examples(value: Any) -> Iterator[Found]:
    if not isinstance(value, list):
        yield "/examples", f"`examples` must be a list, not {describe(value)}"
        return
    for index, example in enumerate(value):
        at, name = f"/examples/{index}", f"`examples[{index}]`"
        if not isinstance(example, dict) or not isinstance(example.get("input"), dict):
            yield at, f"{name} must be an object with `input`, an object, and `output` or `error`"
            continue
        yield from _expectations(example, at, name)
        if "error" in example and any(key in example for key in _OUTPUTS):
            said = next(key for key in _OUTPUTS if key in example)
            yield at, f"{name} has both `{said}` and `error`; a call has one of them"
        elif "error" in example and not (isinstance(example["error"], str) and example["error"]):
            yield f"{at}/error", f"{name} must give `error` as the code of an error, a text"


def _permissions(value: Any) -> Iterator[Found]:
    if not isinstance(value, dict):
        yield "/permissions", f"`permissions` must be an object, not {describe(value)}"
        return
    for key in LISTS:
        if key in value:
            yield from texts(value[key], steps=("permissions", key))
    for key, most in NUMBERS.items():
        number = value.get(key, 1)
        if isinstance(number, bool) or not isinstance(number, int) or not 0 < number <= most:
            yield (
                f"/permissions/{key}",
                f"`permissions.{key}` must be an integer from 1 to {most}, not {short(number)}",
            )


def _tags(value: Any) -> Iterator[Found]:
    return texts(value, steps=("tags",))


def _queries(value: Any) -> Iterator[Found]:
    return texts(value, steps=("queries",))


def _effects(value: Any) -> Iterator[Found]:
    yield from texts(value, steps=("effects",))
    for index, item in enumerate(value if isinstance(value, list) else ()):
        if isinstance(item, str) and item and item not in EFFECTS:
            yield (
                f"/effects/{index}",
                f"`effects[{index}]` must be one of {', '.join(EFFECTS)}, not {short(item)}",
            )


def _created_from(value: Any) -> Iterator[Found]:
    if wrong := origins.problem(value):
        yield "/created_from", f"`created_from` {wrong}"


CHECKED: Final[dict[str, Callable[[Any], Iterable[Found]]]] = {
    "description": _text("description"),
    "version": _text("version"),
    "tags": _tags,
    "secrets": _secrets,
    "limits": _limits,
    "annotations": _annotations,
    "examples": _examples,
    "permissions": _permissions,
    "queries": _queries,
    "effects": _effects,
    origins.KEY: _created_from,
}
KEYS: Final = (
    "uid",
    "name",
    "schema",
    "implementation_details",
    "kit_id",
    *CHECKED,
    "example_files",
    "example_git",
    "lint",
    "api_fields",
    "$schema",
)
"""Every key of config.json that Vespe reads; others are kept and mean nothing."""
