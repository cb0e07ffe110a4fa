"""What an import comes to, whatever it was made from: tools, those that could not be made, and what
is worth a word.
"""

import fnmatch
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias, TypeVar

from vespe.documents import strict_json
from vespe.documents.unseen import is_seen
from vespe.files.trees import TreeFile
from vespe.models import JsonObject

T = TypeVar("T")
Fetch: TypeAlias = Callable[[str], bytes]
"""Returns what is at an http:// or https:// address; raises VespeError. None stands for "nothing is
fetched".
"""
_OUTSIDE: Final = re.compile(r"[^A-Za-z0-9_-]+")
_MAX_NAME: Final = 64
_MAX_TEXT: Final = 20_000
_MAX_DESCRIPTION: Final = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The part that is taken: tags and globs of paths of which one must fit each, at most so many;
    `server` replaces the document's.
    """

    tags: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    most: int | None = None
    server: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """Something of the source that became no tool, and why."""

    what: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """One tool: config.json but for uid and kit, its other files, where it comes from, and what of
    that could not be said.
    """

    document: JsonObject
    source: str
    files: Mapping[str, TreeFile] = field(default_factory=dict)
    long_text: str = ""
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The tool's name."""
        return str(self.document["name"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """A kit in the making; `title`, `description` and `version` are the source's own. `notes` are
    about all of it.
    """

    kind: str
    title: str
    description: str
    version: str
    tools: tuple[Made, ...]
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    unselected: int = 0


def slug(text: str, *, fallback: str = "tool") -> str:
    """Return a text as a tool's name: letters, digits, `_` and `-`, 64 at most; what is cut ends in
    a digest of the whole.
    """
    made = _OUTSIDE.sub("_", text).strip("_") or fallback
    made = made if made[0].isalpha() or made[0] == "_" else f"_{made}"
    return (
        made
        if len(made) <= _MAX_NAME
        else f"{made[: _MAX_NAME - 9].rstrip('_-')}_{digest(text)[:8]}"
    )


def digest(text: str) -> str:
    """Return the SHA-256 of a text, in hex."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def uid_of(kit_id: str, name: str) -> str:
    """Return the uid of a kit's tool: it says both names as far as they fit, and a digest of them
    whole.
    """
    words = re.sub(r"[^a-z0-9]+", "-", f"{kit_id}-{name}".lower()).strip("-")[:40].strip("-")
    return f"tool-{words}-{digest(f'{kit_id}/{name}')[:10]}"


def plain(text: object) -> str:
    """Return a text of a stranger's without what nobody can see in it; `${env:` begins no secret
    there.
    """
    if not isinstance(text, str):
        return ""
    text = text[:_MAX_TEXT]
    if text.isascii() and text.isprintable() and "${env:" not in text:
        return text.strip()
    seen = "".join(
        character if character in "\n\t" or is_seen(character) else " "
        for character in text.replace("\r\n", "\n")
    )
    return strict_json.repair_surrogates(seen).replace("${env:", "$ {env:").strip()


def short(text: str, *, most: int = _MAX_DESCRIPTION) -> str:
    """Return a text that fits into a definition: whole, or to the end of its last sentence that
    fits.
    """
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    end = max(cut.rfind(". "), cut.rfind(".\n"), cut.rfind("\n\n"))
    return cut[: end + 1].strip() if end > most // 2 else f"{cut.strip()}…"


def selected(
    every: Sequence[T],
    selection: Selection,
    *,
    tags: Callable[[T], object],
    path: Callable[[T], str],
) -> list[T]:
    """Return what a selection wants of a source's parts, by their tags and by what `path` says of
    them.
    """
    wanted = {tag.lower() for tag in selection.tags}

    def fits(one: T) -> bool:
        listed = tags(one)
        own = {str(tag).lower() for tag in listed} if isinstance(listed, (list, tuple)) else set()
        if wanted and not own & wanted:
            return False
        return not selection.paths or any(
            fnmatch.fnmatchcase(path(one), glob) for glob in selection.paths
        )

    found = [one for one in every if fits(one)]
    return found if selection.most is None else found[: selection.most]
