"""Frozen dataclasses that cost a command little: `from vespe.records import dataclass`.

The standard library compiles some six functions for each dataclass while its module is imported,
about 0.4 ms a class; most commands make no object of most classes, and few of the others. Here the
fields of the first objects of a class are set one by one, and `__init__` is compiled after those.
The rest comes from the standard library when it is first asked for: how two objects compare, what
is printed, what `dataclasses.fields` returns.

With the standard library's dataclasses, `vespe tool list` takes 13 ms more processor time, a shell
tool 26 and a Python tool 25 (`python -m tests.benchmarks.tricks records`, Python 3.11). With
`__init__` compiled at the first object, a shell tool takes 5 ms more, for 36 classes. Python 3.14
makes annotations when they are asked for; there every class is the standard library's.
"""

import dataclasses
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic

__all__ = ["dataclass", "json_of"]

_LATER: Final = ("__repr__", "__eq__", "__hash__")
_RECORDS: Final = (
    {"frozen": True, "slots": True},
    {"frozen": True, "slots": True, "kw_only": True},
)
_FEW: Final = 16
"""So many objects of a class are made before its `__init__` is compiled, which takes as long as
making 50.
"""
_NEW: Final = object()
"""Stands in a signature for a default that is made anew for each object."""


class _Asked:
    """An attribute of a class that is made when it is first read."""

    def __init__(self, name: str, make: Callable[[], Any]) -> None:
        self.name = name
        self.make = make

    def __get__(self, instance: object, owner: type) -> Any:
        value = self.make()
        setattr(owner, self.name, value)
        return value


def _dataclass(cls: type | None = None, **options: bool) -> Any:
    """Decorate as `dataclasses.dataclass` does; only a class that is frozen and has slots gets its
    methods later.
    """
    if cls is None and options in _RECORDS:
        return lambda cls: _record(cls, options.get("kw_only", False))
    return dataclasses.dataclass(cls, **options)


def _record(cls: type, kw_only: bool) -> type:
    annotations = vars(cls).get("__annotations__")
    # Python 3.14 makes annotations when they are asked for
    if annotations is None or cls.__bases__ not in ((object,), (Generic,)):
        return dataclasses.dataclass(frozen=True, slots=True, kw_only=kw_only)(cls)
    names = tuple(name for name, hint in annotations.items() if not _is_of_class(hint))
    own = dict(vars(cls))
    for name in ("__dict__", "__weakref__"):
        own.pop(name, None)
    defaults = {name: own.pop(name) for name in names if name in own}

    def plain(**options: bool) -> Any:
        body = {
            "__annotations__": annotations,
            "__module__": cls.__module__,
            "__qualname__": cls.__qualname__,
            "__doc__": cls.__doc__,
        }
        return dataclasses.dataclass(**{"frozen": True, "kw_only": kw_only} | options)(
            type(cls.__name__, (), body | defaults)
        )

    asked = {
        "__dataclass_fields__": lambda: (
            plain(frozen=False, init=False, repr=False, eq=False).__dataclass_fields__
        ),
        "__dataclass_params__": lambda: plain().__dataclass_params__,
        "__signature__": lambda: inspect.signature(plain()),
    }
    body: dict[str, Any] = _BODY | {name: _later(name, plain) for name in _LATER}
    body |= {name: _Asked(name, make) for name, make in asked.items()}
    body |= {"__slots__": names, "__match_args__": () if kw_only else names}
    made: Any = type(cls.__name__, cls.__bases__, body | own)
    made.__init__ = _first(made, defaults, kw_only)
    return made  # type: ignore[no-any-return]  # it is Any, so that its methods can be set


def _is_of_class(hint: Any) -> bool:
    if isinstance(hint, str):
        return "ClassVar[" in hint
    return hint is ClassVar or getattr(hint, "__origin__", None) is ClassVar


def _first(made: Any, defaults: dict[str, Any], kw_only: bool) -> Any:
    """Return the `__init__` of the first objects, which then puts the compiled one in its place."""
    fields = (value for value in defaults.values() if isinstance(value, dataclasses.Field))
    left = _FEW if all(field.init for field in fields) else 0

    def __init__(self: Any, /, *args: Any, **kwargs: Any) -> None:
        nonlocal left
        left -= 1
        is_plain = left >= 0 and not (args and kw_only)
        values = _values(made.__slots__, defaults, args, kwargs) if is_plain else None
        if values is None:
            made.__init__ = _constructor(made, defaults, kw_only)
            made.__init__(self, *args, **kwargs)
            return
        for name, value in values.items():
            object.__setattr__(self, name, value)
        if hasattr(made, "__post_init__"):
            self.__post_init__()

    return __init__


def _values(
    names: Sequence[str], defaults: dict[str, Any], args: Sequence[Any], kwargs: dict[str, Any]
) -> dict[str, Any] | None:
    """Return what each field is set to, or None where the arguments are wrong."""
    values = dict(zip(names, args, strict=False)) | kwargs
    if len(values) < len(args) + len(kwargs):
        return None
    for name in names:
        if name not in values:
            value = defaults.get(name, dataclasses.MISSING)
            if isinstance(value, dataclasses.Field):
                make = value.default_factory
                value = value.default if make is dataclasses.MISSING else make()
            if value is dataclasses.MISSING:
                return None
            values[name] = value
    return values if len(values) == len(names) else None


def _later(name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: object, *args: object) -> Any:
        compiled = getattr(plain(init=False), name)
        setattr(type(self), name, compiled)
        return compiled(self, *args)

    return method


def _constructor(made: Any, defaults: dict[str, Any], kw_only: bool) -> Any:
    """Compile `__init__`: it sets each slot by the slot's own method, the fastest way that Python
    has.
    """
    scope: dict[str, Any] = {"NEW": _NEW}
    taken, steps = ["self", *["*"] * kw_only], []
    for name in made.__slots__:
        default: Any = defaults.get(name, dataclasses.MISSING)
        is_taken, make = True, dataclasses.MISSING
        if isinstance(default, dataclasses.Field):
            default, is_taken, make = default.default, default.init, default.default_factory
        scope |= {
            f"set_{name}": getattr(made, name).__set__,
            f"default_{name}": default,
            f"make_{name}": make,
        }
        made_anew, has_default = make is not dataclasses.MISSING, default is not dataclasses.MISSING
        if is_taken:
            taken.append(
                name + ("=NEW" if made_anew else f"=default_{name}" if has_default else "")
            )
            steps.append(
                f"set_{name}(self, "
                f"{f'make_{name}() if {name} is NEW else ' if made_anew else ''}{name})"
            )
        elif made_anew or has_default:
            steps.append(
                f"set_{name}(self, {f'make_{name}()' if made_anew else f'default_{name}'})"
            )
    if hasattr(made, "__post_init__"):
        steps.append("self.__post_init__()")
    exec(f"def __init__({', '.join(taken)}):\n  " + "\n  ".join(steps or ["pass"]), scope)
    return scope["__init__"]


def json_of(record: object, *names: str, **keys: str) -> dict[str, Any]:
    """Return a record as JSON: all its fields, or the attributes `names`, in that order.

    A tuple becomes a list, a record what its own `to_json` or `to_dict` returns. `keys` has the
    keys of the attributes that have another name in JSON.
    """
    every: tuple[str, ...] = names or record.__slots__  # type: ignore[attr-defined]  # a record has
    return {keys.get(name, name): _plain(getattr(record, name)) for name in every}


def _plain(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    shown = getattr(value, "to_json", None) or getattr(value, "to_dict", None)
    return value if shown is None else shown()


def _refuse_to_set(self: object, name: str, value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: object, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, name) for name in self.__slots__]


def _restore(self: Any, state: list[Any]) -> None:
    for name, value in zip(self.__slots__, state, strict=True):
        object.__setattr__(self, name, value)


_BODY: Final = {
    "__setattr__": _refuse_to_set,
    "__delattr__": _refuse_to_delete,
    "__getstate__": _state,
    "__setstate__": _restore,
}

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    dataclass = _dataclass
