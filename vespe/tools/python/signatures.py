"""A Python function, by its text alone, as a tool: name, description, input and output schema;
nothing is imported or run.
"""

import ast
from collections.abc import Iterator
from typing import Any, Final

from vespe.documents.strict_json import repair_surrogates
from vespe.errors import InvalidDocument
from vespe.lazy import difflib
from vespe.models import JsonObject, JsonValue
from vespe.records import dataclass
from vespe.tools.python.annotations import Reader
from vespe.tools.python.classes import default_of_call
from vespe.tools.python.docstrings import Docstring, parse
from vespe.tools.python.names import (
    Function,
    Names,
    expression,
    parse_source,
    read_names,
    spelling,
    subscripts,
)
from vespe.tools.python.schema_forms import fits, union

_NO_RESULT = ("None", "typing.NoReturn", "typing.Never", "types.NoneType")
_SAYS_NOTHING: Final = ({"type": "object"}, {"type": ["object", "null"]})
_HARMLESS_DECORATORS = ("functools.cache", "functools.lru_cache", "staticmethod")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One input of a function. `kind` is `keyword` (by position too), `keyword_only` or `open`
    (`**rest`).

    `default` is the JSON value of the default; where JSON cannot say it, `default_text` alone has
    it, as written ("" where there is none).
    """

    name: str
    kind: str
    required: bool
    default: JsonValue = None
    default_text: str = ""
    annotation: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """A function as a tool. `notes` are sentences on what the schemas could not say;
    `output_schema` is None where nothing is known.
    """

    name: str
    description: str
    input_schema: JsonObject
    output_schema: JsonObject | None = None
    parameters: tuple[Parameter, ...] = ()
    notes: tuple[str, ...] = ()
    is_async: bool = False


def derive(source: str, function: str, *, path: str = "") -> Derived:
    """Read the function `function` of a Python file whose text is `source`; `path` only names the
    file in errors.

    The input schema closes the object unless the function takes `**rest`. Raises InvalidDocument,
    with the line where there is one, for text that is not Python, a function that is not at the top
    of the file, and parameters that only positions can fill.
    """
    try:
        tree = parse_source(source)
        names = read_names(tree)
        return _derived(_found(tree, names, function, path), names, path)
    except SyntaxError as error:
        raise InvalidDocument(
            f"is not Python: {error.msg}",
            path=path,
            line=error.lineno or 0,
            column=error.offset or 0,
        ) from None
    except ValueError as error:
        if isinstance(error, InvalidDocument):
            raise
        raise InvalidDocument(f"is not Python: {error}", path=path) from None
    except (RecursionError, MemoryError):
        raise InvalidDocument("is nested too deeply to be read", path=path) from None


def _found(tree: ast.Module, names: Names, function: str, path: str) -> Function:
    if function in names.functions:
        return names.functions[function]
    if function in names.classes or function in names.values or function in names.imports:
        what = (
            "a class"
            if function in names.classes
            else "imported"
            if function in names.imports
            else "assigned"
        )
        raise InvalidDocument(
            f"{function} is {what}, not a function written in this file",
            path=path,
            line=_line(names, function),
        )
    for owner in ast.walk(tree):
        if isinstance(owner, (ast.ClassDef, Function)):
            for inner in owner.body:
                if isinstance(inner, Function) and inner.name == function.rpartition(".")[2]:
                    kind = (
                        "a method of the class"
                        if isinstance(owner, ast.ClassDef)
                        else "defined inside the function"
                    )
                    reason = (
                        f"{inner.name} is {kind} {owner.name}, "
                        "and a tool is a function at the top of its file"
                    )
                    raise InvalidDocument(reason, path=path, line=inner.lineno)
    close = difflib.get_close_matches(function, names.functions, n=3, cutoff=0.5)
    hint = (
        f"did you mean {' or '.join(close)}?"
        if close
        else f"it has {', '.join(sorted(names.functions)) or 'no functions'}"
    )
    missing = InvalidDocument(f"there is no function called {function!r}", path=path, hint=hint)
    missing.details["functions"] = close or sorted(names.functions)
    raise missing


def _line(names: Names, name: str) -> int:
    node = names.classes.get(name) or names.values.get(name)
    return node.lineno if node is not None else 0


def _derived(node: Function, names: Names, path: str) -> Derived:
    documented = parse(ast.get_docstring(node))
    inputs = Inputs(Reader(names, closed=True), documented)
    _take_all(inputs, node, names, path)
    results = Reader(names, closed=False)
    output = _output(node, names, results, documented)
    is_async = isinstance(node, ast.AsyncFunctionDef)
    return derived_from(
        node.name,
        documented,
        inputs=inputs,
        output=(results, output),
        is_async=is_async,
        notes=tuple(_decorations(node, names)),
    )


def derived_from(
    name: str,
    documented: Docstring,
    *,
    inputs: "Inputs",
    output: tuple[Reader, JsonObject | None],
    is_async: bool,
    notes: tuple[str, ...] = (),
) -> Derived:
    """Put together what was read of a function; `output` is the reader of its result and the schema
    that it read, if any.
    """
    return Derived(
        name=name,
        description=repair_surrogates(documented.text or sentence(name)),
        input_schema=inputs.schema(),
        output_schema=output[1],
        parameters=tuple(inputs.parameters),
        notes=tuple(dict.fromkeys((*notes, *inputs.notes, *inputs.reader.notes, *output[0].notes))),
        is_async=is_async,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """One parameter as it was found: its annotation, default and `Field(…)` are whatever the reader
    reads.
    """

    name: str
    kind: str
    annotation: Any = None
    settings: Any = None
    required: bool = True
    default: Any = None
    default_text: str = ""
    annotation_text: str = ""


class Inputs:
    """Gathers the parameters of one function, their schemas, and what could not be said of them."""

    def __init__(self, reader: Reader, documented: Docstring) -> None:
        self.reader, self.documented = reader, documented
        self.parameters: list[Parameter] = []
        self.notes: list[str] = []
        self.properties: dict[str, JsonObject] = {}
        self.required: list[str] = []
        self.rest: JsonObject | bool = False
        self._never: list[str] = []

    def schema(self) -> JsonObject:
        """Return the schema of the inputs: an object that is closed unless the function takes
        `**rest`.
        """
        schema: JsonObject = {"type": "object", "properties": self.properties}
        if self.required:
            schema["required"] = self.required
        return self.reader.settled({**schema, "additionalProperties": self.rest})

    def take(self, given: Taken) -> None:
        """Take the next parameter."""
        described = repair_surrogates(self.documented.parameters.get(given.name, ""))
        schema = self._annotated(given)
        if given.default is not None:
            schema = self._with_default(given, schema)
        if described:
            schema = {**schema, "description": described}
        if given.required:
            self.required.append(given.name)
        self.properties[given.name] = schema
        self.parameters.append(
            Parameter(
                name=given.name,
                kind=given.kind,
                required=given.required,
                default=schema.get("default"),
                default_text=given.default_text,
                annotation=given.annotation_text,
                description=schema.get("description", ""),
            )
        )

    def never_filled(self, name: str) -> None:
        """Take `*name`."""
        self._never.append(name)
        self.notes.append(f"*{name} is never filled: a tool is called with keywords")

    def open(self, name: str, annotation: Any, *, unpacked: bool) -> None:
        """Take `**rest`: any other key, or the keys of a TypedDict (`**rest: Unpack[Options]`)."""
        self.rest = True
        self.parameters.append(Parameter(name=name, kind="open", required=False))
        if annotation is None:
            return
        schema = self.reader.read(annotation, where=f"**{name}")
        if not unpacked:
            self.rest = schema or True
            return
        keys = self.reader.definition(schema)
        self.properties.update(keys.get("properties", {}))
        self.required += keys.get("required", [])
        self.rest = keys.get("additionalProperties", True)

    def finish(self) -> None:
        """Note what the docstring describes and the function does not take."""
        known = {*self._never, *(parameter.name for parameter in self.parameters)}
        self.notes += [
            f"the docstring describes {name}, which is not a parameter"
            for name in self.documented.parameters
            if name not in known
        ]

    def _annotated(self, given: Taken) -> JsonObject:
        schema: JsonObject = {}
        if given.annotation is None:
            self.notes.append(f"{given.name}: has no annotation, so that any value is accepted")
        else:
            schema = self.reader.read(given.annotation, where=given.name)
        return self.reader.constrained(
            schema, [given.settings] if given.settings is not None else []
        )

    def _with_default(self, given: Taken, schema: JsonObject) -> JsonObject:
        where = f"{given.name}: its default, {given.default_text},"
        try:
            value = self.reader.value(given.default)
        except ValueError:
            self.notes.append(f"{where} cannot be written as JSON, so the schema has no default")
            return schema
        types = self.reader.types(schema)
        if value is None and types and "null" not in types:
            schema, types = union([schema, {"type": "null"}]), (*types, "null")
        if not fits(value, types):
            self.notes.append(f"{where} is not of its type, so the schema has no default")
            return schema
        return {**schema, "default": value}


def _take_all(inputs: Inputs, node: Function, names: Names, path: str) -> None:
    given = node.args
    if given.posonlyargs:
        first = given.posonlyargs[0]
        reason = (
            f"{first.arg} can only be given by position, and a tool is called with keywords: "
            "leave the / out"
        )
        raise InvalidDocument(reason, path=path, line=first.lineno)
    defaults: list[ast.expr | None] = [None] * (len(given.args) - len(given.defaults))
    for argument, default in zip(given.args, [*defaults, *given.defaults], strict=True):
        inputs.take(_taken(argument, default, "keyword"))
    for argument, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        inputs.take(_taken(argument, default, "keyword_only"))
    if given.vararg is not None:
        inputs.never_filled(given.vararg.arg)
    if given.kwarg is not None:
        annotation = (
            expression(given.kwarg.annotation) if given.kwarg.annotation is not None else None
        )
        unpacked = (
            isinstance(annotation, ast.Subscript) and names.dotted(annotation) == "typing.Unpack"
        )
        inputs.open(given.kwarg.arg, annotation, unpacked=unpacked)
    inputs.finish()


def _taken(argument: ast.arg, default: ast.expr | None, kind: str) -> Taken:
    settings = (
        default if isinstance(default, ast.Call) and spelling(default).endswith("Field") else None
    )
    required = default is None
    if settings is not None:
        required, default = default_of_call(settings)
    return Taken(
        name=argument.arg,
        kind=kind,
        annotation=argument.annotation,
        settings=settings,
        required=required,
        default=default,
        default_text="" if default is None else ast.unparse(default),
        annotation_text="" if argument.annotation is None else ast.unparse(argument.annotation),
    )


def _output(
    node: Function, names: Names, reader: Reader, documented: Docstring
) -> JsonObject | None:
    """The schema of the result; None where the annotation says nothing that could be checked
    (`-> None`, `-> Any`, none at all).
    """
    returned = expression(node.returns) if node.returns is not None else None
    if returned is None or _is_none(returned) or names.dotted(returned) in _NO_RESULT:
        return None
    if isinstance(returned, ast.Subscript) and names.dotted(returned) in (
        "typing.Awaitable",
        "typing.Coroutine",
    ):
        inner = expression(subscripts(returned)[-1])
        if _is_none(inner):
            return None
    return output_schema(reader, returned, documented)


def output_schema(reader: Reader, returned: Any, documented: Docstring) -> JsonObject | None:
    """Return the schema of what a function returns; None where any value would do, and for a plain
    `dict`: `{"type": "object"}` tells nobody anything, and a result of content blocks would be
    taken for data.
    """
    schema = reader.settled(reader.read(returned, where="the result"))
    if not schema or schema in _SAYS_NOTHING:
        return None
    return (
        {**schema, "description": repair_surrogates(documented.returns)}
        if documented.returns
        else schema
    )


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _decorations(node: Function, names: Names) -> Iterator[str]:
    for decorator in node.decorator_list:
        if names.dotted(decorator) not in _HARMLESS_DECORATORS:
            yield (
                f"@{ast.unparse(decorator)} may change what the function takes; "
                "the schemas say what is written"
            )


def sentence(name: str) -> str:
    """Return the description of a function without a docstring, made of its name."""
    words = name.strip("_").replace("_", " ").strip() or name
    return f"{words[0].upper()}{words[1:]}."
