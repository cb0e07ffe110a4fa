"""Classes of one Python file that describe data (dataclass, TypedDict, NamedTuple, Enum, model),
read as fields and members.
"""

import ast
import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import field, replace

from vespe.models import JsonValue
from vespe.records import dataclass
from vespe.tools.python.docstrings import parse
from vespe.tools.python.names import Names, expression, setting, spelling, subscripts

_BASES: Mapping[str, str] = {
    "typing.TypedDict": "typed dict",
    "typing.NamedTuple": "named tuple",
    **dict.fromkeys(("enum.Enum", "enum.StrEnum", "enum.IntEnum"), "enum"),
    **dict.fromkeys(("enum.Flag", "enum.IntFlag"), "flag"),
    "pydantic.BaseModel": "model",
}
_CALLS: Mapping[str, str] = {
    "typing.TypedDict": "typed dict",
    **dict.fromkeys(("typing.NamedTuple", "collections.namedtuple"), "named tuple"),
    **dict.fromkeys(("enum.Enum", "enum.StrEnum", "enum.IntEnum"), "enum"),
}
_PLAIN_BASES = ("object", "str", "int", "float", "typing.Generic", "typing.Protocol", "abc.ABC")
_DECORATORS = ("dataclasses.dataclass", "pydantic.dataclasses.dataclass")
_FIELD_CALLS = ("field", "Field")
_FACTORIES: Mapping[str, ast.expr] = {
    "list": ast.List(elts=[]),
    "dict": ast.Dict(keys=[], values=[]),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field: its annotation and default as expressions; `settings` is its call of `field(…)` or
    `Field(…)`, if any.

    `alias` is the key that fills it; `init_only` is true for an InitVar, which is an input and no
    part of the value.
    """

    name: str
    alias: str
    init_only: bool = False
    annotation: ast.expr | None
    required: bool = True
    default: ast.expr | None = None
    settings: ast.Call | None = None
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What a class describes: `kind` is `dataclass`, `model`, `typed dict`, `named tuple`, `enum`,
    `flag`, or "" for none of them.

    `members` are an enum's values by name; `parameters` the names of its type variables. `unread`
    names the members and the bases that the file alone does not tell.
    """

    kind: str
    name: str
    fields: tuple[Field, ...] = ()
    members: Mapping[str, JsonValue] = field(default_factory=dict)
    description: str = ""
    parameters: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


def read_class(node: ast.ClassDef, names: Names) -> Shape:
    """Read a class of the file, with what it inherits from others of the same file."""
    kind = _kind(node, names, ())
    described = parse(ast.get_docstring(node)).text
    shape = Shape(
        kind=kind,
        name=node.name,
        description=described,
        parameters=tuple(_type_parameters(node, names)),
    )
    if kind == "enum":
        members, unread = _members(node, names)
        return replace(shape, members=members, unread=unread)
    fields = _inherited_fields(node, names, kind, ()) if kind not in ("", "flag") else {}
    return replace(
        shape,
        fields=tuple(fields.values()),
        unread=tuple(dict.fromkeys(_foreign_bases(node, names, ()))),
    )


def read_declaration(name: str, call: ast.Call, names: Names) -> Shape | None:
    """Read `X = TypedDict("X", {…})`, `NamedTuple("X", […])`, `namedtuple("X", …)` or
    `Enum("X", …)`; None for any other call.
    """
    kind = _CALLS.get(names.dotted(call), "")
    body = call.args[1] if kind and len(call.args) > 1 else None
    if body is None:
        return None
    if kind == "enum":
        return Shape(kind=kind, name=name, members=_declared_members(body, names))
    total = setting(call, "total")
    required = not (isinstance(total, ast.Constant) and total.value is False)
    fields = [
        Field(
            name=key,
            alias=key,
            annotation=node,
            required=_key_required(node, names, required) if node is not None else required,
        )
        for key, node in _declared_pairs(body)
    ]
    return Shape(kind=kind, name=name, fields=tuple(fields))


def value_of(node: ast.expr, names: Names) -> JsonValue:
    """The JSON value of a literal, a constant or an enum member (`Color.RED`, `Color.RED.value`);
    raises ValueError for the rest.
    """
    attribute = (
        node.value
        if isinstance(node, ast.Attribute)
        and node.attr == "value"
        and isinstance(node.value, ast.Attribute)
        else node
    )
    if not isinstance(attribute, ast.Attribute):
        return names.literal(node)
    owner = spelling(attribute.value)
    members: Mapping[str, JsonValue] = {}
    if owner in names.classes:
        members = read_class(names.classes[owner], names).members
    elif isinstance(declared := names.values.get(owner), ast.Call) and (
        shape := read_declaration(owner, declared, names)
    ):
        members = shape.members
    if attribute.attr not in members:
        raise ValueError("is not an enum member of this file")
    return members[attribute.attr]


def _kind(node: ast.ClassDef, names: Names, seen: tuple[str, ...]) -> str:
    if any(names.dotted(decorator) in _DECORATORS for decorator in node.decorator_list):
        return "dataclass"
    for base in node.bases:
        kind = _BASES.get(names.dotted(base), "")
        parent = names.classes.get(spelling(base))
        if not kind and parent is not None and parent.name not in seen:
            kind = _kind(parent, names, (*seen, node.name))
        if kind:
            return kind
    return ""


def _foreign_bases(node: ast.ClassDef, names: Names, seen: tuple[str, ...]) -> Iterator[str]:
    for base in node.bases:
        parent = names.classes.get(spelling(base))
        if parent is not None and parent.name not in (*seen, node.name):
            yield from _foreign_bases(parent, names, (*seen, node.name))
        elif parent is None and names.dotted(base) not in (*_BASES, *_PLAIN_BASES):
            yield ast.unparse(base)


def _type_parameters(node: ast.ClassDef, names: Names) -> Iterator[str]:
    yield from (parameter.name for parameter in getattr(node, "type_params", ()))
    for base in node.bases:
        if isinstance(base, ast.Subscript) and names.dotted(base) in (
            "typing.Generic",
            "typing.Protocol",
        ):
            yield from (spelling(argument) for argument in subscripts(base))


def _inherited_fields(
    node: ast.ClassDef, names: Names, kind: str, seen: tuple[str, ...]
) -> dict[str, Field]:
    fields: dict[str, Field] = {}
    for base in reversed(node.bases):
        parent = names.classes.get(spelling(base))
        if parent is not None and parent.name not in (*seen, node.name):
            fields.update(_inherited_fields(parent, names, kind, (*seen, node.name)))
    if kind != "dataclass" or any(
        names.dotted(decorator) in _DECORATORS for decorator in node.decorator_list
    ):
        documented = parse(ast.get_docstring(node)).parameters
        fields.update((found.name, found) for found in _own_fields(node, names, kind, documented))
    return fields


def _own_fields(
    node: ast.ClassDef, names: Names, kind: str, documented: Mapping[str, str]
) -> Iterator[Field]:
    total = not any(
        k.arg == "total" and isinstance(k.value, ast.Constant) and k.value.value is False
        for k in node.keywords
    )
    for statement, following in zip(node.body, [*node.body[1:], None], strict=True):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            text = documented.get(statement.target.id) or _string_statement(following)
            found = _field(statement, text)
            if kind == "typed dict":
                yield replace(
                    found, required=_key_required(statement.annotation, names, total), default=None
                )
            elif not _left_out(found, names):
                yield replace(
                    found,
                    init_only=names.dotted(expression(statement.annotation))
                    == "dataclasses.InitVar",
                )


def _string_statement(node: ast.stmt | None) -> str:
    text = (
        node.value.value
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        else None
    )
    return parse(text).text if isinstance(text, str) else ""


def _field(statement: ast.AnnAssign, description: str) -> Field:
    value, annotation, name = statement.value, statement.annotation, spelling(statement.target)
    if not isinstance(value, ast.Call) or spelling(value).rpartition(".")[2] not in _FIELD_CALLS:
        return Field(
            name=name,
            alias=name,
            annotation=annotation,
            required=value is None,
            default=value,
            description=description,
        )
    required, default = default_of_call(value)
    said = setting(value, "alias")
    alias = said.value if isinstance(said, ast.Constant) and isinstance(said.value, str) else name
    return Field(
        name=name,
        alias=alias,
        annotation=annotation,
        required=required,
        default=default,
        settings=value,
        description=description,
    )


def default_of_call(call: ast.Call) -> tuple[bool, ast.expr | None]:
    """Whether `field(…)` or `Field(…)` makes its field required, and the expression of its default
    where it stands there.
    """
    first = call.args[0] if call.args and spelling(call).endswith("Field") else None
    default, factory = setting(call, "default") or first, setting(call, "default_factory")
    if default is not None:
        ellipsis = isinstance(default, ast.Constant) and default.value is ...
        return ellipsis, None if ellipsis else default
    return factory is None, None if factory is None else _FACTORIES.get(spelling(factory), factory)


def _left_out(found: Field, names: Names) -> bool:
    """Whether a line of a dataclass is no input: a ClassVar, the KW_ONLY mark, or a field that
    `__init__` does not take.
    """
    annotated = names.dotted(expression(found.annotation)) if found.annotation is not None else ""
    init = setting(found.settings, "init") if found.settings is not None else None
    return annotated in ("typing.ClassVar", "dataclasses.KW_ONLY") or (
        isinstance(init, ast.Constant) and init.value is False
    )


def _key_required(annotation: ast.expr, names: Names, total: bool) -> bool:
    node = expression(annotation)
    while isinstance(node, ast.Subscript):
        qualifier = names.dotted(node)
        if qualifier in ("typing.Required", "typing.NotRequired"):
            return qualifier == "typing.Required"
        if qualifier not in ("typing.ReadOnly", "typing.Annotated"):
            break
        node = expression(subscripts(node)[0])
    return total


def _members(node: ast.ClassDef, names: Names) -> tuple[dict[str, JsonValue], tuple[str, ...]]:
    members: dict[str, JsonValue] = {}
    unread: list[str] = []
    lowered = any(names.dotted(base) == "enum.StrEnum" for base in node.bases)
    for statement in node.body:
        name, value = _member_statement(statement)
        if value is None or name.startswith("_") or names.dotted(value) == "enum.nonmember":
            continue
        try:
            members[name] = _member_value(name, value, names, members, lowered)
        except ValueError:
            unread.append(name)
    return members, tuple(unread)


def _member_statement(node: ast.stmt) -> tuple[str, ast.expr | None]:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return name, value
        case ast.AnnAssign(target=ast.Name(id=name), value=value):
            return name, value
    return "", None


def _declared_pairs(body: ast.expr) -> Iterator[tuple[str, ast.expr | None]]:
    match body:
        case ast.Dict(keys=keys, values=values):
            yield from (
                (k.value, v)
                for k, v in zip(keys, values, strict=True)
                if isinstance(k, ast.Constant) and isinstance(k.value, str)
            )
        case ast.Constant(value=str() as text):
            yield from ((name, None) for name in text.replace(",", " ").split())
        case ast.List(elts=items) | ast.Tuple(elts=items):
            for item in items:
                match item:
                    case ast.Constant(value=str() as name):
                        yield name, None
                    case ast.Tuple(elts=[ast.Constant(value=str() as name), node]):
                        yield name, node


def _declared_members(body: ast.expr, names: Names) -> dict[str, JsonValue]:
    members: dict[str, JsonValue] = {}
    for number, (name, node) in enumerate(_declared_pairs(body), start=1):
        with contextlib.suppress(ValueError):
            members[name] = number if node is None else names.literal(node)
    return members


def _member_value(
    name: str, value: ast.expr, names: Names, members: Mapping[str, JsonValue], lowered: bool
) -> JsonValue:
    if names.dotted(value) == "enum.auto":
        numbers = [n for n in members.values() if isinstance(n, int)]
        return name.lower() if lowered else max(numbers, default=0) + 1
    if isinstance(value, ast.Name) and value.id in members:
        return members[value.id]
    return names.literal(value)
