"""Lint rules on what a schema promises and what runs takes: the Python function's signature, or the
slots of a template.
"""

from collections.abc import Iterator
from typing import Any, Final

from vespe.documents.pointers import escape_pointer, pointer_to
from vespe.errors import InvalidDocument, StorageError
from vespe.features.lint.base import Found, Subject, rule
from vespe.features.lint.remembered import for_last
from vespe.files import atomic
from vespe.records import dataclass
from vespe.schemas.explain import short
from vespe.tool_types import type_in
from vespe.tools import in_place, origins, templates
from vespe.tools.python import signatures
from vespe.tools.python.signatures import Derived

_DETAILS: Final = "/implementation_details"
_ANY: Final = frozenset(("string", "number", "integer", "boolean", "object", "array", "null"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    """A python_script's two sides: the schema's inputs and fixed arguments, and the function."""

    properties: dict[str, Any]
    required: frozenset[str]
    args: dict[str, Any]
    derived: Derived

    @property
    def is_open(self) -> bool:
        return any(parameter.kind == "open" for parameter in self.derived.parameters)


@for_last
def _pair(subject: Subject) -> _Pair | None:
    details, schema = _details(subject), subject.input_schema
    args = details.get("args", {})
    broken = any(p.pointer.startswith(_DETAILS) for p in subject.problems)
    kind = type_in(details)
    if kind is None or broken or not isinstance(schema, dict):
        return None
    path, entrypoint = f"{subject.directory}/{details.get('path')}", details.get("entrypoint")
    if not kind.is_python:
        standing = in_place.standing(subject.directory or "", {"implementation_details": details})
        root = origins.project_of(subject.directory or "")
        file = standing.file(root) if standing is not None and root is not None else None
        if standing is None or file is None:
            return None
        path, entrypoint, args = f"{root}/{file}", standing.function, {}
    try:
        source = atomic.read_bytes(path).decode("utf-8")
        derived = signatures.derive(source, str(entrypoint), path=path)
    except (InvalidDocument, StorageError, ValueError):
        return None
    properties, required = schema.get("properties", {}), schema.get("required", [])
    return _Pair(
        properties=properties if isinstance(properties, dict) else {},
        required=frozenset(name for name in required if isinstance(name, str))
        if isinstance(required, list)
        else frozenset(),
        args=args if isinstance(args, dict) else {},
        derived=derived,
    )


def _details(subject: Subject) -> dict[str, Any]:
    details = (
        subject.document.get("implementation_details")
        if subject.api == "vespe" and isinstance(subject.document, dict)
        else None
    )
    return details if isinstance(details, dict) else {}


@rule("signature-origin", "warning")
def _origin(subject: Subject) -> Iterator[Found]:
    """The source file of a tool has changed or is missing.

    `vespe tool create --from` copies a file of the project and records it in `created_from`. The
    tool runs the copy, so later changes of the file have no effect until `vespe tool sync`.

    Bad: "created_from": {"path": "calc.py", …} and calc.py is gone
    Good: `vespe tool sync calc --from lib/calc.py` after calc.py was moved
    """
    directory, name = subject.directory or "", subject.name
    if subject.api != "vespe" or not isinstance(subject.document, dict) or not directory:
        return
    standing = in_place.standing(directory, subject.document)
    root = origins.project_of(directory)
    if standing is not None and root is not None and standing.file(root) is None:
        yield Found(
            pointer=_DETAILS,
            message=f"the module {standing.module}, which the tool runs in place, no longer exists",
            fix=f"if it has moved, run `vespe tool sync {name} --from "
            f"NEW_FILE.py:{standing.function}`",
        )
    compared = origins.compared_files(directory, subject.document)
    if compared is None or compared.change in ("none", "copy"):
        return
    at = f"/{origins.KEY}"
    if compared.change == "gone":
        yield Found(
            pointer=at,
            message=f"its source file {short(compared.path)} no longer exists",
            fix=f"if it has moved, run `vespe tool sync {name} --from NEW_FILE`, or else "
            f"`vespe tool set {name} --unset {origins.KEY}`",
        )
        return
    copy = ", and so has the tool's copy" if compared.change == "both" else ""
    yield Found(
        pointer=at,
        message=f"its source file {short(compared.path)} has changed{copy}",
        fix=f"`vespe tool sync {name}` applies the change"
        if not copy
        else f"`vespe tool sync {name} --from {compared.path}` copies the file",
    )


@rule("signature-missing", "error")
def _missing(subject: Subject) -> Iterator[Found]:
    """The function requires an argument that is not in the schema.

    Every call fails with a TypeError. An argument that is optional in the schema but required by
    the function is a warning.

    Bad: def search(query, limit) with the input `query` alone
    Good: def search(query, limit=10)
    """
    pair = _pair(subject)
    for parameter in pair.derived.parameters if pair else ():
        if pair is None or parameter.kind == "open" or parameter.name in pair.args:
            continue
        name = parameter.name
        if name not in pair.properties:
            sync = _sync(subject)
            yield _absent(name, sync) if parameter.required else _unoffered(name, sync)
        elif (
            parameter.required
            and name not in pair.required
            and not _has_default(pair.properties[name])
        ):
            yield Found(
                part="input_schema",
                pointer=f"/properties/{escape_pointer(name)}",
                severity="warning",
                message=f"the function requires {short(name)}, but it is optional in the schema",
                fix=f"add {short(name)} to `required`, or give it a default",
            )


def _sync(subject: Subject) -> str:
    """Return the command that derives the schema anew."""
    kit = f" --kit {subject.kit_id}" if subject.kit_id else ""
    return f"`vespe tool sync {subject.name}{kit}`"


def _absent(name: str, sync: str) -> Found:
    return Found(
        part="input_schema",
        message=f"the function requires {short(name)}, which is neither an input nor a fixed "
        "argument",
        fix=f"add {short(name)} to `properties` and `required` ({sync} does), "
        "or give it a default in the function",
    )


def _unoffered(name: str, sync: str) -> Found:
    message = f"the function also accepts {short(name)}, which is not in the schema"
    return Found(
        part="input_schema",
        severity="info",
        message=message,
        fix=f"run {sync}, or set it in `args`",
    )


def _has_default(schema: Any) -> bool:
    return isinstance(schema, dict) and "default" in schema


@rule("signature-unknown", "error")
def _unknown(subject: Subject) -> Iterator[Found]:
    """The function does not have this argument.

    A call with this argument fails with a TypeError.

    Bad: the input `pattern` for def search(query)
    Good: the input `query` for def search(query)
    """
    pair = _pair(subject)
    if pair is None or pair.is_open:
        return
    taken = {parameter.name for parameter in pair.derived.parameters}
    for name in pair.properties:
        if name not in taken:
            yield Found(
                part="input_schema",
                pointer=f"/properties/{escape_pointer(name)}",
                message=f"the function has no argument {short(name)}",
                fix="remove it from the schema, or add it to the function",
            )
    for name in pair.args:
        if name not in taken:
            yield Found(
                pointer=f"{_DETAILS}/args/{escape_pointer(name)}",
                message=f"the function has no argument {short(name)}",
                fix="remove it from `args`, or add it to the function",
            )


def _types(schema: Any) -> frozenset[str]:
    """Return the types that a schema allows at its root, as far as `type` says it; all of them
    where it does not.
    """
    kinds = schema.get("type") if isinstance(schema, dict) else None
    names = (
        {kinds}
        if isinstance(kinds, str)
        else set(map(str, kinds))
        if isinstance(kinds, list)
        else set(_ANY)
    )
    if isinstance(schema, dict) and kinds is None and isinstance(schema.get("anyOf"), list):
        names = {name for sub in schema["anyOf"] for name in _types(sub)}
    return frozenset(names | ({"integer"} if "number" in names else set())) & _ANY or _ANY


@rule("signature-type", "warning")
def _type(subject: Subject) -> Iterator[Found]:
    """The schema and the annotation name different types.

    One of the two is wrong, which causes errors at run time.

    Bad: {"count": {"type": "string"}} for def f(count: int)
    Good: {"count": {"type": "integer"}} for def f(count: int)
    """
    pair = _pair(subject)
    expected = pair.derived.input_schema.get("properties", {}) if pair else {}
    for name, schema in pair.properties.items() if pair else ():
        if (
            name in expected
            and _types(schema) != _ANY
            and not _types(schema) <= _types(expected[name])
        ):
            extra = " and ".join(sorted(_types(schema) - _types(expected[name])))
            wanted = " or ".join(sorted(_types(expected[name])))
            disjoint = not _types(schema) & _types(expected[name])
            yield Found(
                part="input_schema",
                pointer=f"/properties/{escape_pointer(name)}",
                severity=None if disjoint else "info",
                message=f"the schema allows {extra} for {short(name)}, "
                f"and the function is annotated with {wanted}",
                fix="use the same type in both",
            )


@rule("signature-default", "warning")
def _default(subject: Subject) -> Iterator[Found]:
    """The schema and the function have different defaults.

    Vespe fills in the default of the schema, so the function's default is never used.

    Bad: {"limit": {"default": 5}} for def f(limit=10)
    Good: {"limit": {"default": 10}} for def f(limit=10)
    """
    pair = _pair(subject)
    for parameter in pair.derived.parameters if pair else ():
        schema = pair.properties.get(parameter.name) if pair else None
        if (
            not isinstance(schema, dict)
            or "default" not in schema
            or parameter.required
            or parameter.kind == "open"
        ):
            continue
        if parameter.default is not None and schema["default"] != parameter.default:
            yield Found(
                part="input_schema",
                pointer=f"/properties/{escape_pointer(parameter.name)}/default",
                message=f"the default is {short(schema['default'])} in the schema and "
                f"{short(parameter.default)} in the function",
                fix="use the same default in both; the schema's is the one that is used",
            )


@rule("signature-unused", "warning")
def _unused(subject: Subject) -> Iterator[Found]:
    """No template uses an input.

    The value that a model passes has no effect.

    Bad: "argv": ["ls"] with the input `path`
    Good: "argv": ["ls", "--", "{path}"]
    """
    details = _details(subject)
    args, schema = details.get("args"), subject.input_schema
    args = args if isinstance(args, dict) else {}
    properties = schema.get("properties") if isinstance(schema, dict) else None
    kind = type_in(details)
    if (
        kind is None
        or not kind.slots
        or not isinstance(properties, dict)
        or args.get("stdin") == "json"
    ):
        return
    texts = list(_texts([details.get(key) for key in kind.slots]))
    used = {
        name
        for text in texts
        if "{" in text
        for name in templates.parse(text, frozenset(properties)).slots
    }
    for name in properties:
        if name not in used:
            yield Found(
                part="input_schema",
                pointer=pointer_to(("properties", name)),
                message=f"no template uses the input {short(name)}",
                fix=f"write {{{name}}} where its value belongs, or remove it from the schema",
            )


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)
