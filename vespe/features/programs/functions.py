"""Tools as the functions of a program: their names, their declarations, and how what a program
gives becomes arguments.
"""

import builtins
import keyword
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from vespe.adapters.type_declarations import function_stub, positional
from vespe.documents import strict_json
from vespe.errors import InvalidArguments, InvalidDocument
from vespe.features.programs.source import AWAITED, HANDLE, RESERVED
from vespe.models import JsonObject, JsonValue, Tool

GATE: Final = f"{RESERVED}gate"
"""A function that the text which is checked calls first: where it is called, the check is over."""
_BUILTINS: Final = f"""\
from typing import Any, Literal, TypeVar


def {GATE}() -> None: ...
def filter(function: Any, items: Any) -> list[Any]: ...
def format(value: Any, form: str = ...) -> str: ...
def getattr(value: Any, name: str, otherwise: Any = ...) -> Any: ...
def hasattr(value: Any, name: str) -> bool: ...
def map(function: Any, *items: Any) -> list[Any]: ...
def setattr(value: Any, name: str, given: Any) -> None: ...
class FileExistsError(OSError): ...
class FileNotFoundError(OSError): ...
class ImportError(Exception): ...
class IsADirectoryError(OSError): ...
class ModuleNotFoundError(ImportError): ...
class NotADirectoryError(OSError): ...
class PermissionError(OSError): ...
class UnboundLocalError(NameError): ...
class UnicodeDecodeError(ValueError): ...
class UnicodeEncodeError(ValueError): ...
"""
"""What the interpreter has and its check of types does not know."""
_ANY_HANDLE: Final = f"def {HANDLE}(given: Any) -> Any: ...\n"
_NO_HANDLE: Final = f"""\
{RESERVED}T = TypeVar("{RESERVED}T")
def {HANDLE}(given: {RESERVED}T) -> {RESERVED}T: ...
"""


def function_names(names: Iterable[str]) -> dict[str, str]:
    """Return the names of tools by those of their functions: the same, but where it is no name in
    Python, or a builtin's.
    """
    found: dict[str, str] = {}
    later = list[str]()
    for name in sorted(names):
        if _is_free(name):
            found[name] = name
        else:
            later.append(name)
    for name in later:
        made = re.sub(r"\W", "_", name, flags=re.ASCII)
        made = made if made[:1].isalpha() and not made.startswith(RESERVED) else f"tool_{made}"
        while not _is_free(made) or made in found:
            made += "_"
        found[made] = name
    return found


def stubs(functions: Mapping[str, Tool], *, handles: bool = False) -> str:
    """Return the declarations of functions and of builtins as a program is checked against them;
    the same tools give the same text. With `handles`, the handle of a large result may stand for a
    value of any type.
    """
    said = [_ANY_HANDLE if handles else _NO_HANDLE]
    for name, tool in sorted(functions.items()):
        said += [function_stub(tool, name), f"async {function_stub(tool, AWAITED + name)}"]
    return _BUILTINS + "\n".join(said)


def shown_stubs(functions: Mapping[str, Tool]) -> str:
    """Return the declarations of functions as a model is told of them."""
    return "\n".join(function_stub(tool, name) for name, tool in sorted(functions.items()))


def arguments_of(tool: Tool, name: str, packed: Any) -> JsonObject:
    """Return the arguments of a call as a program packed them: by position and by name. Raises
    InvalidArguments.
    """
    given, named = _unpacked(name, packed)
    if not given:
        return named
    places = positional(tool)
    if len(given) > len(places):
        raise InvalidArguments(
            f"{name}() takes {len(places)} positional arguments, but got {len(given)}"
        )
    found = dict(zip(places, given, strict=False))
    twice = sorted(found.keys() & named.keys())
    if twice:
        raise InvalidArguments(f"{name}() was given {twice[0]!r} twice")
    return found | named


def _unpacked(name: str, packed: Any) -> tuple[Sequence[JsonValue], JsonObject]:
    try:
        made = strict_json.parse_json(packed) if isinstance(packed, str) else None
    except InvalidDocument as error:
        raise InvalidArguments(
            f"the arguments of {name}() cannot be represented in JSON: {error}"
        ) from None
    if not isinstance(made, list) or len(made) != 2 or not isinstance(made[1], dict):
        raise InvalidArguments(f"call {name}() directly")
    given, named = made
    return given, named


def _is_free(name: str) -> bool:
    return (
        name.isascii()
        and name.isidentifier()
        and not keyword.iskeyword(name)
        and not hasattr(builtins, name)
        and not name.startswith(("_", RESERVED))
    )
