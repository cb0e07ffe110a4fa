"""One choice of an OpenAI stream: what its deltas say, gathered into a message, OpenAI's own and
the inner one.
"""

from typing import Any, Final

from vespe.adapters.messages import REASONING
from vespe.adapters.streams.base import EventType, StreamEvent
from vespe.adapters.streams.openai_calls import CallGathering, GrowingCall
from vespe.adapters.streams.pieces import Growing, joined, merge, shallow
from vespe.models import JsonObject, JsonValue

_new: Final = tuple.__new__
_REASONING: Final = (REASONING, "reasoning", "reasoning_text", "thinking", "\0reasoning")
"""Where compatible servers put reasoning as text; the first of them that a choice uses is the one
that is told.
"""
_DETAILS: Final = "reasoning_details"
_PARTS: Final = "\0reasoning"
"""The lane of reasoning that came as parts; no server's field is called so."""
_KEPT: Final = (_DETAILS, "annotations", "audio", "images")
"""What of the other fields goes into the inner message."""
_CHOICE: Final = frozenset(
    ("index", "delta", "message", "finish_reason", "logprobs", "obfuscation")
)


class ChoiceGathering:
    """What one choice has said. Texts are told as they come; fields that nobody knows are merged
    and kept.
    """

    def __init__(self, index: int) -> None:
        self.index = index
        self.finish: str | None = None
        self.calls = CallGathering()
        self._legacy = CallGathering()
        self._texts: dict[str, Growing] = {}
        self._told: str | None = None
        self._fields: dict[str, Any] = {}
        self._extra: JsonObject = {}
        self._logprobs: JsonObject | None = None

    def take(self, choice: JsonObject, events: list[StreamEvent], order: int) -> int:
        """Gather one chunk's entry of `choices`; `order` is that of the next new call. Gives the
        order after it.
        """
        delta = choice.get("delta")
        if delta is None and (delta := choice.get("message")) is not None:
            delta = self._unsaid(delta)
        if isinstance(delta, dict):
            for key, value in delta.items():
                if value is None:
                    continue
                if key == "tool_calls":
                    order = self.calls.take(value, events, order)
                elif isinstance(value, str):
                    self._say(key, value, events)
                else:
                    order = self._take_other(key, value, events, order)
            if _DETAILS in delta:
                self._tell_details(delta[_DETAILS], events)
        if finish := choice.get("finish_reason"):
            self.finish = str(finish)
        for key, value in choice.items():
            if value is not None and key not in _CHOICE:
                self._extra[key] = value if shallow(value) else None
            elif key == "logprobs" and isinstance(value, dict):
                self._take_logprobs(value)
        return order

    def _unsaid(self, message: JsonValue) -> JsonValue:
        """Return what a whole message adds to what deltas said before it: all where they said
        nothing, else calls where they had none.
        """
        if self.calls.calls or not isinstance(message, dict):
            return None
        return (
            {key: value for key, value in message.items() if key == "tool_calls"}
            if self._texts
            else message
        )

    def all_calls(self) -> list[GrowingCall]:
        """Return the choice's calls in order of their index, those of the deprecated
        `function_call` too, but for nameless ones.
        """
        calls = sorted(
            self.calls.calls, key=lambda call: call.order if call.index is None else call.index
        )
        return [call for call in calls + self._legacy.calls if call.name]

    def end(self, events: list[StreamEvent]) -> None:
        """Tell what is still held back."""
        for key, text in self._texts.items():
            if (kind := self._kind(key)) and (rest := text.end()):
                events.append(self._event(kind, key, rest))
        for call in self.all_calls():
            rest = call.arguments.end()
            if rest := rest or ("" if call.arguments.pieces else call.text()):
                events.append(StreamEvent("tool_arguments", rest, call.id, call.name, call.order))

    def native(self) -> JsonObject:
        """Return the choice of a ChatCompletion."""
        message: JsonObject = {"role": "assistant", "content": None, **joined(self._fields)}
        message |= {key: text.text() for key, text in self._texts.items() if key != _PARTS} | {
            "role": "assistant"
        }
        if self.calls.calls:
            message["tool_calls"] = [
                call.as_json() | ({} if call.index is None else {"index": call.index})
                for call in self.calls.calls
            ]
        for call in self._legacy.calls:
            message["function_call"] = {"name": call.name, "arguments": call.text()}
        given = {
            "index": self.index,
            "finish_reason": self.finish,
            "logprobs": self._logprobs,
            "message": message,
        }
        return {**self._extra, **given}

    def message(self) -> JsonObject:
        """Return the inner message: what this choice said, its reasoning under one name, and its
        calls.
        """
        content, refusal, reasoning = (
            self._texts.get(key) for key in ("content", "refusal", self._told or "")
        )
        made: JsonObject = {
            "role": "assistant",
            "content": (content.text() if content else "") or None,
        }
        if refusal and (text := refusal.text()):
            made["refusal"] = text
        if reasoning:
            made[REASONING] = reasoning.text()
        made |= {key: joined(value) for key in _KEPT if (value := self._fields.get(key))}
        if calls := self.all_calls():
            made["tool_calls"] = [call.as_json() for call in calls]
        return made

    def _say(self, key: str, piece: str, events: list[StreamEvent]) -> None:
        text = self._texts.get(key)
        if text is None:
            if key == "role":
                return
            text = self._texts[key] = Growing()
        if piece and (piece := text.add(piece)) and (kind := self._kind(key)):
            events.append(self._event(kind, key, piece))

    def _kind(self, key: str) -> EventType | None:
        if key in ("content", "refusal"):
            return "text"
        if key in _REASONING:
            self._told = self._told or key
            return "reasoning" if key == self._told else None
        return None

    def _event(self, kind: EventType, key: str, text: str) -> StreamEvent:
        return _new(
            StreamEvent,
            (kind, text, "", "", self.index, {"refusal": True} if key == "refusal" else None),
        )

    def _take_other(self, key: str, value: JsonValue, events: list[StreamEvent], order: int) -> int:
        """Take a field that is not a string: the deprecated call, content in parts, or what is
        merged and kept.
        """
        if key == "function_call":
            return self._legacy.take([{"index": 0, "function": value}], events, order)
        if key == "content" and isinstance(value, (list, dict)):
            for part in value if isinstance(value, list) else [value]:
                self._take_part(part, events)
        elif key not in self._texts and shallow(value):
            merge(self._fields, {key: value})
        return order

    def _take_part(self, part: JsonValue, events: list[StreamEvent]) -> None:
        """Take a part of `content`: a text, or (Mistral) thinking, which is a list of strings
        itself.
        """
        if isinstance(part, str):
            self._say("content", part, events)
        elif isinstance(part, dict):
            thinking = part.get("thinking")
            for inner in thinking if isinstance(thinking, list) else [thinking]:
                self._say_part(inner.get("text") if isinstance(inner, dict) else inner, events)
            if isinstance(text := part.get("text"), str):
                self._say("content", text, events)

    def _tell_details(self, details: JsonValue, events: list[StreamEvent]) -> None:
        """Tell the texts in `reasoning_details`, where the choice does not say its reasoning in a
        field of its own too.
        """
        if self._told in (None, _PARTS) and isinstance(details, list):
            for detail in details:
                if isinstance(detail, dict):
                    self._say_part(detail.get("text") or detail.get("summary"), events)

    def _say_part(self, piece: JsonValue, events: list[StreamEvent]) -> None:
        if isinstance(piece, str) and piece:
            self._say(_PARTS, piece, events)

    def _take_logprobs(self, given: JsonObject) -> None:
        held = self._logprobs = self._logprobs if self._logprobs is not None else {}
        for key, value in given.items():
            if isinstance(value, list) and shallow(value):
                if not isinstance(held.get(key), list):
                    held[key] = []
                held[key] += value
            else:
                held.setdefault(key, None)
