"""A directory -> Tool, or all that is wrong with it: the one validator of listing, loading and
lint.
"""

import os
import stat
from typing import TYPE_CHECKING, Any, NamedTuple

from vespe import defaults
from vespe.documents import strict_json
from vespe.errors import InvalidDocument, InvalidTool, StorageError
from vespe.files import atomic
from vespe.models import Entry, Implementation, JsonObject, Tool
from vespe.records import dataclass
from vespe.tool_types import TYPES, type_in, type_of
from vespe.tools import allowances
from vespe.tools.allowances import KitLimits

if TYPE_CHECKING:
    from vespe.schemas.forms import Found

__all__ = [
    "VALID",
    "Judged",
    "Problem",
    "Verdict",
    "check",
    "limits_above",
    "load",
    "read_entry",
    "verdict",
]

VALID = frozenset(TYPES)
"""The types of `implementation_details` that Vespe runs."""
_TOLD = 5
_PATH = "/implementation_details/path"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with a tool directory: the file (`""` is the directory), a JSON Pointer into
    it, a sentence.

    `line` counts from 1; 0 is not known. `code` is what it is about: a key of config.json, or
    `unreadable`, `path`, `secret`, `kit_limits`.
    """

    file: str
    pointer: str
    message: str
    line: int = 0
    code: str = ""

    def __str__(self) -> str:
        place = (
            self.file
            + (f":{self.line}" if self.line else "")
            + (f" at {self.pointer}" if self.pointer else "")
        )
        return f"{place}: {self.message}" if place else self.message


@dataclass(frozen=True, slots=True)
class Judged:
    """What a verdict without a problem was made from: the bytes of a config.json, and the limits of
    its kit at that moment, None for a tool of no kit. A tool that is loaded from these is held to
    the limits that it was judged by.
    """

    config: bytes
    limits: KitLimits | None = None


class Verdict(NamedTuple):
    """What the bytes of a config.json say by themselves; a function of them, the uid, the kit and
    its limits alone.

    What cannot be read is None. `script` is the tool's own file, relative to its directory, where
    it has one: whether it is there is not a matter of the bytes.
    """

    name: str | None
    description: str | None
    type: str | None
    problem: str | None
    script: str | None


def limits_above(directory: str) -> KitLimits:
    """Return what the kit in `directory` states that its tools may use. A kit_config.json that
    cannot be read allows nothing.
    """
    try:
        return allowances.limits_of(
            strict_json.read_object_if_there(f"{directory}/{defaults.KIT_CONFIG_FILE}")
        )
    except (InvalidDocument, StorageError):
        return KitLimits(types=(), hosts=(), secrets=())


def verdict(
    config: bytes, *, uid: str, kit_id: str | None, limits: KitLimits | None = None
) -> Verdict:
    """Judge the bytes of the config.json of the tool directory `uid`; never raises, so that it can
    be kept by digest.
    """
    try:
        document = strict_json.parse_object(config, path=defaults.CONFIG_FILE)
    except InvalidDocument as error:
        return Verdict(None, None, None, str(_unreadable(error)), None)
    problems = _found(document, uid=uid, kit_id=kit_id, source=config) + _beyond(document, limits)
    details = document.get("implementation_details")
    details = details if isinstance(details, dict) else {}
    return Verdict(
        _text(document.get("name")),
        _text(document.get("description")),
        _text(details.get("type")),
        _told([_problem(*found) for found in problems]) if problems else None,
        None if problems else _own_file(details),
    )


def read_entry(path: str | os.PathLike[str], *, scope: str, kit_id: str | None) -> Entry:
    """Read a tool directory for a listing; never raises: `problem` says why the directory is
    broken.
    """
    directory = os.fspath(path)
    uid = os.path.basename(directory.rstrip("/"))
    try:
        _refuse_link(directory)
        config = atomic.read_bytes(f"{directory}/{defaults.CONFIG_FILE}")
    except (InvalidDocument, StorageError) as error:
        return Entry(
            uid=uid,
            name=None,
            scope=scope,
            kit_id=kit_id,
            type=None,
            description=None,
            path=directory,
            problem=str(_unreadable(error)),
        )
    name, description, kind, problem, script = verdict(
        config, uid=uid, kit_id=kit_id, limits=_limits(directory, kit_id)
    )
    if script is not None and problem is None:
        problem = script_problem(directory, script, kind=kind)
    return Entry(
        uid=uid,
        name=name,
        scope=scope,
        kit_id=kit_id,
        type=kind,
        description=description,
        path=directory,
        problem=problem,
    )


def check(
    path: str | os.PathLike[str], *, kit_id: str | None = None, config: bytes | None = None
) -> tuple[JsonObject | None, list[Problem]]:
    """Return config.json as it stands (None where it cannot be read) and all that is wrong with the
    directory.

    `config` is what config.json holds, where that has been read already.
    """
    directory = os.fspath(path)
    return _check(directory, kit_id=kit_id, config=config, limits=_limits(directory, kit_id))


def _check(
    directory: str, *, kit_id: str | None, config: bytes | None = None, limits: KitLimits | None
) -> tuple[JsonObject | None, list[Problem]]:
    file = f"{directory}/{defaults.CONFIG_FILE}"
    try:
        _refuse_link(directory)
        config = atomic.read_bytes(file) if config is None else config
        document = strict_json.parse_object(config, path=defaults.CONFIG_FILE)
    except (InvalidDocument, StorageError) as error:
        return None, [_unreadable(error)]
    found = _found(
        document, uid=os.path.basename(directory.rstrip("/")), kit_id=kit_id, source=config
    )
    found += _beyond(document, limits)
    problems = [_problem(*one) for one in found]
    details = document.get("implementation_details")
    if not problems and isinstance(details, dict) and (script := _own_file(details)) is not None:
        problem = script_problem(directory, script, kind=details["type"])
        problems += [_problem(_PATH, problem)] if problem else []
    return document, problems


def load(path: str | os.PathLike[str], *, scope: str = "", kit_id: str | None = None) -> Tool:
    """Read a tool directory whole. Raises InvalidTool with all that is wrong with it."""
    directory = os.fspath(path)
    limits = _limits(directory, kit_id)
    document, problems = _check(directory, kit_id=kit_id, limits=limits)
    if document is None or problems:
        raise InvalidTool(
            os.path.basename(directory.rstrip("/")),
            [str(problem) for problem in problems],
            path=directory,
        )
    return _tool_of(document, directory, scope=scope, kit_id=kit_id, limits=limits)


def load_judged(
    path: str | os.PathLike[str],
    *,
    scope: str = "",
    kit_id: str | None = None,
    config: bytes | None = None,
    judged: Judged | None = None,
) -> Tool:
    """Read a tool directory whose config.json has a `verdict` without a problem already: of
    `judged`, nothing is judged again.

    Without it the config.json is read, where `config` does not give it, and the limits of its kit
    are read and judged again, since they may have changed. Raises InvalidDocument, StorageError or
    KeyError where it is not what was judged.
    """
    directory = os.fspath(path)
    _refuse_link(directory)
    file = f"{directory}/{defaults.CONFIG_FILE}"
    if judged is not None:
        return tool_of(judged, directory, scope=scope, kit_id=kit_id)
    if config is None:
        document = strict_json.read_object(file)
    else:
        document = strict_json.parse_object(config, path=file)
    limits = _limits(directory, kit_id)
    for beyond in _beyond(document, limits):
        raise InvalidDocument(beyond[1], path=file, pointer=beyond[0])
    return _tool_of(document, directory, scope=scope, kit_id=kit_id, limits=limits)


def script_problem(directory: str, script: str, *, kind: str | None) -> str | None:
    """Say why a tool's own file cannot run: it, or a directory on the way to it, is a link,
    missing, or of another kind.
    """
    here, status = directory, None
    made = None if kind is None else type_of(kind)
    files = made.files if made is not None else ()
    # what is compiled here may lack the module, and not the source
    key = next((key for key, end in reversed(files) if script.endswith(end)), "path")
    try:
        for part in script.split("/"):
            if status is not None and not stat.S_ISDIR(status.st_mode):
                return f"`{key}` names {script}, and a part of it is not a directory"
            here = f"{here}/{part}"
            status = os.lstat(here)
            if stat.S_ISLNK(status.st_mode):
                return (
                    f"`{key}` names {script}, and {part} is a symbolic link, "
                    "which Vespe does not follow"
                )
    except OSError as error:
        return f"`{key}` names {script}, which cannot be read: {error.strerror}"
    if status is None or not stat.S_ISREG(status.st_mode):
        return f"`{key}` names {script}, which is not a regular file"
    if made is not None and made.runs_own_file and not status.st_mode & 0o111:
        return f"`{key}` names {script}, which is not executable; `chmod +x` makes it so"
    return None


def _own_file(details: JsonObject) -> str | None:
    """Return the file of its own that a tool cannot be without: of one that is compiled here the
    source, since that can be built.
    """
    kind = type_in(details)
    named = (_text(details.get(key)) for key, _ in (kind.files if kind is not None else ()))
    return next((path for path in named if path is not None), None)


def _found(document: JsonObject, *, uid: str, kit_id: str | None, source: bytes) -> "list[Found]":
    """Judge a config.json: what does so is not loaded where every verdict is known."""
    from vespe.tools import judging

    return judging.found_in(document, uid=uid, kit_id=kit_id, source=source)


def _limits(directory: str, kit_id: str | None) -> KitLimits | None:
    return None if kit_id is None else limits_above(os.path.dirname(directory.rstrip("/")) or ".")


def _beyond(document: JsonObject, limits: KitLimits | None) -> "list[Found]":
    return (
        []
        if limits is None
        else [(*one, "kit_limits") for one in allowances.excess(document, limits)]
    )


def _problem(pointer: str, message: str, code: str = "") -> Problem:
    """Return a problem of config.json; where no code says what it is about, the place does."""
    return Problem(
        defaults.CONFIG_FILE,
        pointer,
        message,
        code=code or ("path" if pointer == _PATH else pointer.split("/")[1]),
    )


def _refuse_link(directory: str) -> None:
    try:
        mode = os.lstat(directory).st_mode
    except OSError as error:
        raise StorageError("read", directory, error) from error
    if stat.S_ISLNK(mode):
        raise InvalidDocument(
            "the tool's directory is a symbolic link, which Vespe does not follow"
        )


def _unreadable(error: InvalidDocument | StorageError) -> Problem:
    """Say what keeps a config.json from being read, without the long path to it."""
    if isinstance(error, InvalidDocument):
        return Problem(
            defaults.CONFIG_FILE if error.path else "",
            error.pointer,
            error.reason,
            error.line,
            "unreadable",
        )
    cause = error.__cause__
    return Problem(
        "",
        "",
        f"{os.path.basename(error.path)} cannot be read: "
        f"{cause.strerror if isinstance(cause, OSError) else error}",
        code="unreadable",
    )


def _told(problems: list[Problem]) -> str:
    from vespe.documents.near import join_words

    return join_words(map(str, problems), most=_TOLD, see="`vespe lint` shows all", apart="; ")


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def tool_of(judged: Judged, directory: str, *, scope: str, kit_id: str | None) -> Tool:
    """Return the tool that was judged. Raises InvalidDocument where it is no JSON object."""
    document = strict_json.parse_object(judged.config, path=f"{directory}/{defaults.CONFIG_FILE}")
    return _tool_of(document, directory, scope=scope, kit_id=kit_id, limits=judged.limits)


def _tool_of(
    document: JsonObject,
    directory: str,
    *,
    scope: str,
    kit_id: str | None,
    limits: KitLimits | None,
) -> Tool:
    from vespe.tools import secret_items

    details, bounds = document.get("implementation_details"), document.get("limits", {})
    return Tool(
        uid=document["uid"],
        name=document["name"],
        description=document.get("description", ""),
        input_schema=document["schema"]["input"],
        output_schema=document["schema"].get("output"),
        implementation=_implementation(details) if details else None,
        directory=directory,
        scope=scope,
        kit_id=kit_id or document.get("kit_id"),
        version=document.get("version"),
        tags=tuple(document.get("tags", ())),
        secrets=secret_items.names_in(document.get("secrets")),
        timeout_s=bounds.get("timeout_s"),
        max_output_bytes=bounds.get("max_output_bytes"),
        model_tokens=bounds.get("model_tokens"),
        annotations=document.get("annotations", {}),
        examples=tuple(document.get("examples", ())),
        permissions=document.get("permissions", {}),
        allowed_hosts=None if limits is None else limits.hosts,
        document=document,
    )


def _implementation(details: JsonObject) -> Implementation:
    return Implementation(
        type=details["type"],
        path=details.get("path"),
        entrypoint=details.get("entrypoint"),
        args=details.get("args", {}),
        environment=details.get("environment", ""),
    )
