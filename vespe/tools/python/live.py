"""A function of the running program as a tool: the same schemas as from its source, from the types
that it really has.
"""

import ast
import enum
import inspect
import types
import typing
from collections.abc import Callable, Collection, Iterable
from typing import Any

from vespe.errors import UsageError
from vespe.models import JsonObject, JsonValue
from vespe.tools.python.annotated import live_keywords
from vespe.tools.python.annotations import Reader
from vespe.tools.python.classes import Shape
from vespe.tools.python.docstrings import parse
from vespe.tools.python.live_classes import Given, hints_of, kind_of, read_live_class
from vespe.tools.python.names import Names, as_json
from vespe.tools.python.schema_forms import union
from vespe.tools.python.signatures import Derived, Inputs, Taken, derived_from, output_schema
from vespe.tools.python.types import ARRAYS, COUNTERS, OBJECTS, PLAIN, SETS, WRAPPERS

_MODULES = {
    "collections.abc": "typing",
    "typing_extensions": "typing",
    "pathlib._local": "pathlib",
    "_decimal": "decimal",
    "builtins": "",
}


def derive_live(function: Callable[..., Any], *, name: str | None = None) -> Derived:
    """Read a function, bound method or callable: its name, text and schemas, as `signatures.derive`
    reads a file.

    Types may come from anywhere: what a file alone cannot tell is known here. Raises UsageError for
    what has no signature, and for parameters that only positions can fill.
    """
    called = name or getattr(function, "__name__", "") or type(function).__name__
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        raise UsageError(
            f"{called!r} has no signature that could be read, so it cannot be a tool"
        ) from None
    owner = _owner(function)
    documented, hints = parse(inspect.getdoc(owner)), hints_of(owner)
    inputs = Inputs(LiveReader(closed=True), documented)
    for parameter in signature.parameters.values():
        _take(inputs, parameter, hints.get(parameter.name, parameter.annotation), called)
    inputs.finish()
    returned = hints.get("return", signature.return_annotation)
    results = LiveReader(closed=False)
    output = None if _is_nothing(returned) else output_schema(results, returned, documented)
    return derived_from(
        called, documented, inputs=inputs, output=(results, output), is_async=is_async(owner)
    )


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling the function gives something to wait for."""
    owner = _owner(function)
    return inspect.iscoroutinefunction(owner) or inspect.isasyncgenfunction(owner)


def _owner(function: Any) -> Any:
    """The function itself, beneath a bound method, a partial, a decorator that names it, or an
    object that can be called.
    """
    while (
        isinstance(function, types.MethodType)
        or hasattr(function, "func")
        or hasattr(function, "__wrapped__")
    ):
        function = (
            function.__func__
            if isinstance(function, types.MethodType)
            else getattr(function, "func", None) or function.__wrapped__
        )
    return function if inspect.isroutine(function) else type(function).__call__


def _take(inputs: Inputs, parameter: inspect.Parameter, hint: Any, called: str) -> None:
    given = None if hint is inspect.Parameter.empty else hint
    if parameter.kind is parameter.POSITIONAL_ONLY:
        raise UsageError(
            f"{called}: {parameter.name} can only be given by position, "
            "and a tool is called with keywords: leave the / out"
        )
    if parameter.kind is parameter.VAR_POSITIONAL:
        inputs.never_filled(parameter.name)
        return
    if parameter.kind is parameter.VAR_KEYWORD:
        unpacked = typing.get_origin(given) is typing.Unpack
        inputs.open(parameter.name, given, unpacked=unpacked)
        return
    default = parameter.default
    settings = default if type(default).__name__ == "FieldInfo" else None
    if settings is not None:
        default = (
            inspect.Parameter.empty
            if settings.is_required()
            else settings.get_default(call_default_factory=True)
        )
    absent = default is inspect.Parameter.empty
    inputs.take(
        Taken(
            name=parameter.name,
            kind="keyword_only" if parameter.kind is parameter.KEYWORD_ONLY else "keyword",
            annotation=given,
            settings=settings,
            required=absent,
            default=None if absent else Given(default),
            default_text="" if absent else repr(default),
            annotation_text="" if given is None else _text(given),
        )
    )


def _is_nothing(returned: Any) -> bool:
    if typing.get_origin(returned) is not None and _dotted(typing.get_origin(returned)) in (
        "typing.Awaitable",
        "typing.Coroutine",
    ):
        returned = typing.get_args(returned)[-1]
    return returned in (None, type(None), inspect.Signature.empty, typing.NoReturn, typing.Never)


def _text(hint: Any) -> str:
    return hint.__qualname__ if isinstance(hint, type) and not typing.get_args(hint) else str(hint)


def _dotted(kind: Any) -> str:
    """The full name of a class or a special form, in the spelling of the tables of types."""
    name = getattr(kind, "__qualname__", None) or getattr(kind, "__name__", None) or ""
    module = getattr(kind, "__module__", "")
    module = _MODULES.get(module, module)
    return f"{module}.{name}" if module else str(name)


class LiveReader(Reader):
    """Reads types in place of expressions; what a schema says is the same."""

    def __init__(self, *, closed: bool) -> None:
        super().__init__(Names(), closed=closed)
        self._classes: dict[str, Any] = {}

    def value(self, default: Any) -> JsonValue:
        """Return a default, or one of a Literal's values, as JSON; raises ValueError for what JSON
        cannot say.
        """
        if isinstance(default, Given):
            return default.as_json()
        return as_json(default.value if isinstance(default, enum.Enum) else default)

    def keywords(self, piece: Any, types: Collection[str]) -> JsonObject:
        """Return what one piece of metadata adds to a schema of these types."""
        return live_keywords(piece, types)

    def _unknown(self, node: Any, why: str = "") -> JsonObject:
        said = node.id if isinstance(node, ast.Name) else _text(node)
        unresolved = isinstance(node, (str, typing.ForwardRef))
        reason = "names nothing that can be found" if unresolved else "has no form in JSON"
        self._note(f"{said} {why or reason}, so that any value is accepted")
        return {}

    def _read(self, hint: Any) -> JsonObject:
        origin, arguments = typing.get_origin(hint), list(typing.get_args(hint))
        if hint is None or hint is type(None):
            return {"type": "null"}
        if origin is typing.Annotated:
            return self.constrained(self._read(hint.__origin__), hint.__metadata__)
        if origin in (typing.Union, types.UnionType):
            return self._union(arguments)
        if origin is typing.Literal:
            return self._literal(arguments)
        if (meant := _meant(hint)) is not None:
            return self._read(meant)
        if isinstance(hint, typing.TypeVar) and _dotted(hint) not in PLAIN:
            return self._variable(hint)
        if origin is None and type(hint).__name__ == "TypeAliasType":
            return self._named_once(hint, [])
        return self._of_kind(hint, origin or hint, arguments)

    def _of_kind(self, hint: Any, kind: Any, arguments: list[Any]) -> JsonObject:
        dotted = _dotted(kind)
        if kind is tuple:
            return self._tuple(arguments) if typing.get_origin(hint) else {"type": "array"}
        if dotted in WRAPPERS and arguments:
            return self._read(arguments[-1])
        if dotted in PLAIN:
            return self._plain(dotted)
        if dotted in ARRAYS or dotted in SETS or dotted in OBJECTS or dotted in COUNTERS:
            return self._container(hint, dotted, arguments)
        if not isinstance(kind, type):
            return self._unknown(hint)
        if getattr(kind, "__pydantic_root_model__", False):
            return self._read(typing.cast(Any, kind).model_fields["root"].annotation)
        return self._named_once(kind, [self._below(argument) for argument in arguments])

    def _union(self, arguments: Iterable[Any]) -> JsonObject:
        return union(map(self._read, arguments))

    def _variable(self, variable: Any) -> JsonObject:
        if variable.__name__ in self._bindings:
            return self._bindings[variable.__name__]
        if variable.__bound__ is not None:
            return self._read(variable.__bound__)
        return self._union(variable.__constraints__) if variable.__constraints__ else {}

    def _tuple(self, arguments: list[Any]) -> JsonObject:
        if len(arguments) == 2 and arguments[1] is ...:
            return self._container(arguments[0], "list", arguments[:1])
        return super()._tuple(arguments)

    def _named_once(self, kind: Any, arguments: list[JsonObject]) -> JsonObject:
        name, number = kind.__name__, 1
        while self._classes.setdefault(name, kind) is not kind:
            number += 1
            name = f"{kind.__name__}_{number}"
        if isinstance(kind, type) and not kind_of(kind):
            return self._own_plain(kind)
        return self._own(name, arguments)

    def _own_plain(self, kind: type) -> JsonObject:
        """A class that declares no data: what it inherits from, where that has a form."""
        known = next(
            (
                PLAIN[dotted]
                for base in kind.__mro__[1:]
                if (dotted := _dotted(base)) in PLAIN and PLAIN[dotted]
            ),
            None,
        )
        if known is not None:
            described = parse(vars(kind).get("__doc__")).text
            return known | ({"description": described} if described else {})
        return self._unknown(
            kind,
            "is a class that declares no data (no dataclass, TypedDict, NamedTuple, Enum or model)",
        )

    def _defined(self, name: str, arguments: list[JsonObject]) -> JsonObject:
        kind = self._classes[name]
        if not isinstance(kind, type):
            self._bindings = {}
            return self._read(kind.__value__)
        shape = read_live_class(kind, name)
        self._bindings = {parameter: {} for parameter in shape.parameters} | dict(
            zip(shape.parameters, arguments, strict=False)
        )
        return self._shape(shape, ())

    def _record(self, shape: Shape) -> JsonObject:
        schema = super()._record(shape)
        kind = self._classes[shape.name]
        if shape.kind == "model" and kind.model_config.get("extra") == "allow":
            schema.pop("additionalProperties", None)
        return schema


def _meant(hint: Any) -> Any:
    """What a NewType or an InitVar stands for; None for anything else."""
    if type(hint).__name__ == "InitVar":
        return hint.type
    return getattr(hint, "__supertype__", None)
