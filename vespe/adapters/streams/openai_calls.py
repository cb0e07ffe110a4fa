"""The tool calls of one choice of an OpenAI stream, gathered from their deltas by index, by id and
by order.
"""

from typing import Any, Final

from vespe.adapters import arguments
from vespe.adapters.streams.base import StreamEvent
from vespe.adapters.streams.pieces import Growing, is_whole_object, joined, merge, shallow
from vespe.documents import strict_json
from vespe.errors import InvalidDocument
from vespe.models import JsonObject, JsonValue

_new: Final = tuple.__new__
_READ: Final = frozenset(("index", "id", "type", "function", "custom"))


class GrowingCall:
    """A call while it arrives: `order` is its place in the order of arrival, `index` what the
    server calls it.
    """

    __slots__ = ("arguments", "custom", "extra", "id", "index", "name", "order", "original")

    def __init__(self, order: int, index: int | None) -> None:
        self.order, self.index = order, index
        self.id = self.name = ""
        self.custom = False
        self.arguments = Growing()
        self.original: str | None = None
        self.extra: dict[str, Any] = {}

    def text(self) -> str:
        """Return the arguments as they came; `""` where none did, `{}` where an empty object did
        and nothing after it.
        """
        return self.arguments.text() or self.original or ""

    def as_json(self) -> JsonObject:
        """Return the call as it stands in a message."""
        kind, key = ("custom", "input") if self.custom else ("function", "arguments")
        return {
            "id": self.id,
            "type": kind,
            kind: {"name": self.name, key: self.text()},
            **joined(self.extra),
        }


class CallGathering:
    """The calls of one choice. Ids and names that are null or empty overwrite nothing; only
    arguments are put together.

    A piece belongs to the call of its `index`; another id with a name there is another call, and so
    is a name with an object where an object is whole already. Without an index it goes by its id,
    without either it continues the last call.
    """

    def __init__(self) -> None:
        self.calls: list[GrowingCall] = []
        self._by_index: dict[int, GrowingCall] = {}
        self._by_id: dict[str, GrowingCall] = {}

    def take(self, pieces: JsonValue, events: list[StreamEvent], first: int) -> int:
        """Gather one delta's `tool_calls`; `first` is the order of the next new call in the stream.
        Gives the next order.
        """
        for piece in pieces if isinstance(pieces, list) else [pieces]:
            if not isinstance(piece, dict):
                continue
            index, function = piece.get("index"), piece.get("function")
            if type(index) is not int:
                index = None
            if not isinstance(function, dict):
                function = piece.get("custom")
                function = function if isinstance(function, dict) else {}
            call = None if index is None else self._by_index.get(index)
            if call is None or piece.get("id") or function.get("name"):
                call = self._found(piece, function, index, first)
                first = max(first, call.order + 1)
                self._identify(call, piece, function, events)
            if len(piece) > 2:
                self._keep(call, piece)
            given = function.get("arguments") if "arguments" in function else function.get("input")
            if given is not None and given != "":
                self._grow(call, given, events)
        return first

    def _found(
        self, piece: JsonObject, function: JsonObject, index: int | None, order: int
    ) -> GrowingCall:
        identifier, name = _said(piece.get("id")), _said(function.get("name"))
        call = self._by_index.get(index) if index is not None else None
        if call is None and index is None:
            call = self._by_id.get(identifier) or self._last(identifier, name)
        elif call is not None and identifier and call.id and identifier != call.id:
            call = self._by_id.get(identifier, None if name else call)
        if call is None or (
            name and not (identifier and call.id) and _follows_whole(call, function)
        ):
            call = GrowingCall(order, index)
            self.calls.append(call)
            if index is not None:
                self._by_index[index] = call
        return call

    def _last(self, identifier: str, name: str) -> GrowingCall | None:
        """Return the call that a piece without index continues, whose id is new or missing; a name
        again only where arguments came.
        """
        last = self.calls[-1] if self.calls else None
        if last is None or (identifier and last.id):
            return None
        again = (
            not name
            or not last.name
            or (not identifier and last.name == name and last.arguments.pieces)
        )
        return last if again else None

    def _identify(
        self, call: GrowingCall, piece: JsonObject, function: JsonObject, events: list[StreamEvent]
    ) -> None:
        identifier, name = _said(piece.get("id")), _said(function.get("name"))
        if identifier and not call.id:
            call.id = identifier
            self._by_id.setdefault(identifier, call)
        call.custom = call.custom or ("custom" in piece and "function" not in piece)
        if name and not call.name:
            call.name = name
            events.append(StreamEvent("tool_start", "", call.id, name, call.order))
            if waiting := call.arguments.text():
                events.append(StreamEvent("tool_arguments", waiting, call.id, name, call.order))
        elif (
            name and name != call.name and not call.arguments.pieces and identifier in ("", call.id)
        ):
            call.name = name if name.startswith(call.name) else call.name + name

    def _grow(self, call: GrowingCall, given: JsonValue, events: list[StreamEvent]) -> None:
        if not isinstance(given, str):
            if given == {}:
                call.original = "{}"
                return
            given = _as_text(given)
        text = call.arguments.add(given)
        if text and call.name:
            events.append(
                _new(StreamEvent, ("tool_arguments", text, call.id, call.name, call.order, None))
            )

    def _keep(self, call: GrowingCall, piece: JsonObject) -> None:
        others = {
            key: value
            for key, value in piece.items()
            if key not in _READ and value is not None and shallow(value)
        }
        if others:
            merge(call.extra, others)


def _said(value: JsonValue) -> str:
    if not isinstance(value, str):
        return ""
    return value if value.isascii() else strict_json.repair_surrogates(value)


def _as_text(value: JsonValue) -> str:
    """Return arguments that are not a string as JSON, or as what is none, so that they never run,
    where JSON cannot say them.
    """
    try:
        return arguments.to_text(value) if shallow(value) else "<nested too deeply>"
    except InvalidDocument as error:
        return f"<{error}>"


def _follows_whole(call: GrowingCall, function: JsonObject) -> bool:
    """Whether an object begins where the call's arguments, that came in one piece, are a whole
    object: it is another call's.

    An empty object that is no text may be a beginning, too: behind it only another object, or an
    empty one under another name, is new.
    """
    given = function.get("arguments")
    if given == {} and isinstance(given, dict):
        return call.original is not None and function.get("name") != call.name
    if call.original is not None and not call.arguments.pieces:
        return isinstance(given, dict)
    begins = (
        bool(given)
        if isinstance(given, dict)
        else isinstance(given, str) and given.lstrip().startswith("{")
    )
    return begins and len(call.arguments.pieces) == 1 and is_whole_object(call.arguments.pieces[0])
