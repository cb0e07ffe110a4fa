"""What a model has read in a conversation: whether strangers may have written any of it, and where
the values of its calls come from.
"""

import contextlib
import threading
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Final

from vespe.lazy import pattern
from vespe.models import JsonObject, JsonValue, Tool
from vespe.schemas.explain import shorten
from vespe.tools.effects import effects_of

_YOU: Final = ""
"""The origin of what the user said."""
_WAITING: Final = 64
"""Results that are kept as they are before digests are made of them: most are never asked about."""
_MOST_TEXT: Final = 1 << 16
"""Characters of one result, or of those that wait, of which digests are made."""
_MOST_DIGESTS: Final = 100_000
_MOST_NAME: Final = 64
_MOST_WORD: Final = 1024
"""Characters without a space: more are the bytes of an image or a file."""
_WORD: Final = pattern(
    r"[^\s\"'<>()\[\]{},;/.:!?*`](?:[^\s\"'<>()\[\]{},;]*[^\s\"'<>()\[\]{},;/.:!?*`])?"
)
_SCHEME: Final = pattern(r"\b(?:https?://(?:www\.)?|mailto:|tel:)")
_NAMES: Final = pattern(r"[@/:.\d]")
"""What makes a word of a long text a name of something: an address, a URL, a number."""
_LONG: Final = 8
"""Words from which on a text is looked at for the names in it, and not as one value."""

_COPIED: Final[ContextVar[Mapping[str, str]]] = ContextVar("vespe_copied", default={})  # noqa: B039  # never changed


@contextlib.contextmanager
def copied(origins: Mapping[str, str]) -> Iterator[None]:
    """Let `origins` say, in questions that are asked in this block, where the arguments come from
    that the model passed on by a handle: nobody has to guess it from their words.
    """
    token = _COPIED.set(origins)
    try:
        yield
    finally:
        _COPIED.reset(token)


class Taint:
    """What a model has read: `by` is the first tool that gave it what strangers may have written,
    "" where none did, and it never falls again.

    Of what was read, digests are kept by the tool that it came from, so that a question about a
    call can say where its values come from; nothing is decided by that. They hold for this process.
    """

    def __init__(self) -> None:
        self.by = ""
        self.own_hosts: Collection[str] = ()
        """The hosts that the user calls their own, which are no strangers."""
        self._harmless: dict[str, Tool] = {}
        self._waiting: deque[tuple[str, JsonValue]] = deque()
        self._lock = threading.Lock()
        self._digests: dict[str, set[int]] = {}
        self._count, self._whole = 0, True

    def note(self, tool: Tool) -> None:
        """Record that a model gets a result of this tool."""
        # every call asks: its words are read once
        if self.by or self._harmless.get(tool.name) is tool:
            return
        if "reads_untrusted" in effects_of(tool, own_hosts=self.own_hosts):
            self.by = tool.name
        else:
            self._harmless[tool.name] = tool

    def heard(self, said: JsonValue, *, tool: str = _YOU) -> None:
        """Take note of a result of the tool of that name, or of what the user said."""
        self._waiting.append((tool, said))
        if len(self._waiting) > _WAITING:
            self._digest()

    def origins(self, inputs: JsonObject) -> dict[str, str]:
        """Say of each argument where its value comes from: `from you`, `from a result of
        read_inbox, not from your messages`, `copied from the result r1 of read_page, not from your
        messages`, or `written by the model`; nothing where nothing was heard, and of true, false
        and null.
        """
        self._digest()
        copies = {name: words for name, words in _COPIED.get().items() if name in inputs}
        if not self._digests:
            return copies
        told = {
            name: self._copied(value, copies[name]) if name in copies else self._origin(value)
            for name, value in inputs.items()
        }
        return {name: words for name, words in told.items() if words}

    def _copied(self, value: JsonValue, said: str) -> str:
        """Return what is said of a value that the model passed on by a handle, with `not from
        your messages` where the user named no part of it.
        """
        if (yours := self._digests.get(_YOU)) is None:
            return said
        leaves = [set(map(hash, _words(leaf))) for leaf in _leaves(value)]
        is_yours = any(leaf and leaf <= yours for leaf in leaves)
        return said if is_yours or not any(leaves) else f"{said}, not from your messages"

    def _origin(self, value: JsonValue) -> str:
        found: dict[str, None] = {}
        written = False
        for leaf in _leaves(value):
            tool, whole = self._origin_of(leaf)
            found |= dict.fromkeys(tool)
            written = written or not whole
        tools = [shorten(tool, _MOST_NAME) for tool in sorted(found) if tool != _YOU]
        yours = _YOU in found
        if not found:
            if not written:
                return ""
            return "written by the model" if self._whole else "origin unknown"
        said = " and ".join(
            [
                *([f"from a result of {_listed(tools)}"] if tools else []),
                *(["from you"] if yours else []),
            ]
        )
        if written:
            said = f"written by the model, with parts {said}"
        return (
            f"{said}, not from your messages"
            if tools and not yours and _YOU in self._digests
            else said
        )

    def _origin_of(self, leaf: str) -> tuple[list[str], bool]:
        """Return the origins of one value, and whether they are those of all of it."""
        words = _words(leaf)
        if not words:
            return [], True
        needed = set(map(hash, words))
        # what the user named is theirs, even where a document holds it too
        for origin in sorted(self._digests):
            if needed <= self._digests[origin]:
                return [origin], True
        if len(words) < _LONG:
            return [], False
        yours = self._digests.get(_YOU, set())
        named = {hash(word) for word in words if _NAMES.search(word)} - yours
        return [one for one, known in self._digests.items() if one != _YOU and named & known], False

    def _digest(self) -> None:
        """Make digests of what waits, and let go of it."""
        with self._lock:
            while self._waiting:
                self._keep(*self._waiting.popleft())

    def _keep(self, origin: str, said: JsonValue) -> None:
        known = self._digests.setdefault(origin, set())
        text = "\n".join(leaf for leaf in _leaves(said) if not _is_bytes(leaf))
        if len(text) > _MOST_TEXT or self._count > _MOST_DIGESTS:
            self._whole = False
            text = text[:_MOST_TEXT] if self._count <= _MOST_DIGESTS else ""
        before = len(known)
        known.update(map(hash, _words(text)))
        self._count += len(known) - before


def _listed(names: Sequence[str]) -> str:
    """Return names as a list in words: `a, b and c`."""
    return " and ".join([*([", ".join(names[:-1])] if names[1:] else []), names[-1]])


def _leaves(value: JsonValue) -> list[str]:
    """Return the texts and numbers in a value, as texts."""
    if isinstance(value, str):
        return [value]
    found: list[str] = []
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            found.append(one)
        elif isinstance(one, dict):
            waiting.extend(one.values())
        elif isinstance(one, (list, tuple)):
            waiting.extend(one)
        elif isinstance(one, float) and one.is_integer():
            found.append(str(int(one)))
        elif one is not None and not isinstance(one, bool):
            found.append(str(one))
    return found


def _is_bytes(leaf: str) -> bool:
    return len(leaf) > _MOST_WORD and " " not in leaf[:_MOST_WORD] and "\n" not in leaf[:_MOST_WORD]


def _words(text: str) -> list[str]:
    """Return the words of a text as they are compared: in small letters, without the scheme of a
    URL and what ends a sentence.
    """
    text = text.casefold()
    return _WORD.findall(_SCHEME.sub("", text) if ":" in text else text)
