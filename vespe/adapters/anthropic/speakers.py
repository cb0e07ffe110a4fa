"""Who speaks within one user turn of Anthropic's: marks of names before what they say, and texts
that only look like marks.
"""

import re
from typing import Final

from vespe.adapters.messages import BLOCKS, said
from vespe.models import JsonObject

NAME_MARK: Final = re.compile(r"\[name: ([^\r\n]{0,64})\]")
"""A text block of this form opens what a named participant says; Anthropic's messages have no
`name`.
"""
TEXT_MARK: Final = "[name]"
"""A text block of this form says that the next one, which looks like a mark, is none."""


def speaker(message: JsonObject) -> str:
    """Return the `name` of a user message, "" where it has none that a mark can hold."""
    name = message.get("name")
    name = said(name) if isinstance(name, str) else ""
    return name if NAME_MARK.fullmatch(f"[name: {name}]") else ""


def marked(spoken: list[tuple[str, list[JsonObject]]]) -> list[JsonObject]:
    """Return the blocks of one user turn from what each (name, blocks) in it says.

    A named one stands behind its mark, an unnamed one behind `[name: ]` where the turn holds a mark
    of a name already. A text that looks like a mark stands behind `[name]`, but for the turn's last
    block, which is always text.
    """
    made: list[JsonObject] = []
    named = False
    for place, (name, blocks) in enumerate(spoken):
        if named := named or bool(name):
            made.append({"type": "text", "text": f"[name: {name}]"})
        for at, block in enumerate(blocks):
            if looks_marked(block) and (place, at) != (len(spoken) - 1, len(blocks) - 1):
                made.append({"type": "text", "text": TEXT_MARK})
            made.append(block)
    return made


def unmarked(blocks: list[JsonObject]) -> list[tuple[str, list[JsonObject]]] | None:
    """Return (name, what they say) for each speaker of a turn that `marked` wrote; None for one
    that it did not.
    """
    made: list[tuple[str, list[JsonObject]]] = []
    escaped = False
    for at, block in enumerate(blocks):
        mark = (
            ""
            if at == len(blocks) - 1 or escaped or not looks_marked(block)
            else str(block["text"])
        )
        escaped = mark == TEXT_MARK and looks_marked(blocks[at + 1])
        if escaped:
            continue
        if mark and mark != TEXT_MARK:
            made.append((mark[len("[name: ") : -1], []))
        else:
            made = made or [("", [])]
            made[-1][1].append(block)
    return made if marked(made) == blocks and all(said for _, said in made) else None


def looks_marked(block: JsonObject) -> bool:
    """Say whether a block has the form of one of the marks, which bear nothing but their text."""
    text = (
        block.get("text") if block.keys() == {"type", "text"} and block["type"] == "text" else None
    )
    return (
        isinstance(text, str)
        and text.startswith("[name")
        and (text == TEXT_MARK or NAME_MARK.fullmatch(text) is not None)
    )


def literal(message: JsonObject) -> bool:
    """Say whether a user's message came with texts that look like marks, and that nobody wrote as
    such: its blocks go as they are.
    """
    order = message.get(BLOCKS)
    return (
        isinstance(order, list)
        and not speaker(message)
        and any(isinstance(item, dict) and looks_marked(item) for item in order)
    )
