"""Python annotations, as written in one file, to JSON Schema; nothing is imported and nothing
runs.
"""

import ast
import builtins
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from vespe.documents.strict_json import compact_json
from vespe.models import JsonObject, JsonValue
from vespe.tools.python.annotated import keywords
from vespe.tools.python.classes import Field, Shape, read_class, read_declaration, value_of
from vespe.tools.python.names import Names, expression, setting, spelling, subscripts
from vespe.tools.python.schema_forms import (
    enumeration,
    extended,
    fits,
    reference,
    settled,
    types_of,
    union,
)
from vespe.tools.python.types import (
    ARRAYS,
    COUNTERS,
    LOOSE_FORMATS,
    OBJECTS,
    PLAIN,
    SETS,
    TUPLES,
    UNCONVERTED,
    WRAPPERS,
)

_MAX_DEFINITIONS = 200


class Reader:
    """Reads the annotations of one file; `notes` gathers sentences on what a schema cannot say.

    `closed` is for inputs: objects of declared fields refuse other keys, and a note tells where the
    function is given plain JSON in place of the declared type. Results are read open: a subclass
    may have more keys, and Python writes times without a zone.
    """

    def __init__(self, names: Names, *, closed: bool) -> None:
        self.notes: list[str] = []
        self._names = names
        self._closed = closed
        self._definitions: dict[str, JsonObject] = {}
        self._head: tuple[str, ...] = ()
        self._bindings: Mapping[str, JsonObject] = {}
        self._where = ""

    def read(self, node: ast.expr, *, where: str) -> JsonObject:
        """The schema of an annotation, with references to definitions; `where` names its place for
        the notes.
        """
        self._where, self._head = where, ()
        return self._read(node)

    def settled(self, schema: JsonObject) -> JsonObject:
        """The finished schema: definitions put where they are used, the others in `$defs`."""
        return settled(schema, self._definitions)

    def definition(self, schema: JsonObject) -> JsonObject:
        """What a reference stands for, and any other schema as it is."""
        while "$ref" in schema:
            schema = self._definitions[schema["$ref"].rpartition("/")[2]]
        return schema

    def types(self, schema: JsonObject) -> tuple[str, ...]:
        """The JSON types that a schema allows, as far as it says; () where it does not."""
        schema = self.definition(schema)
        alternatives = [self.types(member) for member in schema.get("anyOf", ())]
        if alternatives and all(alternatives):
            return tuple(kind for kinds in alternatives for kind in kinds)
        return types_of(schema)

    def value(self, default: ast.expr) -> JsonValue:
        """The JSON value of a default or of one of a Literal's values; raises ValueError for what
        JSON cannot say.
        """
        return value_of(default, self._names)

    def keywords(self, piece: ast.expr, types: Collection[str]) -> JsonObject:
        """What one piece of metadata adds to a schema of these types."""
        return keywords(piece, self._names, types)

    def _note(self, sentence: str) -> None:
        full = f"{self._where}: {sentence}"
        if full not in self.notes:
            self.notes.append(full)

    def _unknown(self, node: ast.expr, why: str = "") -> JsonObject:
        self._note(
            f"{ast.unparse(node)} {why or self._strangeness(node)}, so that any value is accepted"
        )
        return {}

    def _strangeness(self, node: ast.expr) -> str:
        module, _, name = self._names.dotted(node).rpartition(".")
        if module in ("typing", "types", "collections") or (not module and hasattr(builtins, name)):
            return "has no form in JSON"
        return (
            "comes from another file, which is not read"
            if module
            else "is not defined in this file"
        )

    def _below(self, node: ast.expr) -> JsonObject:
        """Read what stands inside a container: from here on a type may refer to itself."""
        outer, self._head = self._head, ()
        try:
            return self._read(node)
        finally:
            self._head = outer

    def _read(self, node: ast.expr) -> JsonObject:
        node = expression(node)
        match node:
            case ast.Constant(value=None):
                return {"type": "null"}
            case ast.BinOp(op=ast.BitOr()):
                return union(self._read(part) for part in _alternatives(node))
            case ast.Subscript():
                return self._subscript(node)
            case ast.Name() | ast.Attribute():
                return self._named(node, ())
        return self._unknown(node, "is not a type")

    def _named(self, node: ast.expr, arguments: Iterable[ast.expr]) -> JsonObject:
        name, dotted = spelling(node), self._names.dotted(node)
        if name in self._bindings:
            return self._bindings[name]
        if name in self._names.classes or name in self._names.values:
            return self._own(name, [self._below(argument) for argument in arguments])
        if dotted in PLAIN:
            return self._plain(dotted)
        return self._container(node, dotted, [])

    def _plain(self, dotted: str) -> JsonObject:
        if self._closed and dotted in UNCONVERTED:
            self._note(f"the function is given the JSON value, not a {dotted}")
        schema = PLAIN[dotted]
        return {
            key: value
            for key, value in schema.items()
            if self._closed or value not in LOOSE_FORMATS
        }

    def _subscript(self, node: ast.Subscript) -> JsonObject:
        arguments, dotted = subscripts(node), self._names.dotted(node)
        own = spelling(node) in self._names.classes or spelling(node) in self._names.values
        special = None if own else _SPECIAL.get(dotted)
        if special is not None:
            return special(self, arguments)
        if not own and dotted in WRAPPERS:
            return self._read(arguments[-1])
        return (
            self._named(node.value, arguments) if own else self._container(node, dotted, arguments)
        )

    def _container(self, node: ast.expr, dotted: str, arguments: list[ast.expr]) -> JsonObject:
        if dotted in ARRAYS or dotted in SETS:
            items = self._below(arguments[0]) if arguments else {}
            unique = {"uniqueItems": True} if dotted in SETS else {}
            return {"type": "array", **({"items": items} if items else {}), **unique}
        if dotted in OBJECTS and len(arguments) in (0, 2):
            return self._object(*arguments)
        if dotted in COUNTERS:
            return {"type": "object", "additionalProperties": {"type": "integer"}}
        if dotted in TUPLES:
            return {"type": "array"}
        return self._unknown(node)

    def _object(self, key: ast.expr | None = None, value: ast.expr | None = None) -> JsonObject:
        schema: JsonObject = {"type": "object"}
        if value is not None and (inner := self._below(value)):
            schema["additionalProperties"] = inner
        named = self._below(key) if key is not None else {}
        if self.types(named) == ("integer",):
            self._note(
                "the keys of a JSON object are text: the function is given the digits, not an int"
            )
            schema["propertyNames"] = {"pattern": "^-?[0-9]+$"}
        elif named and named != {"type": "string"}:
            schema["propertyNames"] = named
        return schema

    def _tuple(self, arguments: list[ast.expr]) -> JsonObject:
        match arguments:
            case []:
                return {"type": "array", "maxItems": 0}
            case [one, ast.Constant(value=value)] if value is ...:
                return self._container(one, "list", [one])
        items = [self._below(argument) for argument in arguments]
        return {"type": "array", "prefixItems": items, "items": False, "minItems": len(items)}

    def _literal(self, arguments: list[ast.expr]) -> JsonObject:
        values = []
        for argument in _literal_arguments(arguments, self._names):
            try:
                values.append(self.value(argument))
            except ValueError:
                return self._unknown(argument, "is not a value that JSON can say")
        return enumeration(values)

    def _annotated(self, arguments: list[ast.expr]) -> JsonObject:
        return self.constrained(self._read(arguments[0]), arguments[1:])

    def constrained(self, schema: JsonObject, metadata: Iterable[ast.expr]) -> JsonObject:
        """The schema with what metadata says of it: bounds, lengths, a pattern, a description (the
        first one counts).
        """
        for piece in metadata:
            found = self.keywords(piece, self.types(schema))
            schema = extended(
                schema,
                {
                    key: value
                    for key, value in found.items()
                    if key != "description" or key not in schema
                },
            )
        return schema

    def _own(self, name: str, arguments: list[JsonObject]) -> JsonObject:
        """A reference to the definition that a class or an alias of the file becomes, built at its
        first use.
        """
        key = name + (
            "_" + re.sub(r"\W+", "_", compact_json(arguments)).strip("_") if arguments else ""
        )
        if key in self._head:
            self._note(f"{name} stands for itself alone, so that any value is accepted")
            return {}
        if len(self._definitions) >= _MAX_DEFINITIONS:
            self._note(
                f"{name} is one type too many ({_MAX_DEFINITIONS} at most), "
                "so that any value is accepted"
            )
            return {}
        if key not in self._definitions:
            self._definitions[key] = {}
            outer = self._head, self._bindings
            self._head += (key,)
            self._definitions[key] = self._defined(name, arguments)
            self._head, self._bindings = outer
        return reference(key)

    def _defined(self, name: str, arguments: list[JsonObject]) -> JsonObject:
        node = self._names.classes.get(name)
        if node is not None:
            shape = read_class(node, self._names)
            self._bindings = {parameter: {} for parameter in shape.parameters} | dict(
                zip(shape.parameters, arguments, strict=False)
            )
            return self._shape(shape, node.bases)
        self._bindings = {}
        value = self._names.values[name]
        declared = (
            read_declaration(name, value, self._names) if isinstance(value, ast.Call) else None
        )
        if declared is not None:
            return self._shape(declared, [])
        return self._declared(name, value) if isinstance(value, ast.Call) else self._read(value)

    def _declared(self, name: str, call: ast.Call) -> JsonObject:
        """What `NewType`, `TypeVar` and `TypeAliasType` stand for; a type variable is its bound, or
        any of its constraints.
        """
        kind, bound = self._names.dotted(call), setting(call, "bound")
        if kind in ("typing.NewType", "typing.TypeAliasType") and len(call.args) > 1:
            return self._read(call.args[1])
        if kind == "typing.TypeVar":
            return (
                self._read(bound)
                if bound is not None
                else union(map(self._read, call.args[1:]))
                if call.args[1:]
                else {}
            )
        return self._unknown(ast.Name(id=name), "is what a call gives, which would have to run")

    def _shape(self, shape: Shape, bases: Iterable[ast.expr]) -> JsonObject:
        described = {"description": shape.description} if shape.description else {}
        if shape.kind == "flag":
            return {"type": "integer", **described}
        if shape.kind == "enum":
            return {**self._members(shape), **described}
        if shape.kind == "named tuple":
            return {**self._named_tuple(shape), **described}
        if shape.kind:
            return {**self._record(shape), **described}
        plain = next(
            (
                PLAIN[dotted]
                for base in bases
                if (dotted := self._names.dotted(base)) in PLAIN and PLAIN[dotted]
            ),
            None,
        )
        if plain is not None:
            return {**plain, **described}
        return self._unknown(
            ast.Name(id=shape.name),
            "is a class that declares no data (no dataclass, TypedDict, NamedTuple or Enum)",
        )

    def _members(self, shape: Shape) -> JsonObject:
        if shape.unread or not shape.members:
            return self._unknown(
                ast.Name(id=shape.name),
                f"has members whose values are not literals ({', '.join(shape.unread) or 'none'})",
            )
        return enumeration(shape.members.values())

    def _named_tuple(self, shape: Shape) -> JsonObject:
        items = [{"title": field.name, **self._field(field)} for field in shape.fields]
        required = sum(field.required for field in shape.fields)
        return {"type": "array", "prefixItems": items, "items": False, "minItems": required}

    def _record(self, shape: Shape) -> JsonObject:
        fields = {
            field.alias if self._closed else field.name: field
            for field in shape.fields
            if self._closed or not field.init_only
        }
        schema: JsonObject = {
            "type": "object",
            "properties": {name: self._field(field) for name, field in fields.items()},
        }
        if required := [name for name, field in fields.items() if field.required]:
            schema["required"] = required
        for base in shape.unread:
            self._note(
                f"{shape.name} inherits from {base}, which is not defined in this file, "
                "so that its fields are not known"
            )
        return (
            {**schema, "additionalProperties": False}
            if self._closed and not shape.unread
            else schema
        )

    def _field(self, field: Field) -> JsonObject:
        schema = self._below(field.annotation) if field.annotation is not None else {}
        found = (
            self.keywords(field.settings, self.types(schema)) if field.settings is not None else {}
        )
        schema = extended(schema, found)
        if field.description:
            schema = {**schema, "description": field.description}
        return (
            self._with_default(schema, field.default)
            if field.default is not None and self._closed
            else schema
        )

    def _with_default(self, schema: JsonObject, default: ast.expr) -> JsonObject:
        """The schema with a default, where it is a value that JSON can say and the schema accepts;
        else as it is.
        """
        try:
            value = self.value(default)
        except ValueError:
            return schema
        return {**schema, "default": value} if fits(value, self.types(schema)) else schema


def _literal_arguments(arguments: Iterable[ast.expr], names: Names) -> Iterator[ast.expr]:
    for argument in arguments:
        if isinstance(argument, ast.Subscript) and names.dotted(argument) == "typing.Literal":
            yield from _literal_arguments(subscripts(argument), names)
        else:
            yield argument


def _alternatives(node: ast.expr) -> list[ast.expr]:
    """The sides of `A | B | C`, in order; a loop, since a long union is as deep as it is long."""
    sides: list[ast.expr] = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        sides.append(node.right)
        node = node.left
    return [node, *reversed(sides)]


_SPECIAL: Mapping[str, Callable[[Reader, list[ast.expr]], JsonObject]] = {
    "typing.Annotated": Reader._annotated,
    "typing.Literal": Reader._literal,
    "typing.Optional": lambda reader, arguments: union(
        [*map(reader._read, arguments), {"type": "null"}]
    ),
    "typing.Union": lambda reader, arguments: union(map(reader._read, arguments)),
    **dict.fromkeys(TUPLES, Reader._tuple),
}
