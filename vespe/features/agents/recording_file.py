"""Recordings of conversations with models: each request, its answer as it came, and what became of
the calls; in one JSON file.
"""

import binascii
import itertools
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from vespe.documents import fields, strict_json
from vespe.documents.pointers import escape_pointer
from vespe.documents.redaction import MASK
from vespe.errors import InvalidDocument
from vespe.files import atomic
from vespe.models import Failure, JsonObject, JsonValue, Outcome
from vespe.records import dataclass

VERSION: Final = 1
"""The version of the format; a file of another is refused."""
MAX_BYTES: Final = 256 * 1024 * 1024
_SHOWN: Final = 80
_ANSWER: Final = {
    "body": (str,),
    "body_base64": (str,),
    "status": (int,),
    "content_type": (str,),
    "framed": (bool,),
    "error": (dict, type(None)),
}
_ERROR: Final = {
    "message": (str,),
    "status": (int,),
    "vendor_code": (str,),
    "request_id": (str,),
    "transient": (bool,),
}
_MAYBE: Final = (str, type(None))
_OUTCOME: Final = {
    "tool": _MAYBE,
    "uid": _MAYBE,
    "truncated": (bool,),
    "logs": (str,),
    "notes": (list,),
    "error": (dict, type(None)),
}
_FAILURE: Final = {
    "code": (str,),
    "message": (str,),
    "retryable": (bool,),
    "details": (dict,),
    "hint": (str,),
}


class Recording:
    """A recording that grows: written whole after each turn and each outcome, so that a crash keeps
    what there was.

    `keep` are the fields beside OpenAI's own that the requests hold. Safe to share between threads.
    Raises StorageError, when it is made too, where `path` cannot be written.
    """

    def __init__(
        self, path: str, *, provider: str, api: str, model: str, keep: Sequence[str] = ()
    ) -> None:
        self._path, self._lock = path, threading.Lock()
        self._before: JsonObject = {}
        about: JsonObject = {
            "version": VERSION,
            "provider": provider,
            "api": api,
            "model": model,
        } | ({"keep": list(keep)} if keep else {})
        about["bounds_results"] = True
        self.document: JsonObject = about | {"turns": [], "outcomes": []}
        self._save()

    def add_turn(self, request: JsonObject, answer: JsonObject) -> None:
        """Add a request and its answer; the messages and keys that the request shares with the one
        before are not written again.
        """
        with self._lock:
            before, said = self._before, _said(request)
            messages = request[said]
            known = sum(
                1 for _ in itertools.takewhile(bool, map(_is_same, before.get(said, ()), messages))
            )
            same = [
                key
                for key in request
                if key != said and key in before and _is_same(before[key], request[key])
            ]
            new = {key: value for key, value in request.items() if key not in same} | {
                said: messages[known:]
            }
            self.document["turns"].append(
                {"same_messages": known, "same": same, "request": new, "answer": answer}
            )
            self._before = request
            self._save()

    def add_outcome(
        self, call_id: str, outcome: Outcome, *, made: JsonObject | None = None
    ) -> None:
        """Add what became of a call; `made` is the `name` and `arguments` of one that a program
        made, which stand in no answer.
        """
        with self._lock:
            told = {
                key: value
                for key, value in outcome.to_dict().items()
                if key not in ("duration_ms", "output_file")
            }
            item: JsonObject = {"call_id": call_id, "outcome": told}
            self.document["outcomes"].append(item | ({"call": made} if made else {}))
            self._save()

    def end(self, stop_reason: str) -> None:
        """Say why the conversation ended."""
        with self._lock:
            self.document["stop_reason"] = stop_reason
            self._save()

    def _save(self) -> None:
        atomic.write_atomic(self._path, strict_json.dump_json(self.document), mode=0o600)


def read_recording(path: str) -> JsonObject:
    """Read a recording, each request whole again; raises InvalidDocument with the pointer, and
    StorageError.
    """
    document = strict_json.read_object(path, limit=MAX_BYTES)
    fields.refuse_newer({"version": document.get("version", "none")}, path=path)
    for key, kind in (
        ("provider", str),
        ("api", str),
        ("model", str),
        ("turns", list),
        ("outcomes", list),
    ):
        if not isinstance(document.get(key), kind):
            raise InvalidDocument("is not a recording made by Vespe", path=path, pointer=f"/{key}")
    if not (
        isinstance(keep := document.setdefault("keep", []), list)
        and all(isinstance(name, str) for name in keep)
    ):
        raise InvalidDocument("is not a recording made by Vespe", path=path, pointer="/keep")
    before: JsonObject = {}
    for index, turn in enumerate(document["turns"]):
        if not _is_turn(turn, before):
            raise InvalidDocument(
                "is not a turn of a recording", path=path, pointer=f"/turns/{index}"
            )
        said = _said(turn["request"])
        messages = before.get(said, [])[: turn["same_messages"]] + turn["request"][said]
        before = turn["request"] = (
            {key: before[key] for key in turn["same"]} | turn["request"] | {said: messages}
        )
    for index, item in enumerate(document["outcomes"]):
        if (
            not isinstance(item, dict)
            or not isinstance(item.get("call_id"), str)
            or not _is_outcome(item.get("outcome"))
        ):
            raise InvalidDocument(
                "is not an outcome of a call", path=path, pointer=f"/outcomes/{index}"
            )
    return document


def body_as_json(body: bytes) -> JsonObject:
    """Return a body as a recording holds it: its text, or base64 of what is no UTF-8."""
    try:
        return {"body": body.decode("utf-8")}
    except UnicodeDecodeError:
        return {"body_base64": binascii.b2a_base64(body, newline=False).decode("ascii")}


def body_of(answer: JsonObject) -> bytes:
    """Return the body that `body_as_json` wrote; nothing for an answer that never came. Raises
    InvalidDocument.
    """
    if isinstance(answer.get("body_base64"), str):
        try:
            return binascii.a2b_base64(answer["body_base64"], strict_mode=True)
        except binascii.Error as error:
            raise InvalidDocument(
                f"an answer's body_base64 is not base64: {error}", path="the recording"
            ) from None
    return str(answer.get("body", "")).encode("utf-8")


def outcome_of(document: JsonObject) -> Outcome:
    """Return the Outcome of its JSON shape."""
    error = document.get("error")
    kept: dict[str, Any] = {
        key: document[key] for key in ("result", "truncated", "logs") if key in document
    }
    failure = Failure(**error) if isinstance(error, dict) else None
    return Outcome(
        tool=document.get("tool"),
        uid=document.get("uid"),
        error=failure,
        notes=tuple(document.get("notes", ())),
        **kept,
    )


_NOTHING: Final = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One place where two values differ: its pointer, and what is there on each side, None where
    nothing is.
    """

    pointer: str
    recorded: JsonValue
    now: JsonValue
    was_there: bool = True
    is_there: bool = True

    def __str__(self) -> str:
        if not self.was_there:
            return f"{_shown(self.now)} is new"
        return f"{_shown(self.recorded)} was recorded, and now " + (
            f"it is {_shown(self.now)}" if self.is_there else "there is nothing"
        )


def first_difference(
    recorded: JsonValue, given: JsonValue, *, masked: bool = False
) -> tuple[str, str] | None:
    """Return the pointer of the first place where two values differ and a sentence about it, None
    where they are the same.

    With `masked`, `***` in a recorded text stands for any text: a key stood there, which was not
    recorded.
    """
    found = next(differences(recorded, given, masked=masked), None)
    return None if found is None else (found.pointer, str(found))


def differences(
    recorded: JsonValue, given: JsonValue, pointer: str = "", *, masked: bool = False
) -> Iterator[Difference]:
    """Yield every place where two values differ, in order; see `first_difference`."""
    if isinstance(recorded, dict) and isinstance(given, dict):
        steps: Iterable[Any] = dict.fromkeys([*recorded, *given])
        pairs = [(step, recorded.get(step, _NOTHING), given.get(step, _NOTHING)) for step in steps]
    elif isinstance(recorded, list) and isinstance(given, list):
        pairs = [
            (step, *pair)
            for step, pair in enumerate(itertools.zip_longest(recorded, given, fillvalue=_NOTHING))
        ]
    else:
        same = recorded == given and isinstance(recorded, bool) == isinstance(given, bool)
        if not same and not (masked and _fits(recorded, given)):
            yield Difference(pointer=pointer, recorded=recorded, now=given)
        return
    for step, was, now in pairs:
        here = f"{pointer}/{escape_pointer(str(step))}"
        if was is _NOTHING:
            yield Difference(pointer=here, recorded=None, now=now, was_there=False)
        elif now is _NOTHING:
            yield Difference(pointer=here, recorded=was, now=None, is_there=False)
        else:
            yield from differences(was, now, here, masked=masked)


def _has(given: JsonObject, kinds: Mapping[str, tuple[type, ...]]) -> bool:
    """Whether the keys that Vespe reads have values that it wrote: True is no number."""
    return all(type(given[key]) in wanted for key, wanted in kinds.items() if key in given)


def _is_outcome(outcome: JsonValue) -> bool:
    if (
        not isinstance(outcome, dict)
        or not _has(outcome, _OUTCOME)
        or not all(isinstance(note, str) for note in outcome.get("notes", ()))
    ):
        return False
    error = outcome.get("error")
    return error is None or (
        {"code", "message"} <= error.keys() <= _FAILURE.keys() and _has(error, _FAILURE)
    )


def _is_turn(turn: JsonValue, before: JsonObject) -> bool:
    if (
        not isinstance(turn, dict)
        or not isinstance(turn.get("request"), dict)
        or not isinstance(turn.get("answer"), dict)
    ):
        return False
    if not _has(turn["answer"], _ANSWER) or not _has(turn["answer"].get("error") or {}, _ERROR):
        return False
    known, same = turn.get("same_messages"), turn.get("same")
    said = _said(turn["request"])
    if (
        not isinstance(known, int)
        or not 0 <= known <= len(before.get(said, ()))
        or not isinstance(same, list)
    ):
        return False
    return isinstance(turn["request"].get(said), list) and all(
        isinstance(key, str) and key in before for key in same
    )


def _said(request: JsonObject) -> str:
    """The key of a request under which the conversation stands."""
    return "messages" if "messages" in request or "input" not in request else "input"


def _fits(recorded: JsonValue, given: JsonValue) -> bool:
    if not (isinstance(recorded, str) and isinstance(given, str) and MASK in recorded):
        return False
    first, *between, last = recorded.split(MASK)
    at = len(first)
    for part in between:
        found = given.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return given.startswith(first) and given.endswith(last) and at + len(last) <= len(given)


def _is_same(one: JsonValue, other: JsonValue) -> bool:
    """Whether two values have the same JSON: True is not 1."""
    return first_difference(one, other) is None


def _shown(value: JsonValue) -> str:
    text = strict_json.compact_json(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
