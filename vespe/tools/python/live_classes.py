"""Classes of a running program that describe data, as the same shapes that are read from a file:
their fields hold types and values.
"""

import enum
import sys
import typing
from collections.abc import Iterator, Mapping
from typing import Any

from vespe.models import JsonValue
from vespe.records import dataclass
from vespe.tools.python.classes import Field, Shape
from vespe.tools.python.docstrings import parse
from vespe.tools.python.names import as_json


@dataclass(frozen=True, slots=True)
class Given:
    """A default as the program has it: None is one, too."""

    value: Any

    def as_json(self) -> JsonValue:
        """Return it as JSON has it, an enum's member as its value; raises ValueError for what JSON
        cannot say.
        """
        return as_json(self.value.value if isinstance(self.value, enum.Enum) else self.value)


def hints_of(owner: Any) -> dict[str, Any]:
    """Return the annotations of a class or function as types; what a text names and nobody knows
    stays a text.
    """
    try:
        return typing.get_type_hints(owner, include_extras=True)
    except (NameError, TypeError, SyntaxError, AttributeError):
        return _one_by_one(owner)


def _one_by_one(owner: Any) -> dict[str, Any]:
    """The annotations that can be had, each alone: names that only checkers know hide no others."""
    found: dict[str, Any] = {}
    for base in reversed(getattr(owner, "__mro__", (owner,))):
        names = getattr(owner, "__globals__", None) or vars(sys.modules.get(base.__module__, sys))
        for name, hint in dict(getattr(base, "__annotations__", {})).items():
            alone = type("alone", (), {"__annotations__": {name: hint}})
            try:
                found.update(typing.get_type_hints(alone, dict(names), include_extras=True))
            except (NameError, TypeError, SyntaxError, AttributeError):
                found[name] = hint
    return found


def read_live_class(kind: type, name: str) -> Shape:
    """Read a class with all that it inherits; `name` is what its definition is called."""
    described = parse(vars(kind).get("__doc__") if not _is_made_up(kind) else None).text
    parameters = tuple(parameter.__name__ for parameter in getattr(kind, "__parameters__", ()))
    made = kind_of(kind)
    if made == "enum":
        members, unread = _members(kind)
        return Shape(kind=made, name=name, members=members, unread=unread, description=described)
    fields = tuple(_FIELDS[made](kind)) if made in _FIELDS else ()
    return Shape(kind=made, name=name, fields=fields, description=described, parameters=parameters)


def kind_of(kind: type) -> str:
    """Return which sort of data a class describes, in the words of `Shape.kind`."""
    if hasattr(kind, "model_fields") and hasattr(kind, "model_validate"):
        return "model"
    if "__dataclass_fields__" in dir(kind):
        return "dataclass"
    if typing.is_typeddict(kind):
        return "typed dict"
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return "named tuple"
    if issubclass(kind, enum.Flag):
        return "flag"
    return "enum" if issubclass(kind, enum.Enum) else ""


def _is_made_up(kind: type) -> bool:
    """Whether Python itself wrote the docstring: a dataclass's and a named tuple's signature, an
    enum's sentence in 3.11.
    """
    text = str(vars(kind).get("__doc__"))
    return text.startswith(f"{kind.__name__}(") or text == "An enumeration."


def _members(kind: type) -> tuple[Mapping[str, JsonValue], tuple[str, ...]]:
    members: dict[str, JsonValue] = {}
    unread: list[str] = []
    for name, member in typing.cast(type[enum.Enum], kind).__members__.items():
        try:
            members[name] = as_json(member.value)
        except ValueError:
            unread.append(name)
    return members, tuple(unread)


def _of_dataclass(kind: Any) -> Iterator[Field]:
    hints, documented = (
        hints_of(kind),
        parse(vars(kind).get("__doc__") if not _is_made_up(kind) else None).parameters,
    )
    dataclasses = sys.modules["dataclasses"]
    missing, kept = dataclasses.MISSING, {field.name for field in dataclasses.fields(kind)}
    for name, field in kind.__dataclass_fields__.items():
        init_only = name not in kept
        if (init_only and _is_class_variable(hints.get(name, field.type))) or not field.init:
            continue
        factory = field.default_factory
        default = (
            field.default
            if factory is missing
            else factory()
            if factory in (list, dict)
            else missing
        )
        yield Field(
            name=name,
            alias=name,
            init_only=init_only,
            annotation=hints.get(name, field.type),
            required=field.default is missing and factory is missing,
            default=None if default is missing else typing.cast(Any, Given(default)),
            description=documented.get(name, ""),
        )


def _is_class_variable(hint: Any) -> bool:
    """Tell a ClassVar from an InitVar, the two that are no fields; a string could not be
    evaluated.
    """
    if isinstance(hint, str):
        return "ClassVar" in hint
    return hint is typing.ClassVar or typing.get_origin(hint) is typing.ClassVar


def _of_model(kind: Any) -> Iterator[Field]:
    documented = parse(vars(kind).get("__doc__")).parameters
    for name, field in kind.model_fields.items():
        alias = field.validation_alias if isinstance(field.validation_alias, str) else field.alias
        listed = field.default_factory in (list, dict)
        default = field.default_factory() if listed else field.default
        known = not field.is_required() and (listed or field.default_factory is None)
        yield Field(
            name=name,
            alias=alias or name,
            annotation=field.annotation,
            required=field.is_required(),
            default=typing.cast(Any, Given(default)) if known else None,
            settings=field,
            description=field.description or documented.get(name, ""),
        )


def _of_typed_dict(kind: Any) -> Iterator[Field]:
    documented = parse(vars(kind).get("__doc__")).parameters
    for name, hint in hints_of(kind).items():
        required = name in kind.__required_keys__
        while (origin := typing.get_origin(hint)) is not None:
            if origin in (typing.Required, typing.NotRequired):
                required = origin is typing.Required
            elif origin is not typing.Annotated and getattr(origin, "__name__", "") != "ReadOnly":
                break
            hint = typing.get_args(hint)[0]
        yield Field(
            name=name,
            alias=name,
            annotation=hints_of(kind)[name],
            required=required,
            description=documented.get(name, ""),
        )


def _of_named_tuple(kind: Any) -> Iterator[Field]:
    hints, defaults = hints_of(kind), kind._field_defaults
    documented = parse(vars(kind).get("__doc__") if not _is_made_up(kind) else None).parameters
    for name in kind._fields:
        default = typing.cast(Any, Given(defaults[name])) if name in defaults else None
        required = name not in defaults
        yield Field(
            name=name,
            alias=name,
            annotation=hints.get(name),
            required=required,
            default=default,
            description=documented.get(name, ""),
        )


_FIELDS = {
    "dataclass": _of_dataclass,
    "model": _of_model,
    "typed dict": _of_typed_dict,
    "named tuple": _of_named_tuple,
}
