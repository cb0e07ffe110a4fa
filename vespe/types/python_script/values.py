"""Between JSON and the types of a tool's function: inputs as its annotations ask for them, its
result as JSON.
"""

# Runs in the child beside child.py; `json` alone would cost 8 ms of each call, so the
# encoder is taken from `_json`.
#
# What JSON has no form for travels so, both ways where an annotation asks for the type: an Enum as
# its value (a member's name is taken too), a dataclass as an object of its fields, a named tuple as
# an array (an object is taken too), date, datetime and time as ISO 8601, a timedelta as seconds in
# ISO 8601 (`PT1.5S`, results only), bytes as base64, UUID, Path and Decimal as text, sets, tuples
# and anything else that can be iterated as an array (a set is sorted), mappings as objects,
# pydantic models by their own methods, numpy's arrays and numbers through `tolist`.

import os
import sys
from _json import encode_basestring, make_encoder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

MAX_DEPTH = 63
"""The levels of a result: Vespe reads 64, and the answer around it is one."""
MAX_TEXT = 4000
PLAIN = (str, int, float, bool, dict, list, object, None, type(None))
PLAIN_NAMES = frozenset(("str", "int", "float", "bool", "dict", "list", "object", "None", "Any"))


class Unfit(ValueError):
    """A value that its annotation, or JSON, has no form for, and where it is."""

    def __init__(self, pointer: str, why: str) -> None:
        super().__init__(pointer, why)
        self.pointer, self.why = pointer, why


def converted_inputs(function: "Callable[..., Any]", inputs: "dict[str, Any]") -> "dict[str, Any]":
    """Return the inputs as the function's annotations ask for them. Raises Unfit."""
    hints = _annotations(function)
    asked = [name for name in inputs if name in hints and not is_plain(hints[name])]
    made = {
        name: _whole(value) if name in hints and hints[name] in (int, "int") else value
        for name, value in inputs.items()
    }
    for name in asked:
        made[name] = converted(inputs[name], _resolved(hints[name], function), f"/{name}")
    return made


def _whole(value: "Any") -> "Any":
    """A whole number that a model wrote as 3.0 is an integer in JSON Schema, and in Python only as
    an int.
    """
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _annotations(owner: "Any") -> "dict[str, Any]":
    try:
        return dict(getattr(owner, "__annotations__", {}))
    except Exception:  # since 3.14 annotations run code of the tool's at this moment
        return {}


def is_plain(hint: "Any") -> bool:
    return hint in PLAIN_NAMES if isinstance(hint, str) else any(hint is plain for plain in PLAIN)


def _resolved(hint: "Any", owner: "Any") -> "Any":
    """The annotation as a type; as it is where it names what cannot be had."""
    import typing

    class holder:  # what get_type_hints reads one annotation from
        __annotations__ = {"value": hint}

    names = getattr(owner, "__globals__", None) or vars(
        sys.modules.get(getattr(owner, "__module__", ""), sys)
    )
    try:
        return typing.get_type_hints(holder, names)["value"]
    except Exception:  # an annotation is code of the tool's, and may be anything
        return hint


def converted(value: "Any", hint: "Any", pointer: str) -> "Any":
    """Return a JSON value as the annotation's type; what is not known here is passed as it is.
    Raises Unfit.
    """
    if hint is int:
        return _whole(value)
    origin, arguments = getattr(hint, "__origin__", None), getattr(hint, "__args__", ())
    module, name = (
        getattr(hint, "__module__", ""),
        getattr(hint, "__name__", "") or "",
    )
    if (
        module in ("types", "typing")
        and arguments
        and (name in ("Union", "UnionType", "Optional") or origin is None)
    ):
        return _of_union(value, arguments, pointer)
    if isinstance(value, list):
        return _of_array(value, hint, pointer)
    if isinstance(value, dict) and hasattr(hint, "model_validate"):
        return _made(hint.model_validate, value, pointer, hint)
    if isinstance(value, dict):
        return _of_object(value, hint, pointer)
    if hasattr(hint, "__members__"):
        return _member(value, hint, pointer)
    make = _from_text(module, name) if isinstance(value, str) else None
    if module == "decimal" and name == "Decimal":
        return _made(hint, str(value), pointer, hint)
    return value if make is None else _made(lambda text: make(hint, text), value, pointer, hint)


def _from_text(module: str, name: str) -> "Callable[[Any, str], Any] | None":
    if module == "datetime" and name in _ISO:
        return _from_iso
    if (
        (module.partition(".")[0] == "pathlib" and name in ("Path", "PurePath"))
        or (module == "uuid" and name == "UUID")
        or module == "ipaddress"
    ):
        return lambda hint, text: hint(text)
    if module == "builtins" and name in ("bytes", "bytearray"):
        import binascii

        return lambda hint, text: hint(binascii.a2b_base64(text, strict_mode=True))
    return None


_ISO = {"date": "2026-01-31", "datetime": "2026-01-31T12:30:00", "time": "12:30:00"}
"""The types of text in ISO 8601, each with an example."""


def _from_iso(hint: "Any", text: str) -> "Any":
    try:
        return hint.fromisoformat(text)
    except ValueError:
        raise Unfit("", f"must be a {hint.__name__} such as {_ISO[hint.__name__]}") from None


def _of_union(value: "Any", arms: "tuple[Any, ...]", pointer: str) -> "Any":
    """Take the first arm that the value is of, or becomes."""
    if any(is_plain(arm) and type(value) is arm for arm in arms) or (
        value is None and type(None) in arms
    ):
        return value
    refusing, left = [], []
    for arm in arms:
        try:
            made = converted(value, arm, pointer)
        except Unfit as unfit:
            refusing.append(unfit)
            continue
        if made is not value:
            return made
        left.append(arm)
    if any(is_plain(arm) or not isinstance(arm, type) for arm in arms) and (
        not refusing or any(_may_be(value, arm) for arm in left)
    ):
        return value
    if len(refusing) == 1:
        raise refusing[0]
    raise Unfit(pointer, f"is not one of {', '.join(_name(arm) for arm in arms)}: {_shown(value)}")


def _may_be(value: "Any", arm: "Any") -> bool:
    """Whether a value can be of a type as it came; the types that are not listed may take any."""
    kinds = (
        *((kind, kind) for kind in (str, bool, list, dict, type(None))),
        *((None, type(None)), (int, int), (float, (int, float))),
    )
    arm = getattr(arm, "__origin__", arm)
    return all(isinstance(value, kind) for known, kind in kinds if arm is known)


def _of_array(value: "list[Any]", hint: "Any", pointer: str) -> "Any":
    kind, arguments = getattr(hint, "__origin__", hint), getattr(hint, "__args__", ())
    if not isinstance(kind, type):
        return value
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return _of_object(dict(zip(kind._fields, value, strict=False)), kind, pointer)
    if kind is tuple and arguments and arguments[-1] is not ...:
        items = [
            converted(item, arguments[min(i, len(arguments) - 1)], f"{pointer}/{i}")
            for i, item in enumerate(value)
        ]
    elif arguments:
        items = [converted(item, arguments[0], f"{pointer}/{i}") for i, item in enumerate(value)]
    else:
        items = value
    if kind.__module__ == "collections.abc":
        kind = set if kind.__name__ in ("Set", "MutableSet") else list
    if kind in (tuple, set, frozenset) or kind.__name__ == "deque":
        return _made(kind, items, pointer, hint)
    return items


def _of_object(value: "dict[str, Any]", hint: "Any", pointer: str) -> "Any":
    """A dataclass, a named tuple or a TypedDict by its fields; a mapping by its two types."""
    arguments: Any = getattr(hint, "__args__", ())
    if len(arguments) == 2:
        keys, values = arguments
        return {
            converted(k, keys, pointer): converted(v, values, f"{pointer}/{_token(k)}")
            for k, v in value.items()
        }
    is_data = hasattr(hint, "__dataclass_fields__") or hasattr(hint, "_fields")
    if not isinstance(hint, type) or not (is_data or hasattr(hint, "__total__")):
        return value
    hints: dict[str, tuple[Any, Any]] = {}
    for base in reversed(hint.__mro__):
        hints.update({name: (asked, base) for name, asked in _annotations(base).items()})
    made = {
        key: converted(item, _resolved(*hints[key]), f"{pointer}/{_token(key)}")
        if key in hints
        else item
        for key, item in value.items()
    }
    return _made(lambda fields: hint(**fields), made, pointer, hint) if is_data else made


def _member(value: "Any", hint: "Any", pointer: str) -> "Any":
    for member in hint:
        if member.value == value and isinstance(member.value, bool) == isinstance(value, bool):
            return member
    if isinstance(value, str) and value in hint.__members__:
        return hint.__members__[value]
    raise Unfit(
        pointer, f"is not one of {', '.join(str(member.value) for member in hint)}: {_shown(value)}"
    )


def _made(make: "Callable[[Any], Any]", value: "Any", pointer: str, hint: "Any") -> "Any":
    try:
        return make(value)
    except Unfit as unfit:
        raise Unfit(pointer, f"{unfit.why}, not {_shown(value)}") from None
    except Exception as error:  # a class of the tool's may refuse a value with any error
        raise Unfit(pointer, f"makes no {_name(hint)}: {error}"[:MAX_TEXT]) from None


def _name(hint: "Any") -> str:
    return getattr(hint, "__name__", None) or str(hint)


def _shown(value: "Any") -> str:
    return repr(value)[:80]


def _token(key: "Any") -> str:
    return str(key).replace("~", "~0").replace("/", "~1")


def _a(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


def encode(value: "Any") -> str:
    """Return the answer for a result: the C encoder where it can, and a walk that names the place
    where it cannot. Raises Unfit.
    """
    try:
        text = make_text({"result": value})
    except (TypeError, ValueError, RecursionError):
        text = make_text({"result": plain(value, "", 0)})
    if _is_utf8(text):
        return text
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    notes = ["lone surrogates in the result, which UTF-8 cannot encode, became U+FFFD"]
    return text[:-1] + ',"notes":' + make_text(notes) + "}"


def form(value: "Any") -> "Any":
    """One step towards JSON for a value that it has no form for; TypeError where there is none."""
    kind = type(value)
    module = kind.__module__.partition(".")[0]
    if hasattr(kind, "__members__"):
        return value.value
    if hasattr(kind, "__dataclass_fields__"):
        return {
            field.name: getattr(value, field.name)
            for field in sys.modules["dataclasses"].fields(value)
        }
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if module == "datetime" and hasattr(value, "isoformat"):
        return value.isoformat()
    if module == "datetime" and hasattr(value, "total_seconds"):
        return f"PT{value.total_seconds():.6f}".rstrip("0").rstrip(".") + "S"
    if module in ("uuid", "decimal", "_decimal", "fractions", "ipaddress"):
        return str(value)
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        import binascii

        return binascii.b2a_base64(value, newline=False).decode("ascii")
    return _of_many(value)


def _of_many(value: "Any") -> "Any":
    if isinstance(value, type) or not any(
        hasattr(value, name) for name in ("tolist", "keys", "__iter__")
    ):
        raise TypeError(f"is {_a(type(value).__name__)}, which JSON cannot represent")
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "keys"):
        return {key: value[key] for key in value.keys()}  # noqa: SIM118  # whatever has keys, not dict alone
    if isinstance(value, (set, frozenset)):
        try:
            return sorted(value)
        except TypeError:
            return sorted(value, key=repr)
    return list(value)


def plain(value: "Any", pointer: str, depth: int) -> "Any":
    """The value in JSON's own types all the way down. Raises Unfit with the place of what has no
    form.
    """
    if depth > MAX_DEPTH:
        raise Unfit("", f"is nested deeper than {MAX_DEPTH} levels, or contains itself")
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (int, float)):
        return _number(value, pointer)
    if isinstance(value, dict):
        return {
            _key(key, pointer): plain(item, f"{pointer}/{_token(key)}", depth + 1)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [plain(item, f"{pointer}/{index}", depth + 1) for index, item in enumerate(value)]
    try:
        step = form(value)
    except TypeError as error:
        raise Unfit(pointer, str(error)) from None
    return plain(step, pointer, depth + 1)


def _number(value: "Any", pointer: str) -> "Any":
    if isinstance(value, float) and not -float("inf") < value < float("inf"):
        name = "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
        raise Unfit(pointer, f"is {name}, which JSON cannot represent")
    try:
        repr(value)
    except ValueError:
        raise Unfit(pointer, "is an integer with too many digits") from None
    return value


def _key(key: "Any", pointer: str) -> str:
    if isinstance(key, str):
        return key
    if key is None or isinstance(key, (bool, int, float)):
        return make_text(key)
    try:
        step = form(key)
    except TypeError:
        step = None
    if not isinstance(step, (str, int)):
        raise Unfit(
            pointer, f"has a key that is {_a(type(key).__name__)}, which JSON cannot represent"
        )
    return _key(step, pointer)


def make_text(value: "Any") -> str:
    """Write compact JSON, NaN refused. Raises TypeError, ValueError or RecursionError for what the
    encoder cannot take.
    """
    return "".join(
        make_encoder({}, form, encode_basestring, None, ":", ",", False, False, False)(value, 0)
    )


def _is_utf8(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
