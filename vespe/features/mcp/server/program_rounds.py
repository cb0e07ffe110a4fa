"""Programs whose calls are asked about in 2026-07-28: the client is given the question as the
result of `run_code`, and makes that call anew with the answer.

The program then runs again from its start, and each call that it had made has the outcome that was
kept, so that no effect is made twice. The outcomes are a file in the state directory, which the
client's state names by its digest. A state is good once, and so is what it names, which is removed
once it is read: a round that is cut short cannot be tried again.

What does not work: to give the outcomes to the client with the state. They may be megabytes, and
they are for the program, which often returns a small part of them.
"""

import contextlib
import os
import time
from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

from vespe import features
from vespe.calls.asking import CallSuspended
from vespe.calls.log import arguments_digest
from vespe.documents import strict_json
from vespe.errors import InvalidDocument, Refused, StorageError
from vespe.features.mcp.server import request_state
from vespe.features.mcp.server.call_client import ProgramCallClient, RoundCallClient
from vespe.files import atomic
from vespe.files.digests import sha256
from vespe.models import Failure, JsonObject, Outcome
from vespe.records import dataclass

if TYPE_CHECKING:
    from vespe.features.programs.running import Fixed, InnerCall

MOST_BYTES: Final = 64 * 1024 * 1024
"""How much may be kept of one program between two rounds."""
_OUTCOME: Final = ("tool", "uid", "result", "notes", "truncated", "logs")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramRounds:
    """One program over the rounds of its call: `calls` are those that have an outcome, by their
    numbers, and `again` says that it has run before.
    """

    by: RoundCallClient
    call_id: str
    fixed: "Fixed"
    again: bool = False
    calls: dict[int, JsonObject] = field(default_factory=dict)

    @classmethod
    def of(cls, by: RoundCallClient) -> "ProgramRounds":
        """Return the rounds that a client's call goes on with, or begins. Raises ProtocolError
        where what was kept is not there as it was.
        """
        fixed = features.load("programs", "running").Fixed
        _sweep(_directory())
        if not by.program:
            made = features.load("programs", "own_calls").new_id()
            return cls(by=by, call_id=made, fixed=fixed.now())
        kept = _read(by.program)
        calls = {int(number): entry for number, entry in kept["calls"].items()}
        seen = fixed(began=kept["began"], seed=kept["seed"])
        return cls(by=by, call_id=kept["id"], fixed=seen, again=True, calls=calls)

    @property
    def goes_on(self) -> dict[str, Any]:
        """What a `ProgramOrder` is told of the rounds before."""
        return {"fixed": self.fixed, "skips_sleeps": self.again, "made": len(self.calls)}

    def client_of(self, call: "InnerCall") -> ProgramCallClient:
        """Return whose user is asked about one call of the program."""
        return ProgramCallClient(self.by, call.number)

    def noted(self, call: "InnerCall") -> Outcome | None:
        """Return what became of a call in an earlier round, None of one that was not made; raises
        ProgramStopped where the program calls something else now.
        """
        entry = self.calls.get(call.number)
        if entry is None:
            return None
        if entry["tool"] != call.tool.name or entry["digest"] != arguments_digest(call.arguments):
            message = (
                f"the program makes another call than before: {call.call_id} was of "
                f"{entry['tool']!r}, and now is of {call.tool.name!r}, or has other arguments"
            )
            stopped: Exception = features.load("programs", "running").ProgramStopped(
                Failure(code="diverged", message=message, details={"call": call.call_id})
            )
            raise stopped
        return _outcome(entry["outcome"])

    def note(self, call: "InnerCall", outcome: Outcome) -> None:
        """Keep what became of a call for the rounds that follow."""
        self.calls[call.number] = {
            "tool": call.tool.name,
            "digest": arguments_digest(call.arguments),
            "outcome": outcome.to_dict(),
        }

    def suspend(self, client: ProgramCallClient, suspended: CallSuspended) -> None:
        """End the round with the question that a call waits for; raises `suspended`, Refused where
        more was called than can be kept, StorageError.
        """
        kept: JsonObject = {
            "id": self.call_id,
            "began": self.fixed.began,
            "seed": self.fixed.seed,
            "calls": {str(number): entry for number, entry in self.calls.items()},
        }
        self.by.wait_for(client, program=_keep(kept))
        raise suspended


def _keep(document: JsonObject) -> str:
    """Write what is known of a program, and return its digest."""
    data = strict_json.compact_bytes(document)
    if len(data) > MOST_BYTES:
        raise Refused(
            f"the results of the program's calls have {len(data):,} bytes, and at most "
            f"{MOST_BYTES:,} can be kept while its user is asked",
            hint="let the program ask before it reads so much, or split it",
        )
    place, digest = _directory(), sha256(data).hexdigest()
    atomic.private_directory(place)
    # Not `create`: a question that is asked once more may leave the same behind as before, and its
    # file would be as old as the first one.
    atomic.write_atomic(os.path.join(place, digest), data, mode=0o600, durable=False)
    return digest


def _read(digest: str) -> JsonObject:
    path = os.path.join(_directory(), digest)
    try:
        data = atomic.read_bytes(path, limit=MOST_BYTES)
        with contextlib.suppress(OSError):
            os.unlink(path)
    except (StorageError, InvalidDocument):
        raise request_state.unusable(
            "the saved state of the program no longer exists", program=True
        ) from None
    if sha256(data).hexdigest() != digest:
        raise request_state.unusable("the saved state of the program was changed", program=True)
    return strict_json.parse_object(data)


def _outcome(document: Mapping[str, Any]) -> Outcome:
    error = document.get("error")
    kept: dict[str, Any] = {key: document[key] for key in _OUTCOME if key in document}
    kept["notes"] = tuple(kept.get("notes", ()))
    return Outcome(**kept, error=Failure(**error) if isinstance(error, dict) else None)


def _directory() -> str:
    return os.path.join(request_state.directory(), "programs")


def _sweep(place: str) -> None:
    """Take away what belongs to states that expired long ago; never raises."""
    before = time.time() - request_state.KEPT_S
    with contextlib.suppress(OSError):
        for entry in os.scandir(place):
            with contextlib.suppress(OSError):
                if entry.stat(follow_symlinks=False).st_mtime < before:
                    os.unlink(entry.path)
