"""The results of one conversation that were too large for its model: each has a handle, by which it
is read and passed on.

A handle is worth something in its own conversation alone: another one's r7 is another result, or
none. What a model is told has a bound of its own (`limits.model_tokens`); callers in code, batches
and programs get results whole.
"""

import threading
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import replace
from typing import Any, Final

from vespe import errors
from vespe.adapters import result_parts, result_texts
from vespe.adapters.cost import CHARACTERS_PER_TOKEN
from vespe.adapters.large_results import kept, previews, reading
from vespe.calls.arguments import checked_inputs
from vespe.calls.outcomes import refused
from vespe.defaults import MODEL_TOKENS
from vespe.files import atomic
from vespe.lazy import pattern
from vespe.models import JsonObject, JsonValue, Outcome, Tool

_NAMED: Final = pattern(
    r"\[This is a part of the result, which has [0-9,]+ characters\. "
    r"read_result reads the rest: its handle is (r[0-9]{1,9}), .* passes all of it to a tool\.\]\Z"
)
_MOST_NAME: Final = 128
_LEAST: Final = 256
"""What a bound is at least, in characters: the sentence about the handle has to fit."""


class LargeResults:
    """What one conversation's model was shown in part. Safe to share between threads.

    `known` has what each handle stands for: `{"r7": {"sha256", "characters", "json", "tool"}}`.
    Whoever keeps a conversation keeps it too, and gives it back when the conversation goes on; it
    is added to here.
    """

    def __init__(self, known: MutableMapping[str, JsonObject] | None = None) -> None:
        self.known: MutableMapping[str, JsonObject] = {} if known is None else known
        self._lock = threading.Lock()
        self._before = self._last = self._highest()

    def begin_turn(self) -> None:
        """Take note that the next calls are another turn's: handles are counted by the places of
        calls in a turn, so that they are the same when a conversation is replayed, whatever ends
        first.
        """
        self._before = self._highest()

    def shown(
        self,
        tool: Tool,
        outcome: Outcome,
        *,
        place: int | None = 0,
        apart: Callable[[JsonValue], bool] = result_parts.is_image,
    ) -> Outcome:
        """Return what a model is told of an outcome: the same where it fits the tool's bound, else
        one whose result, or whose error's message, is a part, with the handle of the whole.

        `place` counts the calls of a turn from 0; None where calls come one by one, and handles
        are counted as results come. The blocks of MCP's `content` that `apart` says yes to are not
        counted, and stay.
        """
        tokens = tool.model_tokens or MODEL_TOKENS
        if isinstance(tokens, str):  # "whole"
            return outcome
        most = max(tokens * CHARACTERS_PER_TOKEN, _LEAST)
        if outcome.error is not None:
            message = outcome.error.message
            if len(message) <= most:
                return outcome
            part = self._part(tool, message, message, most, place=place)
            return replace(outcome, error=replace(outcome.error, message=part))
        value = outcome.result
        if isinstance(value, str) and len(value) <= most and not outcome.truncated:
            return outcome
        whole = _whole(outcome)
        if len(text := result_texts.text_of(whole)) <= most:
            return outcome
        content = whole.get("content") if isinstance(whole, dict) else None
        blocks = content if isinstance(content, list) else []
        kept = [block for block in blocks if apart(block)]
        if not kept:
            return replace(outcome, result=self._part(tool, whole, text, most, place=place))
        said = result_parts.text_of_blocks(block for block in blocks if not apart(block))
        if len(said) <= most:
            return outcome
        part = self._part(tool, said, text, most, place=place, is_json=True)
        return replace(outcome, result={"content": [{"type": "text", "text": part}, *kept]})

    def read(self, arguments: JsonObject | str) -> Outcome:
        """Answer a call of `read_result`; failures are the Outcome's."""
        try:
            asked = checked_inputs(reading.TOOL, arguments)
            text, is_json = self.text_of(asked["handle"])
            most = MODEL_TOKENS * CHARACTERS_PER_TOKEN
            answer = reading.read(text, is_json=is_json, asked=asked, most=most)
            return Outcome(tool=reading.READ, uid=None, result=answer)
        except errors.VespeError as error:
            return refused(reading.TOOL, error)

    def text_of(self, handle: str) -> tuple[str, bool]:
        """Return the text of the result that a handle stands for, and whether it is JSON; raises
        UnknownResult.
        """
        held = self.known.get(handle)
        if not isinstance(held, Mapping) or not kept.is_digest(held.get("sha256")):
            listed = ", ".join(list(self.known)[-5:])
            has = f"it has {listed}" if listed else "no result was too large so far"
            raise errors.UnknownResult(handle, f"this conversation has no such handle ({has})")
        try:
            text = kept.read_text(held["sha256"])
        except errors.StorageError as error:
            said = (
                "it is no longer stored; call the tool again" if kept.is_gone(error) else str(error)
            )
            raise errors.UnknownResult(handle, said) from None
        except errors.InvalidDocument:
            raise errors.UnknownResult(
                handle, "the stored result was changed; call the tool again"
            ) from None
        return text, held.get("json") is True

    def tool_of(self, handle: str) -> str:
        """Return the name of the tool whose result a handle stands for, "" where that is not
        known.
        """
        held = self.known.get(handle)
        tool = held.get("tool") if isinstance(held, Mapping) else None
        return tool if isinstance(tool, str) else ""

    def _part(
        self,
        tool: Tool,
        shown: JsonValue,
        text: str,
        most: int,
        *,
        place: int | None,
        is_json: bool | None = None,
    ) -> str:
        """Keep the text of a result, and return the part of it that is shown, with a sentence about
        the rest.
        """
        held = not isinstance(shown, str) if is_json is None else is_json
        try:
            handle = self._keep(tool, text, held, place)
        except errors.StorageError as error:
            said = (
                f"[This is a part of the result, which has {len(text):,} characters; the rest "
                f"could not be stored: {error}]"
            )
        else:
            said = _sentence(handle, len(text), is_json=held)
        room = max(most - len(said) - 1, 0)
        part = (
            previews.preview_text(shown, room)
            if isinstance(shown, str)
            else previews.preview_json(shown, room)
        )
        return part + ("" if part.endswith("\n") else "\n") + said

    def _keep(self, tool: Tool, text: str, is_json: bool, place: int | None) -> str:
        digest = kept.keep(text.encode("utf-8"))
        held: JsonObject = {
            "sha256": digest,
            "characters": len(text),
            "json": is_json,
            "tool": tool.name[:_MOST_NAME],
        }
        with self._lock:
            number = 1 + (self._last if place is None else self._before + place)
            # other processes may add to what is known, too
            while self.known.setdefault(handle := f"r{number}", held) is not held:
                number += 1
            self._last = number
        return handle

    def _highest(self) -> int:
        return max((int(handle[1:]) for handle in self.known if _is_handle(handle)), default=0)


def handle_in(told: object) -> str | None:
    """Return the handle that the part of a result names, None for what is no part."""
    found = _NAMED.search(told) if isinstance(told, str) else None
    return None if found is None else found[1]


def _is_handle(text: str) -> bool:
    return text[:1] == "r" and text[1:].isascii() and text[1:].isdecimal() and len(text) < 10


def _whole(outcome: Outcome) -> Any:
    """Return the result, or the text that was kept of one that was cut at the tool's own cap."""
    if outcome.truncated and outcome.output_file:
        try:
            data = atomic.read_bytes(outcome.output_file, limit=kept.MAX_RESULT_BYTES)
            return data.decode("utf-8", "replace")
        except errors.VespeError:
            pass
    return outcome.result


def _sentence(handle: str, characters: int, *, is_json: bool) -> str:
    how = '"pointer", "match" or "offset"' if is_json else '"lines", "match" or "offset"'
    return (
        f"[This is a part of the result, which has {characters:,} characters. {reading.READ} reads "
        f'the rest: its handle is {handle}, with {how}. {{"$result": "{handle}"}} as an argument '
        "passes all of it to a tool.]"
    )
