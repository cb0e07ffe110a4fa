"""Results passed on by their handle: `{"$result": "r7", "pointer": "/body"}` as the value of an
argument stands for what the result holds there.

A reference is resolved before anything looks at the call, so that the schema, the rules, the person
who is asked and the log all have the value itself. What is no reference that can be resolved is
never passed on as it is.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from vespe.adapters.large_results import reading
from vespe.adapters.large_results.handles import LargeResults
from vespe.documents import pointers, strict_json
from vespe.errors import InvalidArguments, UnknownResult
from vespe.files.digests import sha256
from vespe.models import JsonObject, JsonValue
from vespe.records import dataclass
from vespe.schemas.explain import shorten

KEY: Final = "$result"
_KEYS: Final = {KEY, "pointer"}
_HEAD: Final = 80
_MOST_NAME: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """What an argument was put in the place of: the handle and the pointer, and of the value its
    characters, its SHA-256 (hex) and its beginning. `tool` is the one whose result it was, "" where
    that is not known.
    """

    argument: str
    handle: str
    pointer: str
    characters: int
    sha256: str
    head: str
    tool: str = ""

    @property
    def origin(self) -> str:
        """Say where the value comes from, for the person who is asked about the call.

        The pointer is not shown: it has names out of the result, which a stranger may have written
        so that they read like words of Vespe's.
        """
        part = "a part of " if self.pointer else ""
        tool = f" of {shorten(self.tool, _MOST_NAME)}" if self.tool else ""
        return f"copied from {part}the result {self.handle}{tool}"

    def __str__(self) -> str:
        where = f"{self.handle} at {shorten(self.pointer, _HEAD)}" if self.pointer else self.handle
        digest = f"SHA-256 {self.sha256[:16]}…"
        return f"{self.argument} is {where}: {self.characters:,} characters, {digest}"


def resolve(
    arguments: JsonObject, schema: Mapping[str, Any], results: LargeResults
) -> tuple[JsonObject, tuple[Reference, ...]]:
    """Return the arguments with every reference resolved, and what was.

    An argument whose own schema has a property `$result` is left as it is. Raises UnknownResult for
    a handle that this conversation has not, InvalidArguments for a reference that says nothing, or
    that stands within an argument.
    """
    made, found = dict(arguments), list[Reference]()
    for name, value in arguments.items():
        if not isinstance(value, (dict, list)) or takes_as_it_is(schema, name):
            continue
        if isinstance(value, dict) and KEY in value:
            made[name], reference = _resolved(name, value, results)
            found.append(reference)
        elif (handle := next(_within(value, results), None)) is not None:
            raise InvalidArguments(
                f'{{"{KEY}": "{handle}"}} is inside the argument {name!r}: '
                "a reference must be the whole value of an argument"
            )
    return made, tuple(found)


def takes_as_it_is(schema: Mapping[str, Any], argument: str) -> bool:
    """Say whether an argument's own schema has a property `$result`: it is then the tool's, and no
    reference.
    """
    declared = schema.get("properties")
    one = declared.get(argument) if isinstance(declared, dict) else None
    own = one.get("properties") if isinstance(one, dict) else None
    return isinstance(own, dict) and KEY in own


def _resolved(name: str, given: JsonObject, results: LargeResults) -> tuple[JsonValue, Reference]:
    handle, pointer = given[KEY], given.get("pointer", "")
    if not isinstance(handle, str) or not isinstance(pointer, str) or not given.keys() <= _KEYS:
        raise InvalidArguments(
            f"the reference in {name!r} is not of the form "
            f'{{"{KEY}": "r7"}} or {{"{KEY}": "r7", "pointer": "/body"}}'
        )
    text, is_json = results.text_of(handle)
    value: JsonValue = text
    if is_json or pointer:
        document = _value(text, is_json, handle)
        try:
            value = pointers.resolve_pointer(document, pointer)
        except ValueError as error:
            raise InvalidArguments(str(error)) from None
        except LookupError:
            raise UnknownResult(handle, f"it has nothing at {pointer!r}") from None
    said = value if isinstance(value, str) else strict_json.compact_json(value)
    reference = Reference(
        argument=name,
        handle=handle,
        pointer=pointer,
        characters=len(said),
        sha256=sha256(said.encode("utf-8")).hexdigest(),
        head=said[:_HEAD],
        tool=results.tool_of(handle),
    )
    return value, reference


def _value(text: str, is_json: bool, handle: str) -> JsonValue:
    try:
        return reading.value_of(text, is_json)
    except InvalidArguments:
        raise UnknownResult(handle, "it is not JSON, so it has no pointers") from None


def _within(value: JsonValue, results: LargeResults) -> Iterator[str]:
    """Yield the handles of this conversation that are referred to within a value."""
    waiting: list[Any] = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            handle = one.get(KEY)
            if isinstance(handle, str) and one.keys() <= _KEYS and handle in results.known:
                yield handle
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
