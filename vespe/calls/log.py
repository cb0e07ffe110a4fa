"""What ran, as private JSON lines for each project in the user state directory, and the whole of
what was cut.
"""

import contextlib
import errno
import functools
import json
import os
import time
from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, Final

from vespe import defaults
from vespe.calls.secrets import redact
from vespe.documents import strict_json
from vespe.documents.strict_json import text_encoder
from vespe.errors import InvalidDocument, StorageError
from vespe.files import atomic, identity, locations
from vespe.files.digests import sha256
from vespe.files.log_file import OLD, LogFile
from vespe.lazy import pattern
from vespe.models import JsonObject, JsonValue, Outcome, Tool

if TYPE_CHECKING:
    from vespe.calls.log_stats import CallTotals
    from vespe.files.watch import Watch

MAX_LOG_BYTES: Final = 4 * 1024 * 1024
"""A log that has grown past this becomes the old one, of which there is one."""
MAX_LINE_BYTES: Final = 1024 * 1024
"""A line that would be longer goes without its arguments, and says so."""
MAX_OUTPUTS: Final = 50
_MAX_SAID: Final = 1000
_MAX_ERROR: Final = 500
_CANONICAL: Final = text_encoder(
    json.JSONEncoder(sort_keys=True, separators=(",", ":"), default=repr)
)
_PLACES: Final = "places"
"""A directory beside the logs, with a file for each project that names its logs."""
_LOG = pattern(r"[0-9a-f]{64}\.jsonl")
_OUTPUT = pattern(r"[0-9a-f]{16}-[0-9a-f]{16}\.out\b")
"""Also what a killed process left of one."""


class CallLog:
    """The log of one project. It is opened for each line, unless `kept` leaves it open between
    them, for a process that lives.

    `keep_arguments` writes the arguments and not only their digest. `purpose` says why calls are
    made, where nobody asked for each (`test`, `fuzz`). `watch` tells a kept one when its file is
    taken away. One may serve several threads; `close` ends a kept one.
    """

    def __init__(
        self,
        project_root: str,
        *,
        keep_arguments: bool = False,
        kept: bool = False,
        purpose: str = "",
        watch: "Watch | None" = None,
    ) -> None:
        self._root, self._purpose = project_root, purpose
        self.keeps_arguments = keep_arguments
        self._said: dict[int, tuple[Tool, str]] = {}
        path = _path(project_root)
        self._file = LogFile(
            path,
            limit=MAX_LOG_BYTES,
            kept=kept,
            watch=watch,
            losing=functools.partial(_keep_counts, path),
        )
        self._place: str | None = None

    def append(
        self,
        tool: Tool,
        arguments: JsonValue,
        *,
        outcome: Outcome,
        secrets: Collection[str] = (),
        program: tuple[str, ...] = (),
    ) -> str | None:
        """Add one line about a call; never raises: what could not be written is lost, and the
        answer is a sentence that says so.

        The line has `time` (ISO 8601, UTC, ms), `project`, `place` (which directory it is, wherever
        it is moved, where the file system tells), `tool`, `uid`, `scope`,
        `arguments_digest` (SHA-256 of the arguments as canonical JSON, or of a text that is not
        JSON), `outcome` (`ok` or the error's code), `duration_ms`, `truncated`, `error` (the first
        500 characters of its message), `notes` and `purpose` where there are any, and `arguments`
        where they are kept; the values `secrets` are redacted in all of them. `program` is the id
        of a program over tools, as `call`, or of a call that one makes, as `call` and `parent`. One
        write a line: writers do not mix.
        """
        try:
            line = self._line(tool, arguments, outcome)
            if program:
                line += _of_program(program)
            if outcome.error or outcome.notes or outcome.sandbox or self.keeps_arguments:
                line = self._more(line, arguments, outcome, secrets)
            self._file.append((line + "}").encode())
        except (OSError, StorageError, ValueError, TypeError, RecursionError) as error:
            return f"the call could not be logged: {error}"
        return None

    def _more(
        self, line: str, arguments: JsonValue, outcome: Outcome, secrets: Collection[str]
    ) -> str:
        line += _held(outcome)
        whole = (
            line
            + (_failure(outcome, secrets) if outcome.error else "")
            + (_noted(outcome, secrets) if outcome.notes else "")
        )
        whole += _kept(arguments, secrets) if self.keeps_arguments else ""
        is_long = len(whole) > MAX_LINE_BYTES // 4 and len(whole.encode()) >= MAX_LINE_BYTES
        return line + ',"arguments_cut":true' if is_long else whole

    def _line(self, tool: Tool, arguments: JsonValue, outcome: Outcome) -> str:
        """Return a line without its end; what is the same for each call of a tool is written
        once.
        """
        said = self._said.get(id(tool))
        if said is None or said[0] is not tool:  # an id may come again
            known: JsonObject = {"project": self._root}
            if self._place is None:
                self._place = _marked(self._root)
            known |= {"place": self._place} if self._place else {}
            known |= {"tool": tool.name, "uid": tool.uid, "scope": tool.scope}
            known |= {"purpose": self._purpose} if self._purpose else {}
            if len(self._said) >= _MAX_SAID:
                self._said.clear()
            said = self._said[id(tool)] = tool, strict_json.compact_json(known)[1:-1]
        code = outcome.error.code if outcome.error else "ok"
        truncated = "true" if outcome.truncated else "false"
        return (
            f'{{"time":"{_said_time(time.time_ns() // 1_000_000)}",{said[1]},"outcome":"{code}",'
            f'"duration_ms":{outcome.duration_ms:.3f},"truncated":{truncated},"arguments_digest":"{arguments_digest(arguments)}"'
        )

    def close(self) -> None:
        """Close the file, where it is open."""
        self._file.close()


def _of_program(ids: tuple[str, ...]) -> str:
    named = dict(zip(("call", "parent"), ids, strict=False))
    return f",{strict_json.compact_json(named)[1:-1]}"


def _held(outcome: Outcome) -> str:
    """Return what a line says of the sandbox: its level, and what it refused while the tool went
    on.
    """
    if outcome.sandbox is None:
        return ""
    refused = [note for note in outcome.notes if note.startswith("the sandbox did not let it")]
    said = f',"sandbox":"{outcome.sandbox["level"]}"'
    return said + (f',"refused":{strict_json.compact_json(refused)}' if refused else "")


def append(
    project_root: str,
    *,
    tool: Tool,
    arguments: JsonValue,
    outcome: Outcome,
    keep_arguments: bool = False,
    secrets: Collection[str] = (),
) -> str | None:
    """Add one line about a call; see `CallLog.append`."""
    return CallLog(project_root, keep_arguments=keep_arguments).append(
        tool, arguments, outcome=outcome, secrets=secrets
    )


def _any(line: JsonObject) -> bool:
    return True


def read(
    project_root: str | None = None,
    *,
    limit: int = 100,
    wanted: Callable[[JsonObject], bool] = _any,
) -> list[JsonObject]:
    """Return the last `limit` lines that are `wanted` of a project's log, newest last; of all
    projects' without a root. What was logged before the project was moved is its, too.

    Each has an `id` of 8 hex digits. What is torn or not a JSON object is passed over. Raises
    StorageError where a log cannot be read.
    """
    own = None if project_root is None else _path(project_root)
    place = "" if project_root is None else _place_of(project_root)
    found: list[JsonObject] = []
    paths = _logs() if own is None else [*_earlier(place, own), own]
    for path in paths:

        def is_its(line: JsonObject, moved: bool = own not in (None, path)) -> bool:
            return wanted(line) and (not moved or line.get("place") == place)

        found += _last(path, limit, is_its)
    if len(paths) > 1:
        found.sort(key=lambda line: str(line.get("time", "")))
    return found[-limit:] if limit > 0 else []


def count_calls(project_root: str | None = None) -> "tuple[CallTotals, tuple[str, ...]]":
    """Return how often which tools of a project were called, also in what its log has lost since,
    and a sentence on each file of counts that cannot be read; of all projects without a root.

    Raises StorageError where a log cannot be read.
    """
    from vespe.calls import log_stats

    own = None if project_root is None else _path(project_root)
    place = "" if project_root is None else _place_of(project_root)
    totals, problems = log_stats.CallTotals(), list[str]()
    with contextlib.ExitStack() as stack:
        if os.path.isdir(_directory()):
            # A log that is rotated meanwhile would be counted twice, or not at all.
            with contextlib.suppress(StorageError):
                stack.enter_context(atomic.locked(_directory()))
        for path in _logs() if own is None else [*_earlier(place, own), own]:
            found, problem = log_stats.totals_of(path, None if own in (None, path) else place)
            totals.add(found)
            problems += [problem.message] if problem else []
    return totals, tuple(problems)


def _keep_counts(path: str) -> None:
    """Count what a log is about to lose; a call goes on where that cannot be kept."""
    from vespe.calls import log_stats

    with contextlib.suppress(OSError, StorageError, InvalidDocument):
        log_stats.keep_counts(path)


def keep_output(data: bytes) -> str:
    """Keep the whole of an output that was cut, in a private file of which the newest 50 stay;
    gives its path.

    Raises StorageError; the caller has the cut result all the same.
    """
    directory = os.path.join(locations.user_state_dir(), "outputs")
    atomic.private_directory(directory)
    path = os.path.join(directory, f"{time.time_ns():016x}-{os.urandom(8).hex()}.out")
    atomic.write_atomic(path, data, mode=0o600, durable=False)
    kept = sorted(name for name in os.listdir(directory) if _OUTPUT.match(name))
    for name in kept[:-MAX_OUTPUTS]:
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(directory, name))
    return path


def arguments_digest(arguments: JsonValue) -> str:
    """Return the SHA-256 (hex) of arguments as canonical JSON: sorted keys, no spaces; of a text
    that is not JSON, as it is.
    """
    if arguments.__class__ is not dict and isinstance(arguments, (str, bytes)):
        try:
            arguments = strict_json.parse_json(arguments)
        except InvalidDocument:
            raw = (
                arguments.encode("utf-8", "surrogatepass")
                if isinstance(arguments, str)
                else arguments
            )
            return sha256(raw).hexdigest()
    return sha256(_CANONICAL(arguments).encode()).hexdigest()


def _failure(outcome: Outcome, secrets: Collection[str]) -> str:
    # A message that is cut first may end in half a secret, which would stay.
    said = str(redact(outcome.error.message, secrets))[:_MAX_ERROR] if outcome.error else ""
    return f',"error":{strict_json.compact_json(said)}'


def shown_arguments(arguments: JsonValue | bytes, secrets: Collection[str]) -> str:
    """Return arguments as JSON, or as they are where they are no JSON, with `***` for each
    secret.
    """
    shown = arguments.decode("utf-8", "replace") if isinstance(arguments, bytes) else arguments
    return strict_json.compact_json(redact(shown, secrets))


def _noted(outcome: Outcome, secrets: Collection[str]) -> str:
    return f',"notes":{strict_json.compact_json(redact([*outcome.notes], secrets))}'


def _kept(arguments: JsonValue, secrets: Collection[str]) -> str:
    return f',"arguments":{shown_arguments(arguments, secrets)}'


@functools.lru_cache(maxsize=1)
def _said_time(milliseconds: int) -> str:
    return f"{_second(milliseconds // 1000)}.{milliseconds % 1000:03d}Z"


@functools.lru_cache(maxsize=1)
def _second(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))


def _directory() -> str:
    return os.path.join(locations.user_state_dir(), "log")


def _place_of(project_root: str) -> str:
    """Return which directory a project is, wherever it is moved; "" where the file system does not
    tell for good.
    """
    place = identity.place_of(os.path.realpath(project_root), defaults.PROJECT_DIR)
    return place.name if place is not None and place.strong else ""


def _marked(project_root: str) -> str:
    """Note which log has the calls of a project, so that it is found from where the project is
    moved to; return the project's place.
    """
    place, log = _place_of(project_root), os.path.basename(_path(project_root))
    if place:
        with contextlib.suppress(OSError, StorageError, InvalidDocument):
            known = _logs_of(place)
            if log not in known:
                atomic.private_directory(os.path.join(_directory(), _PLACES))
                text = "".join(f"{name}\n" for name in (*known, log))
                atomic.write_atomic(_marker(place), text, mode=0o600, durable=False)
    return place


def _earlier(place: str, own: str) -> list[str]:
    """Return the logs that a project had in other places."""
    known = _logs_of(place) if place else []
    return [os.path.join(_directory(), name) for name in known if name != os.path.basename(own)]


def _logs_of(place: str) -> list[str]:
    try:
        text = atomic.read_bytes(_marker(place)).decode("ascii", "replace")
    except (StorageError, InvalidDocument):
        return []
    return [line for line in text.splitlines() if _LOG.fullmatch(line)]


def _marker(place: str) -> str:
    return os.path.join(_directory(), _PLACES, place)


def _path(project_root: str) -> str:
    name = sha256(os.fsencode(os.path.realpath(project_root))).hexdigest()
    return os.path.join(_directory(), f"{name}.jsonl")


def _logs() -> list[str]:
    try:
        names = os.listdir(_directory())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise StorageError("read", _directory(), error) from error
    return [
        os.path.join(_directory(), name)
        for name in sorted({name.removesuffix(OLD) for name in names})
        if name.endswith(".jsonl")
    ]


def _last(path: str, limit: int, wanted: Callable[[JsonObject], bool]) -> list[JsonObject]:
    found: list[JsonObject] = []
    for line in _lines_backwards(path):
        if len(found) >= limit:
            break
        with contextlib.suppress(InvalidDocument):
            call = {"id": sha256(line).hexdigest()[:8]} | strict_json.parse_object(
                line, limit=MAX_LOG_BYTES
            )
            found += [call] if wanted(call) else []
    return found[::-1]


def _lines_backwards(path: str) -> Iterator[bytes]:
    for name in (path, path + OLD):
        try:
            data = atomic.read_bytes(name, limit=4 * MAX_LOG_BYTES)
        except StorageError as error:
            if error.details.get("errno") not in (errno.ENOENT, errno.ENOTDIR):
                raise
            continue
        yield from (line for line in reversed(data.split(b"\n")) if line)
