"""Every failure that Vespe names, as one tree of inert values: fields, a sentence and a hint.

VespeError
|-- UsageError                    the command line or a library call is wrong
|-- MissingExtra                  what an extra of Vespe installs is not here
|-- MissingFeature                a folder of vespe/features is not here
|-- NotFound
|   |-- ProjectNotFound           no .vespe/ here or above
|   |-- ToolNotFound              no available tool of that name
|   |-- KitNotFound               no kit root has that kit
|   |-- AmbiguousTool             two tools of one name in one scope
|   `-- ToolImplementationNotFound  a tool that nothing implements
|-- InvalidDocument               a file is not what Vespe can read
|   `-- InvalidTool               a tool directory with all that is wrong with it
|-- InvalidArguments              what the schema, or a template slot, refuses
|   |-- ParsingError              arguments that are not JSON
|   |-- InvalidToolCall           a model's call that is no call
|   |-- UnknownResult             a handle stands for no result that can be read
|   `-- InvalidProgram            a program that its check refuses: nothing of it has run
|-- Refused                       policy says no
|   |-- NotTrusted                the project's bytes have no approval
|   |-- MissingSecret             a declared secret has no value
|   |-- SecretUnavailable         the store that a secret is kept in gives no value
|   |-- NeedsInput                a tool asks a person, and there is no answer to be had
|   |-- Declined                  a person does not answer a tool's question
|   |-- LoginRequired             an MCP server wants a login that a person has to make
|   |-- AddressRefused            an address that HTTP tools may not reach
|   `-- MissingKey                a provider's API key has no value
|-- ToolExecutionError            the tool itself failed
|   |-- InvalidOutput             its result breaks its output schema, or is no JSON
|   |-- PermissionDenied          the sandbox refused what its `permissions` do not state
|   |-- OutputTooLarge            it wrote past the larger cap and was ended
|   |-- SessionEnded              the session of the call was ended because of another call
|   `-- ProgramFailed             a program over tools raised, or was ended at a bound
|-- SourceUnavailable             where a kit comes from cannot be reached, or asks for credentials
|-- ProviderError                 a model's endpoint refused, failed or broke off
|   `-- Diverged                  a script or a recording has another request there
|-- StreamError                   a streamed answer breaks its caps, or is none
|-- TimedOut                      a deadline passed
|-- Interrupted                   the caller asked to stop
`-- StorageError                  the operating system refused to read or write
    `-- NotDurable                a change is made, but the disk did not confirm it
"""

import errno
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final, Literal

_USER: Final = r"(://)[^\s/?#'\"@:]*:[^\s/?#'\"]+@|(https?://)[^\s/?#'\"@:]+@"
"""A user with a password before a host, and one alone over https, which is a token."""


def without_passwords(text: str) -> str:
    """Return a sentence with `***` for what stands before the host of a URL: it is shown, logged
    and told to models.
    """
    if "@" not in text:
        return text
    return re.sub(_USER, lambda found: f"{found[1] or found[2]}***@", text)


class VespeError(Exception):
    """The base class: a message, a hint on what to do, and fields for scripts that JSON can
    represent.

    `code` is the stable name of the failure in JSON. `retryable` is true if the model can correct
    the call or make it again. Subclasses set both. Creating an error has no side effects.
    """

    code: ClassVar[str] = "error"
    retryable: ClassVar[bool] = False

    def __init__(
        self, message: str, *, hint: str = "", details: Mapping[str, Any] | None = None
    ) -> None:
        self.message = without_passwords(message)
        super().__init__(self.message)
        self._hint = ""
        self.hint = hint
        self.details: dict[str, Any] = {
            key: without_passwords(value) if isinstance(value, str) else value
            for key, value in (details or {}).items()
        }

    @property
    def hint(self) -> str:
        """What to do about it, "" where nothing is known: a traceback shows it as a note."""
        return self._hint

    @hint.setter
    def hint(self, hint: str) -> None:
        notes = getattr(self, "__notes__", None)
        if self._hint and isinstance(notes, list) and f"hint: {self._hint}" in notes:
            notes.remove(f"hint: {self._hint}")
        self._hint = without_passwords(hint)
        if hint:
            self.add_note(f"hint: {self._hint}")

    def __str__(self) -> str:
        return self.message


class UsageError(VespeError):
    """The command line or a library call is invalid: exit code 2."""

    code = "usage"


class MissingExtra(VespeError, ImportError):
    """`what` needs an extra of Vespe, because `module` cannot be imported: exit code 2. The hint
    is the command that installs it beside the extras that are there. It does not name a package
    index, because another project could own the name there.
    """

    code = "missing_extra"

    def __init__(self, what: str, *, extra: str, module: str) -> None:
        message = (
            f"{what} needs the extra vespe[{extra}]: the module {module} is missing, or too old"
        )
        hint = f"install it with {_command_for(extra, sys.prefix)}"
        super().__init__(message, hint=hint, details={"extra": extra, "module": module})


def _command_for(extra: str, prefix: str) -> str:
    """Return the command that installs an extra into the environment at `prefix`, in backquotes:
    with the program that installed Vespe, and from the directory that it was installed from.

    uv and pipx create the environment of a tool again, so the command names the extras that are
    there already: without them, it would remove them.
    """
    place, is_editable = _origin()
    below = f"{prefix}/".replace("\\", "/")
    pip = f"{below}bin/pip"
    kept: set[str] = set()
    if "/uv/tools/" in below:
        installer, kept = "uv tool install", _extras_here()
    elif "/pipx/" in below:
        installer, kept = "pipx install --force", _extras_here()
    else:
        installer = f"{pip if os.path.exists(pip) else 'pip'} install"
    source = f"{place or '.'}[{','.join(sorted({extra, *kept}))}]".replace("'", "'\\''")
    return f"`{installer}{' -e' * is_editable} '{source}'`{'' if place else ' in its clone'}"


def _records() -> list[str]:
    """Return what installers wrote of each package that can be imported; the first of Vespe is that
    of this one.
    """
    found = []
    for place in filter(os.path.isdir, sys.path):
        try:
            names = sorted(os.listdir(place))
        except OSError:
            continue
        found += [f"{place}/{name}" for name in names if name.endswith(".dist-info")]
    return found


def _package_of(record: str) -> str:
    return _normalized(os.path.basename(record).partition("-")[0])


def _normalized(name: str) -> str:
    """Return a package's name as all spellings of it have in common."""
    return re.sub(r"[-_.]+", "_", name).lower()


def _read(record: str, name: str) -> str:
    try:
        with open(f"{record}/{name}", encoding="utf-8") as file:
            return file.read()
    except (OSError, ValueError):
        return ""


def _origin() -> tuple[str, bool]:
    """Return the directory that Vespe was installed from, "" if there is none any more, and whether
    it is installed in the editable mode (PEP 610).
    """
    record = next((one for one in _records() if _package_of(one) == "vespe"), "")
    text = _read(record, "direct_url.json")
    url = re.search(r'"url": *"file://(/[^"\\]*)"', text)
    if url is None or '"dir_info"' not in text:
        return "", False  # installed from somewhere else, or the record is damaged
    place = re.sub(
        rb"%([0-9A-Fa-f]{2})", lambda found: bytes([int(found[1], 16)]), url[1].encode()
    ).decode()
    if not os.path.isfile(f"{place}/pyproject.toml"):
        return "", False
    return place, re.search(r'"editable": *true', text) is not None


def _extras_here() -> set[str]:
    """Return the extras of which every package is installed."""
    records = _records()
    names = {_package_of(one) for one in records}
    own = next((one for one in records if _package_of(one) == "vespe"), "")
    needs = re.findall(
        r"^Requires-Dist: ([\w.-]+).*;.*\bextra == ['\"]([\w.-]+)['\"]",
        _read(own, "METADATA"),
        re.M,
    )
    lacking = {extra for name, extra in needs if _normalized(name) not in names}
    return {extra for _, extra in needs} - lacking


class MissingFeature(VespeError, AttributeError):
    """A feature whose folder is not in this copy of Vespe was asked for: exit code 2."""

    code = "missing_feature"

    def __init__(self, feature: str) -> None:
        super().__init__(
            f"this copy of Vespe does not have the feature {feature!r}",
            hint=f"install Vespe again: its folder vespe/features/{feature} is missing",
            details={"feature": feature},
        )


class NotFound(VespeError, LookupError):
    """What was asked for does not exist: exit code 3."""

    code = "not_found"


class ProjectNotFound(NotFound):
    """There is no project at `start` or in any directory above it."""

    code = "project_not_found"

    def __init__(self, start: str, *, reason: str = "") -> None:
        super().__init__(
            f"no project here: {reason or f'neither {start} nor a directory above it has .vespe/'}",
            hint="create one with `vespe init`, or select one with --project DIR",
            details={"start": start},
        )
        self.start = start


class ToolNotFound(NotFound):
    """No available tool is named `name`. `searched` are the scopes that were searched, and `close`
    are similar names.
    """

    code = "tool_not_found"

    def __init__(
        self,
        name: str,
        *,
        searched: Sequence[str] = (),
        close: Sequence[str] = (),
        reason: str = "",
        hint: str = "",
    ) -> None:
        where = f" in {', '.join(searched)}" if searched else ""
        super().__init__(
            f"no available tool is called {name!r}{where}" + (f": {reason}" if reason else ""),
            hint=hint
            or _nearest(close)
            or "`vespe tool list --all` shows every tool and its status",
            details={"name": name, "searched": list(searched), "close": list(close)},
        )
        self.name, self.searched, self.close = name, tuple(searched), tuple(close)


class KitNotFound(NotFound):
    """No kit is named `kit_id`. `among` says which kits were searched; `close` are similar ids."""

    code = "kit_not_found"

    def __init__(self, kit_id: str, *, close: Sequence[str] = (), among: str = "kit") -> None:
        super().__init__(
            f"no {among} is called {kit_id!r}",
            hint=_nearest(close)
            or "`vespe kit list` shows every kit and its root; a kit in a directory is found after "
            "`vespe kit link DIR`",
            details={"kit_id": kit_id, "close": list(close)},
        )
        self.kit_id, self.close = kit_id, tuple(close)


class AmbiguousTool(NotFound):
    """A scope contains several tools named `name`, at `paths`. Vespe does not choose one."""

    code = "ambiguous_tool"

    def __init__(self, name: str, *, scope: str, uids: Sequence[str], paths: Sequence[str]) -> None:
        super().__init__(
            f"{scope} has {len(uids)} tools called {name!r}: {', '.join(uids)}",
            hint="rename or remove one of them, or call one by its uid",
            details={"name": name, "scope": scope, "uids": list(uids), "paths": list(paths)},
        )
        self.name, self.scope, self.uids = name, scope, tuple(uids)


class ToolImplementationNotFound(NotFound):
    """The tool exists, but neither its config.json nor the process has an implementation."""

    code = "tool_implementation_not_found"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"nothing implements the tool {name!r}",
            hint="add `implementation_details` to its config.json, or register an "
            "implementation in-process",
            details={"name": name},
        )
        self.name = name


class InvalidDocument(VespeError, ValueError):
    """A file cannot be read by Vespe: where (`path`, `line`, `column`, `pointer`) and why.

    `pointer` is an RFC 6901 JSON Pointer ("" is the whole document); `line` and `column` count from
    1 and are 0 where they are not known.
    """

    code = "invalid_document"

    def __init__(
        self,
        reason: str,
        *,
        path: str = "",
        line: int = 0,
        column: int = 0,
        pointer: str = "",
        hint: str = "",
    ) -> None:
        place = path + (f":{line}" if line else "") + (f":{column}" if line and column else "")
        at = f" at {pointer}" if pointer else ""
        super().__init__(
            f"{place}: {reason}{at}" if place else f"{reason}{at}",
            hint=hint or ("correct the file, then run the command again" if line else ""),
            details={
                "path": path,
                "line": line,
                "column": column,
                "pointer": pointer,
                "reason": reason,
            },
        )
        self.reason, self.path, self.line, self.column, self.pointer = (
            reason,
            path,
            line,
            column,
            pointer,
        )


class InvalidTool(InvalidDocument):
    """A tool directory has problems. `problems` are sentences, each with its place."""

    code = "invalid_tool"

    def __init__(self, uid: str, problems: Iterable[str], *, path: str = "") -> None:
        self.problems = tuple(problems)
        super().__init__(
            "; ".join(self.problems) or "is invalid",
            path=path or uid,
            hint="correct the problem; `vespe tool list --all` shows all broken tools",
        )
        self.uid = uid
        self.details.update(uid=uid, problems=list(self.problems))


class InvalidArguments(VespeError, ValueError):
    """The arguments do not match the schema, or a value does not fit its place in a template. All
    violations are reported at once.

    `violations` are `{"pointer": RFC 6901, "message": sentence}`.
    """

    code = "invalid_arguments"
    retryable = True

    def __init__(
        self, message: str, *, violations: Iterable[Mapping[str, str]] = (), hint: str = ""
    ) -> None:
        self.violations = tuple(dict(v) for v in violations)
        super().__init__(message, hint=hint, details={"violations": list(self.violations)})


class ParsingError(InvalidArguments):
    """A string that should be JSON (a model's answer, a call's arguments) cannot be parsed. It is
    never run as `{}`.
    """

    code = "invalid_json"


class InvalidToolCall(InvalidArguments):
    """A model's tool call has no name, or is not of the shape that its API documents."""

    code = "invalid_tool_call"


class UnknownResult(InvalidArguments):
    """A handle stands for no result that can be read: another conversation's, one that is kept no
    longer, or a file that was changed.
    """

    code = "unknown_result"

    def __init__(self, handle: str, reason: str) -> None:
        super().__init__(f"the handle {handle[:40]!r} cannot be used: {reason}")
        self.handle = handle


class InvalidProgram(InvalidArguments):
    """A program that cannot run as it is: `details.problems` has all that is wrong, each with its
    line. Nothing of it has run: exit code 5.
    """

    code = "invalid_program"

    def __init__(
        self, message: str, *, hint: str = "", problems: Iterable[Mapping[str, Any]] = ()
    ) -> None:
        super().__init__(message, hint=hint)
        self.details |= {"problems": [dict(one) for one in problems]}


class Refused(VespeError, PermissionError):
    """Policy says no: exit code 6."""

    code = "refused"


class NotTrusted(Refused):
    """The user has not approved the project. `changes` are the differences from the last approval,
    and `same_at` is another place where the same files are approved.
    """

    code = "not_trusted"

    def __init__(
        self, path: str, *, changes: Sequence[str] = (), same_at: str | None = None
    ) -> None:
        what = f"{path} is not trusted, so nothing in it runs" + (
            f"; you approved the same in {same_at}" if same_at else ""
        )
        if changes:
            shown = "; ".join(changes[:8]) + (
                f"; and {len(changes) - 8} more" if len(changes) > 8 else ""
            )
            what = f"{path} changed since it was approved: {shown}"
        super().__init__(
            what,
            hint="review and approve it with `vespe trust`",
            details={"path": path, "changes": list(changes)}
            | ({"same_at": same_at} if same_at else {}),
        )
        self.path, self.changes, self.same_at = path, tuple(changes), same_at


class MissingSecret(Refused):
    """A secret that the tool declares has no value in the environment or the user's
    configuration. `description` and `docs_url` are what the tool says that it is for.
    """

    code = "missing_secret"

    def __init__(
        self,
        name: str,
        *,
        tool: str,
        names: Sequence[str] = (),
        description: str = "",
        docs_url: str = "",
    ) -> None:
        known, kept = " or ".join(names) or name, names[0] if names else name
        said = f" ({description})" if description else ""
        first = f"make one at {docs_url}; then " if docs_url else ""
        super().__init__(
            f"the tool {tool!r} needs the secret {name}{said}, but it has no value",
            hint=f"{first}store it with `vespe secret set {kept}`, or set the environment "
            f"variable {known}",
            details={"secret": name, "tool": tool},
        )
        self.name, self.tool = name, tool


class SecretUnavailable(Refused):
    """The user's configuration says where a secret is kept, and no value came from there: `store`
    is the kind of place, `place` which one, `why` the end of the sentence.
    """

    code = "secret_unavailable"

    def __init__(self, name: str, *, store: str, place: str, why: str, hint: str) -> None:
        super().__init__(
            f"the secret {name} cannot be read from {place}: {why}",
            hint=hint,
            details={"secret": name, "store": store, "place": place},
        )
        self.name, self.store, self.place, self.why = name, store, place, why


class NeedsInput(Refused):
    """A tool asks a person, and there is no answer to be had: nobody can be asked, the time is up,
    or what is answered does not fit.
    """

    code = "needs_input"

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(
            message, hint=hint or "call it where you can answer, for example in a terminal"
        )


class Declined(Refused):
    """The user declined to answer a question of the tool `tool`, or closed it. `action` is decline
    or cancel.
    """

    code = "declined"

    def __init__(self, tool: str, *, action: Literal["decline", "cancel"] = "decline") -> None:
        did = "declined to answer" if action == "decline" else "did not answer"
        super().__init__(
            f"the user {did} the question of {tool!r}", details={"tool": tool, "action": action}
        )
        self.tool, self.action = tool, action


class LoginRequired(Refused):
    """The MCP server of the kit `kit_id` wants an OAuth login, which only a person can make: `why`
    says what is missing, `command` makes the login.
    """

    code = "login_required"

    def __init__(self, kit_id: str, *, why: str, command: str = "") -> None:
        command = command or f"vespe mcp login {kit_id}"
        super().__init__(
            f"the MCP server of {kit_id} {why}",
            hint=f"`{command}` logs in, in a terminal",
            details={"kit_id": kit_id, "why": why},
        )
        self.kit_id, self.why, self.command = kit_id, why, command


class AddressRefused(Refused):
    """An HTTP tool's host is, or resolves to, an address that tools may not reach; the hint allows
    it on `port` alone where that is known.
    """

    code = "address_refused"

    def __init__(self, host: str, *, address: str, why: str, port: int = 0, hint: str = "") -> None:
        shown = f"[{host}]" if port and ":" in host else host
        entry = f"{shown}:{port}" if port else host
        super().__init__(
            f"the host {host} is refused: {address} is {why}",
            hint=hint or f"only you can allow it: `vespe config set allow_hosts '[\"{entry}\"]'`",
            details={"host": host, "address": address, "why": why},
        )
        self.host, self.address, self.why = host, address, why


class MissingKey(Refused):
    """A provider's API key is neither in the user's configuration nor in the environment, whose
    `variable` is `empty` or not set.
    """

    code = "missing_key"

    def __init__(self, provider: str, *, variable: str, empty: bool = False) -> None:
        super().__init__(
            f"{provider} needs an API key, but the environment variable {variable} is "
            f"{'empty' if empty else 'not set'}",
            hint=f"`export {variable}=KEY`, or store the key with `vespe secret set "
            f"providers.{provider}.api_key`",
            details={"provider": provider, "variable": variable},
        )
        self.provider, self.variable = provider, variable


class ToolExecutionError(VespeError, RuntimeError):
    """The tool ran and failed, with an exception, an exit status or an HTTP status."""

    code = "tool_error"


class PermissionDenied(ToolExecutionError):
    """The sandbox refused what the tool does not state in its `permissions`; `details.refused` is
    the path or the host.
    """

    code = "permission_denied"


class InvalidOutput(ToolExecutionError):
    """The tool's result breaks its output schema, or cannot be represented in JSON."""

    code = "invalid_output"


class OutputTooLarge(ToolExecutionError):
    """The tool wrote past the larger cap and was ended; `kept` is what was read of its output."""

    code = "output_too_large"

    def __init__(
        self,
        message: str,
        *,
        kept: bytes = b"",
        hint: str = "",
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message, hint=hint, details=details)
        self.kept = kept


class SessionEnded(ToolExecutionError):
    """The session with a server was ended because of another call in it; whether this one took
    effect is not known.
    """

    code = "session_ended"
    retryable = True


class ProgramFailed(ToolExecutionError):
    """A program over tools raised an error that it did not catch, or was ended: it used too much
    memory, or made too many calls. `details` has its `line`, where that is known.
    """

    code = "program_failed"


class SourceUnavailable(VespeError):
    """Where a kit comes from cannot be reached, asks for credentials that git does not have, or git
    itself is missing.
    """

    code = "source_unavailable"


class ProviderError(VespeError, RuntimeError):
    """A model's endpoint answered with a failure, broke off, or could not be reached.

    `status` is the HTTP status, 0 where no answer came; `vendor_code` and `request_id` are the
    vendor's, "" where it said none; `transient` tells that the same request may well be answered
    later, `retry_after_s` when, where the endpoint says it. No text of it holds a key.
    """

    code = "provider_error"

    def __init__(
        self,
        message: str,
        *,
        status: int = 0,
        vendor_code: str = "",
        request_id: str = "",
        transient: bool = False,
        hint: str = "",
    ) -> None:
        details = {
            "status": status,
            "vendor_code": vendor_code,
            "request_id": request_id,
            "transient": transient,
        }
        super().__init__(message, hint=hint, details=details)
        self.status, self.vendor_code, self.request_id, self.transient = (
            status,
            vendor_code,
            request_id,
            transient,
        )
        self.retry_after_s: float | None = None


class Diverged(ProviderError):
    """A script or a recording holds no answer to this request: its `turn`, from 1, and the JSON
    Pointer of the first difference.
    """

    code = "diverged"

    def __init__(self, message: str, *, turn: int, pointer: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.turn, self.pointer = turn, pointer
        self.details = {"turn": turn, "pointer": pointer}


class StreamError(VespeError):
    """A streamed answer is larger than its caps, or no stream at all; what came before is kept."""

    code = "stream_error"


class TimedOut(VespeError, TimeoutError):
    """A deadline passed, in `seconds`. `did` says what was not done in that time, `then` what
    became of whatever ran.
    """

    code = "timed_out"

    def __init__(
        self,
        what: str,
        *,
        seconds: float,
        did: str = "did not finish",
        then: str = "was ended",
        hint: str = "",
    ) -> None:
        hint = hint or (
            "raise the time limit with --timeout, or with `limits.timeout_s` in its config.json"
        )
        super().__init__(
            f"{what} {did} within {seconds:g} s and {then}",
            hint=hint,
            details={"timeout_s": seconds},
        )
        self.seconds = seconds


class Interrupted(VespeError):
    """The caller asked to stop (Ctrl-C, a cancelled request). Whatever ran has been ended, but for
    a Python function of this process.
    """

    code = "interrupted"


class StorageError(VespeError):
    """The operating system refused to read or write `path`; nothing was changed."""

    code = "storage_error"

    def __init__(self, action: str, path: str, error: OSError) -> None:
        super().__init__(
            f"cannot {action} {path}: {error.strerror or error}",
            hint=_HINTS.get(error.errno or 0, ""),
            details={"path": path, "errno": error.errno},
        )
        self.path = path


_HINTS: Final = {
    errno.ENOENT: "check the path; a relative one starts at the working directory",
    errno.EACCES: "check its owner and its mode (`ls -ld PATH`)",
    errno.EPERM: "check its owner and its mode (`ls -ld PATH`)",
    errno.ENOSPC: "make room on the disk, then run it again",
    errno.EDQUOT: "make room in your quota, then run it again",
    errno.EROFS: "the file system is read-only: use another directory",
    errno.EADDRINUSE: "another program uses this port: stop it, or choose another port",
    errno.EADDRNOTAVAIL: "this machine has no such address: use 127.0.0.1",
}
"""What to do about what an operating system refuses."""


class NotDurable(StorageError):
    """The change of `path` is made, and could not be undone, but the disk did not confirm that it
    outlasts a crash.
    """

    code = "not_durable"

    def __init__(self, path: str, error: OSError) -> None:
        super().__init__("confirm the change of", path, error)
        self.message = (
            f"{path} has changed, but the disk did not confirm that the change is "
            f"durable: {error.strerror or error}"
        )
        self.hint = "the change is effective now; check the disk before you rely on it"


def _nearest(close: Sequence[str]) -> str:
    return f"did you mean {' or '.join(close)}?" if close else ""
