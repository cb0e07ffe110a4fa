"""The `requestState` of the revision 2026-07-28: what a call was asked and answered so far. The
client keeps it and brings it back with the next answer.

A client can bring any state. One counts only if it was signed here for this client, this tool with
these files, and these arguments. It holds for ten minutes and once: its number is used up before
the call runs, by making a file, which only one process can do. So one answer is good for one call
even where several workers share nothing but the user's state directory.

What does not work: to remember states in the process. The next request may reach another one.
"""

import contextlib
import os
import stat
import threading
import time
from collections.abc import Mapping
from dataclasses import field
from typing import Final

from vespe.documents import strict_json
from vespe.errors import InvalidDocument, Refused, StorageError
from vespe.features.mcp.server.messages import INVALID_PARAMS, ProtocolError
from vespe.files import atomic, locations
from vespe.lazy import base64, binascii, hmac
from vespe.models import JsonObject
from vespe.records import dataclass

HOLDS_S: Final = 600.0
"""How long a person has for an answer."""
KEPT_S: Final = 2 * HOLDS_S
"""How long what else belongs to a state is kept."""
_USED_S: Final = 24 * 3600.0
"""How long it is known that a state was used: for a day, in case the clock is set back."""
_MOST_BYTES: Final = 3 * 1024 * 1024
_KEY_BYTES: Final = 32
_EACH: Final = 50
_PURPOSE: Final = b"vespe requestState 1\0"
_AGAIN: Final = "nothing was run; make the call again without requestState"
_HAPPENED: Final = (
    "nothing more was run. The earlier calls of the program have taken effect: check them before "
    "you run the program again"
)
_lock = threading.Lock()
_count = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestState:
    """What a call was asked and answered so far: `asked` is the digest of the approval that was
    asked for, `approved` says that it was given, and `answers` are the tool's own questions by
    their keys, each `{"digest", "action", "content"}`. Where a call of a program is asked about,
    `at` says which, and `program` is the digest of what was kept of the program.
    """

    asked: str = ""
    approved: bool = False
    answers: Mapping[str, JsonObject] = field(default_factory=dict)
    at: str = ""
    program: str = ""


def seal(state: RequestState, bound: JsonObject) -> str:
    """Return a state as a text for the client; `bound` is what it holds for, and no other. Raises
    StorageError.
    """
    payload = strict_json.compact_bytes(
        {
            "until": time.time() + HOLDS_S,
            "number": os.urandom(16).hex(),
            "asked": state.asked,
            "approved": state.approved,
            "answers": dict(state.answers),
            "at": state.at,
            "program": state.program,
        }
    )
    return f"{_text(payload)}.{_text(_signed(payload, bound))}"


def open_once(text: str, bound: JsonObject) -> RequestState:
    """Return what a text of `seal` says, once: the same text is refused from then on.

    Raises ProtocolError for a text that was not made for `bound`, or was changed, has expired, or
    was used; StorageError and Refused where that cannot be told.
    """
    payload, _, signature = text.partition(".")
    if len(text) > _MOST_BYTES:
        raise unusable("it is too long")
    data = _bytes(payload)
    if data is None or not hmac.compare_digest(_bytes(signature) or b"", _signed(data, bound)):
        raise unusable("it was changed, or made for another call, client or server")
    said = strict_json.parse_object(data)
    left = said["until"] - time.time()
    if not 0 < left <= HOLDS_S:
        why = f"it has expired: an answer may take {HOLDS_S / 60:.0f} minutes"
        raise unusable(why, program=bool(said["program"]))
    _spend(said["number"], program=bool(said["program"]))
    return RequestState(
        asked=said["asked"],
        approved=said["approved"] is True,
        answers=said["answers"],
        at=said["at"],
        program=said["program"],
    )


def unusable(why: str, *, program: bool = False) -> ProtocolError:
    """Return the error for a state that is not used, and why; one of a `program` that has begun is
    not followed by the advice to run it again.
    """
    then = _HAPPENED if program else _AGAIN
    return ProtocolError(INVALID_PARAMS, f"the requestState cannot be used: {why}; {then}")


def _spend(number: str, *, program: bool) -> None:
    place = os.path.join(directory(), "used")
    atomic.private_directory(place)
    if not atomic.create(os.path.join(place, number), b""):
        why = "it was already used, and an answer can be used for one call only"
        raise unusable(why, program=program)
    if _is_due():
        _sweep(place)


def _sweep(place: str) -> None:
    """Take away the numbers of states that expired long ago; never raises."""
    before = time.time() - _USED_S
    with contextlib.suppress(OSError):
        for entry in os.scandir(place):
            with contextlib.suppress(OSError):
                if entry.stat(follow_symlinks=False).st_mtime < before:
                    os.unlink(entry.path)


def _is_due() -> bool:
    global _count
    with _lock:
        _count += 1
        return (_count - 1) % _EACH == 0


def _signed(payload: bytes, bound: JsonObject) -> bytes:
    about = strict_json.compact_bytes({key: bound[key] for key in sorted(bound)})
    size = len(about).to_bytes(8, "big")
    return hmac.digest(_key(), _PURPOSE + size + about + payload, "sha256")


def _key() -> bytes:
    """Return the key that states are signed with, made where there is none; raises Refused for one
    that others can read, StorageError.
    """
    path = os.path.join(directory(), "key")
    for _ in range(2):
        try:
            status = os.stat(path, follow_symlinks=False)
        except FileNotFoundError:
            atomic.private_directory(directory())
            atomic.create(path, os.urandom(_KEY_BYTES))
            continue
        except OSError as error:
            raise StorageError("read", path, error) from error
        if stat.S_IMODE(status.st_mode) & 0o077 or status.st_uid != os.geteuid():
            raise Refused(
                f"other users could read or create {path}, the key for signing answers",
                hint=f"remove it; a new one is made: rm {path}",
            )
        with contextlib.suppress(InvalidDocument):
            if len(key := atomic.read_bytes(path, limit=_KEY_BYTES)) == _KEY_BYTES:
                return key
        raise Refused(
            f"{path} does not contain the key for signing answers",
            hint=f"remove it; a new one is made: rm {path}",
        )
    raise Refused(
        f"{path} could not be made", hint="check whether the disk of the state directory is full"
    )


def directory() -> str:
    """Return the directory of the key, and of what belongs to states."""
    return os.path.join(locations.user_state_dir(), "mcp", "asking")


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def _bytes(text: str) -> bytes | None:
    """Return what a text of `_text` was made of; None for any other spelling of it."""
    try:
        data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        return None
    return data if _text(data) == text else None
