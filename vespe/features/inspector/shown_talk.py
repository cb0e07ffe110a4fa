"""What a page shows of a conversation: what was said, and the calls that came of it."""

import contextlib
from collections.abc import Sequence
from typing import Final

from vespe.documents import strict_json
from vespe.errors import VespeError
from vespe.models import JsonObject, JsonValue, Outcome
from vespe.records import dataclass

_SHORT: Final = 90
"""Arguments that stand on one line."""
_PROGRAM: Final = "run_code"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCall:
    """A call: `arguments` is JSON over several lines, or the text as it came where it is none.

    Of a program (`is_program`) it is the code, `inner` are the calls that it made, and `waits` is
    the one that it waits for, with `why`. `line` is where a call stands in its program. Of a call
    that `is_unknown` nobody saw how it ended.
    """

    name: str
    arguments: str
    outcome: Outcome | None
    inner: "tuple[ShownCall, ...]" = ()
    is_program: bool = False
    waits: "ShownCall | None" = None
    line: int | None = None
    why: str = ""
    is_unknown: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One thing that was said: by whom (`system`, `user`, `assistant`, `error`), the text, and the
    calls that came with it.
    """

    role: str
    text: str
    thinking: str = ""
    calls: tuple[ShownCall, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedConversation:
    """A conversation, read; one that `is_kept` can go on, and has no recorded requests."""

    provider: str
    model: str
    stop_reason: str
    turns: int
    tools: tuple[str, ...]
    said: tuple[Said, ...]
    is_kept: bool = False


def shown_call(
    call: JsonObject,
    *,
    outcome: Outcome | None,
    inner: Sequence[ShownCall] = (),
    waits: ShownCall | None = None,
) -> ShownCall:
    """Return a call of a message in the inner format."""
    function = call.get("function") or call.get("custom") or {}
    held = function if isinstance(function, dict) else {}
    arguments = str(held.get("arguments") or held.get("input") or "")
    name, is_program = str(held.get("name")), False
    with contextlib.suppress(VespeError):
        value = strict_json.parse_json(arguments)
        line = strict_json.compact_json(value)
        arguments = line if len(line) <= _SHORT else strict_json.dump_json(value).rstrip("\n")
        if name == _PROGRAM and isinstance(value, dict) and isinstance(value.get("code"), str):
            arguments, is_program = value["code"], True
    return ShownCall(
        name=name,
        arguments=arguments,
        outcome=outcome,
        inner=tuple(inner),
        is_program=is_program,
        waits=waits,
    )


def text_in(content: JsonValue) -> str:
    """Return what a message says, in any API's shape; parts that are no text are named."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(
        part if isinstance(part, str) else str(part.get("text") or f"[{part.get('type')}]")
        for part in parts
        if _says(part)
    )


def _says(part: JsonValue) -> bool:
    return isinstance(part, (dict, str))
