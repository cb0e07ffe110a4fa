"""What a call of a tool may do to the flow of data: derived from what the tool declares, else from
its words, or as config.json says.
"""

import os
from collections.abc import Iterator
from typing import Any, Final

from vespe.models import PERMISSIONS, Tool
from vespe.tool_types import find_type
from vespe.tools import bm25
from vespe.tools.fields import EFFECTS

_READ: Final = frozenset(
    bm25.words(
        "get read list search find fetch view show retrieve check lookup query browse download "
        "count load see inspect"
    )
)
_SEND: Final = frozenset(
    bm25.words(
        "send post share publish upload invite forward reply notify tweet pay transfer submit "
        "announce broadcast push"
    )
)
_DESTROY: Final = frozenset(
    bm25.words(
        "delete remove drop erase cancel destroy purge clear overwrite reset revoke kill "
        "terminate wipe uninstall"
    )
)
_VERBS: Final = (
    _READ
    | _SEND
    | _DESTROY
    | frozenset(
        bm25.words(
            "create add make new insert update edit modify change set write append move schedule "
            "book reserve run"
        )
    )
)
_TO: Final = frozenset(
    bm25.words("recipient cc bcc participant attendee email phone webhook iban destination")
)
"""Arguments that name whom a tool gives something to, unless it only reads."""
_WHERE: Final = frozenset(bm25.words("url uri link endpoint webhook host domain"))
"""Arguments by which the model chooses an address; even reading from it gives away what stands in
it.
"""
_PRIVATE: Final = frozenset(
    bm25.words(
        "email mail inbox message chat contact calendar event appointment file drive document note "
        "account iban balance transaction bank "
        "card password credential token secret user profile customer patient salary invoice order "
        "history medical health private personal"
    )
)


def effects_of(tool: Tool, *, held: bool = False) -> dict[str, str]:
    """Return a tool's effects, in the order of EFFECTS, each with the reason in a few words.

    `effects` in config.json stands in the place of what would be derived. What a tool declares (its
    type, secrets, permissions and annotations) decides; the words of its name and arguments only
    where it declares nothing. WebAssembly reaches nobody, and neither does what states no network,
    where the sandbox is required (`held`).
    """
    tool = tool.itself
    corrected = tool.document.get("effects")
    if isinstance(corrected, list):
        return {effect: "its config.json says so" for effect in EFFECTS if effect in corrected}
    found = dict(reversed([*_declared(tool), *_guessed(_Words(tool), tool)]))
    if _is_shut_in(tool, held=held):
        found.pop("sends_out", None)
    return {effect: found[effect] for effect in EFFECTS if effect in found}


def _is_shut_in(tool: Tool, *, held: bool) -> bool:
    """Say whether it is proved that the tool reaches nobody."""
    kind = find_type(tool.implementation.type) if tool.implementation else None
    who = kind.network if kind is not None else "own"
    return who == "none" or (
        held
        and who == "process"
        and all(tool.permissions.get(name) == [] for name in _granting("sends_out"))
    )


def _granting(effect: str) -> Iterator[str]:
    """Return the names of the permissions that have an effect where they are stated."""
    return (name for name, one in PERMISSIONS.items() if one.effect == effect)


def _declared(tool: Tool) -> Iterator[tuple[str, str]]:
    """Yield what the facts say, the best reason for each effect first."""
    hints = tool.annotations
    if tool.secrets:
        yield "reads_private", f"it has the secret {tool.secrets[0]}"
    for effect in ("reads_private", "sends_out"):
        yield from _permitted(tool, effect)
    runs = tool.implementation
    if runs is not None and (kind := find_type(runs.type)) is not None:
        yield from kind.effects(runs)
    if hints.get("openWorldHint") is True:
        yield "reads_untrusted", "openWorldHint is true"
        if hints.get("readOnlyHint") is False:
            yield "sends_out", "openWorldHint is true, and it does more than read"
    if hints.get("readOnlyHint") is False:
        yield "writes", "readOnlyHint is false"
        if hints.get("destructiveHint") is not False:
            yield "destructive", "destructiveHint is not false"
    else:
        yield from _permitted(tool, "writes")


def _permitted(tool: Tool, effect: str) -> Iterator[tuple[str, str]]:
    """Yield the effect where the tool's permissions have it, with the first value as the reason."""
    for name in _granting(effect):
        given: Any = tool.permissions.get(name)
        for value in given if isinstance(given, list) else ():
            if effect != "reads_private" or (isinstance(value, str) and _is_outside(value)):
                yield effect, PERMISSIONS[name].reason.format(value)
                break


class _Words:
    """The words of a tool's name and of its arguments' names; `verb` is the first that says what it
    does, "" where none does.
    """

    def __init__(self, tool: Tool) -> None:
        properties = tool.input_schema.get("properties")
        self.name = bm25.words(tool.name)
        self.verb = next(
            (word for word in self.name if word in _VERBS),
            "send" if self.name[:1] in (["email"], ["mail"], ["message"]) else "",
        )
        self._arguments = (
            [name for name in properties if isinstance(name, str)]
            if isinstance(properties, dict)
            else []
        )

    def argument(self, among: frozenset[str]) -> str | None:
        """Return the first argument that has one of these words as its last."""
        return next(
            (name for name in self._arguments if among.intersection(bm25.words(name)[-1:])), None
        )


def _guessed(words: _Words, tool: Tool) -> Iterator[tuple[str, str]]:
    """Yield what the words say of a tool that does not say it itself; `openWorldHint: false` says
    that it reaches nobody.
    """
    hints, closed = tool.annotations, tool.annotations.get("openWorldHint") is False
    reads = hints.get("readOnlyHint") is True or (
        words.verb in _READ and hints.get("readOnlyHint") is None
    )
    private = next((word for word in words.name if word in _PRIVATE), "")
    if reads and private and not closed and not _states(tool, "reads_private"):
        yield "reads_private", f"by its name it reads {private}"
    if hints.get("openWorldHint") is None and (reads or not words.verb):
        yield "reads_untrusted", "openWorldHint is not given"
    if not closed and not _states(tool, "sends_out") and (why := _outward(words, reads=reads)):
        yield "sends_out", why
    if not reads and hints.get("readOnlyHint") is None:
        yield "writes", "nothing says that it only reads"
        if hints.get("destructiveHint") is True or (
            hints.get("destructiveHint") is None and words.verb in _DESTROY
        ):
            yield (
                "destructive",
                "destructiveHint is true"
                if hints.get("destructiveHint")
                else f"by its name it does {words.verb}",
            )


def _outward(words: _Words, *, reads: bool) -> str:
    """Say by which word a tool gives something to others, or ""."""
    if where := words.argument(_WHERE):
        return f"its argument {where} says where to"
    if not reads and words.verb in _SEND:
        return f"by its name it does {words.verb}"
    whom = None if reads else words.argument(_TO)
    return f"its argument {whom} says to whom" if whom else ""


def _states(tool: Tool, effect: str) -> bool:
    """Whether the tool states a permission that has the effect, and be it that it needs none."""
    return any(name in tool.permissions for name in _granting(effect))


def _is_outside(path: str) -> bool:
    return (
        os.path.isabs(path)
        or path.startswith("~")
        or os.path.normpath(path).split(os.sep)[0] == ".."
    )
