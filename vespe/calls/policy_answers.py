"""A person's answers on calls that hold for a project: private files in the user state directory,
one for each project.
"""

import contextlib
import os
from collections.abc import Callable
from dataclasses import field
from typing import Final

from vespe import defaults
from vespe.documents import fields, strict_json
from vespe.errors import InvalidDocument, StorageError
from vespe.files import atomic, identity, locations, walk
from vespe.files.digests import TextDigest
from vespe.models import JsonObject, Tool
from vespe.records import dataclass

VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptAnswer:
    """One answer: `allowed` or denied, for the tool `tool` (`scope/name`) with the bytes `digest`,
    asked because of `rule`.

    `rule` is the key of the rule that asked, or "" where none did. A denial holds whatever becomes
    of the tool and the rule. `unknown` is what its file says of it that Vespe does not know.
    """

    tool: str
    allowed: bool
    digest: str = ""
    rule: str = ""
    unknown: JsonObject = field(default_factory=dict, compare=False)


def subject(tool: Tool) -> str:
    """Return what an answer is about: `scope/name`."""
    return f"{tool.scope or defaults.PROJECT_TOOLS}/{tool.name}"


def digest_of(tool: Tool) -> str:
    """Return the digest that an answer is bound to: of the tool's directory, else of its
    definition; "" where nobody can vouch for it.
    """
    if tool.directory is not None:
        return (
            walk.scan(os.path.dirname(tool.directory), os.path.basename(tool.directory)).digest
            or ""
        )
    digest = TextDigest()
    definition = {
        "name": tool.name,
        "description": tool.description,
        "schema": tool.input_schema,
        "annotations": tool.annotations,
    }
    digest.update(strict_json.compact_json(definition).encode("utf-8"))
    return digest.hexdigest()


def load(root: str) -> tuple[KeptAnswer, ...]:
    """Return the answers kept for the project at `root`; what is damaged, or not private to this
    user, is none. Raises StorageError.
    """
    found = _file(root)
    if found is None or not _private(found[0]):
        return ()
    path, bound = found
    with contextlib.suppress(InvalidDocument, KeyError, TypeError):
        document = strict_json.read_object(path)
        if document["version"] == VERSION and document["bound"] == bound:
            return tuple(map(_answer, document["answers"]))
    return ()


_FIELDS: Final = ("tool", "allowed", "digest", "rule")


def _answer(said: JsonObject) -> KeptAnswer:
    known = {key: said[key] for key in _FIELDS if key in said}
    return KeptAnswer(**known, unknown=fields.others(said, _FIELDS))


def keep(root: str, answer: KeptAnswer) -> None:
    """Keep one more answer, for good; raises StorageError."""
    _change(root, lambda kept: (*(one for one in kept if one != answer), answer))


def forget(root: str, tool: str | None = None) -> tuple[KeptAnswer, ...]:
    """Take back the answers on a tool (its name or `scope/name`), or all of a project's; gives
    them. Raises StorageError.
    """
    gone = tuple(
        one for one in load(root) if tool is None or tool in (one.tool, one.tool.rpartition("/")[2])
    )
    if gone:
        _change(root, lambda kept: tuple(one for one in kept if one not in gone))
    return gone


def directory() -> str:
    """Return the directory of the answers; it may not exist."""
    return os.path.join(locations.user_state_dir(), "answers")


def _change(root: str, change: Callable[[tuple[KeptAnswer, ...]], tuple[KeptAnswer, ...]]) -> None:
    found = _file(root)
    if found is None:
        raise InvalidDocument("is not a project, so no answer can be saved for it", path=root)
    path, bound = found
    where = directory()
    atomic.private_directory(where)
    with atomic.locked(where):
        answers = change(load(root))
        document: JsonObject = {
            "version": VERSION,
            "bound": bound,
            "answers": [
                {**{key: getattr(one, key) for key in _FIELDS}, **one.unknown} for one in answers
            ],
        }
        document |= _unknown(path)
        atomic.write_atomic(path, strict_json.dump_json(document), mode=0o600)


def _unknown(path: str) -> JsonObject:
    """Return what a file of answers says that Vespe does not know; nothing of one that is damaged
    or not private.
    """
    if not _private(path):
        return {}
    try:
        return fields.others(strict_json.read_object(path), ("version", "bound", "answers"))
    except InvalidDocument:
        return {}


def _file(root: str) -> tuple[str, str] | None:
    """Return the file of a project's answers, and what it must say that it is about; None where
    there is no project.
    """
    place = identity.place_of(os.path.realpath(root), defaults.PROJECT_DIR)
    if place is None:
        return None
    return os.path.join(directory(), f"{place.name}.json"), "" if place.strong else place.path


def _private(path: str) -> bool:
    try:
        status = os.stat(path, follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise StorageError("read", path, error) from error
    return not status.st_mode & 0o077 and status.st_uid == os.geteuid()
