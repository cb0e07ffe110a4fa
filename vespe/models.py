"""Frozen values that pass between the floors: tools, kits, project settings, calls and what became
of them.
"""

import os
import stat
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final, Literal, TypeAlias

from vespe import defaults
from vespe.errors import ToolExecutionError, VespeError
from vespe.records import dataclass, json_of

JsonValue: TypeAlias = Any
"""What `json` reads: dict, list, str, int, float, bool or None."""
JsonObject: TypeAlias = dict[str, Any]
Severity: TypeAlias = Literal["error", "warning", "info"]
SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "info")
"""The gravest first. An error is what a model's API or Vespe refuses."""
Approve: TypeAlias = Literal["ask", "read-only", "all", "none"]
"""Which calls of a model run."""
ToolsMode: TypeAlias = Literal["all", "bridge", "code", "native", "auto"]
"""How tools are declared to a model."""
Holds: TypeAlias = Literal["once", "session", "project", "program"]
"""How long an answer to a question is valid."""
Flow: TypeAlias = Literal["", "ask", "deny", "off"]
"""What happens to risky calls after the model has read untrusted content; "" is the default."""
LogLevel: TypeAlias = Literal[
    "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"
]
"""The levels of a log message in MCP."""
Template: TypeAlias = Literal[
    "python_script", "shell_command", "http_request", "rust_function", "in_process"
]
"""The templates of new tools."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Implementation:
    """The implementation of a tool: `implementation_details` in config.json (design, 2.1)."""

    type: str
    path: str | None = None
    entrypoint: str | None = None
    args: JsonObject = field(default_factory=dict)
    environment: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Permissions:
    """What a tool states that it uses, beside what its interpreter needs; None: not stated, and the
    default holds.

    `read` and `write` are paths (`.` is the project, `~` the home directory), `network` hosts
    (`host` or `host:port`), `programs` names of programs, or their paths, `sockets` paths of Unix
    sockets, or variables that hold one (`$SSH_AUTH_SOCK`). An empty tuple is none at all.
    """

    read: tuple[str, ...] | None = None
    write: tuple[str, ...] | None = None
    network: tuple[str, ...] | None = None
    programs: tuple[str, ...] | None = None
    memory_mb: int | None = None
    sockets: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """What everything but the sandbox knows of one of the `permissions`.

    `values` is what it lists, or that it is a number, from 1 to `most`. `is_closed` says that what
    is not stated is none. `verb` says in a sentence
    what the sandbox did not let a tool do. `default` is what holds where nothing is stated, as a
    config.json would say it. `effect` is the effect of a tool that states a value, `reason` says
    why, with the value; a path has the effect `reads_private` only outside the project.
    """

    description: str
    values: Literal["path", "host", "program", "socket", "number"]
    verb: str = ""
    default: tuple[str, ...] = ()
    effect: Literal["", "reads_private", "writes", "sends_out"] = ""
    reason: str = ""
    most: int = 0
    is_closed: bool = False


PERMISSIONS: Final[Mapping[str, Permission]] = {
    "read": Permission(
        description="Paths that the tool can read. `.` is the project, `~` the home "
        "directory. Default: everything except keys, tokens, browser profiles "
        "and Vespe's own state.",
        values="path",
        verb="read",
        default=(".",),
        effect="reads_private",
        reason="it may read {}",
    ),
    "write": Permission(
        description="Paths that the tool can read and write. Default: the project and a "
        "temporary directory.",
        values="path",
        verb="write",
        default=(".",),
        effect="writes",
        reason="it may write files",
    ),
    "network": Permission(
        description="Hosts that the tool can reach, as `host` or `host:port`. []: none. "
        "Default: any.",
        values="host",
        verb="reach",
        effect="sends_out",
        reason="it may reach {}",
    ),
    "programs": Permission(
        description="Programs that the tool can start, as names on PATH or as paths. []: "
        "none except its own. Default: any.",
        values="program",
        verb="start",
    ),
    "memory_mb": Permission(
        description="The memory limit for data of each of its processes, in MiB.",
        values="number",
        most=1 << 20,
    ),
    "sockets": Permission(
        description="Unix sockets that the tool can use, as paths or as environment "
        "variables that contain one (`$SSH_AUTH_SOCK`). Default: none at the sandbox level "
        "`namespaces`, any at other levels.",
        values="socket",
        verb="connect to",
        effect="sends_out",
        reason="it may connect to {}",
        is_closed=True,
    ),
}
"""The fields of `Permissions`. Who adds one adds its field and its row here, and what it means to
`vespe/processes/sandbox/policy.py`; `./dev docs` writes it to data/tool.schema.json.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool as defined by its directory: a name, schemas of inputs and outputs, and how to run it.

    `directory` is None for a tool that exists only in-process. `scope` is `project_tools` or a
    kit's id. `allowed_hosts` are the hosts that its kit allows, None for no limit. `document` is
    the whole config.json, including unknown keys. `behind` is set if this is a tool as a project
    shows it to models. Paths are `str`, because importing pathlib takes 5 ms.

    ```python
    from vespe import Tool
    from vespe.adapters import ADAPTERS

    schema = {"type": "object", "properties": {"a": {}, "b": {}}}
    tool = Tool(uid="", name="add", description="Add two numbers.", input_schema=schema)
    assert ADAPTERS["anthropic"](tool).generate_tool_description()["name"] == "add"
    ```
    """

    uid: str
    name: str
    description: str
    input_schema: JsonObject
    output_schema: JsonObject | None = None
    implementation: Implementation | None = None
    directory: str | None = None
    scope: str = ""
    kit_id: str | None = None
    version: str | None = None
    tags: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    timeout_s: float | None = None
    max_output_bytes: int | None = None
    model_tokens: int | str | None = None
    annotations: JsonObject = field(default_factory=dict)
    examples: tuple[JsonObject, ...] = ()
    permissions: JsonObject = field(default_factory=dict)
    allowed_hosts: tuple[str, ...] | None = None
    document: JsonObject = field(default_factory=dict)
    behind: "Facade | None" = None

    @property
    def itself(self) -> "Tool":
        """The tool as defined by its directory, if this is one as a project shows it to models."""
        return self.behind.tool if self.behind else self

    @property
    def documentation(self) -> str | None:
        """The current text of its description.md, for people; None if it cannot be read."""
        try:
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            with open(
                os.open(f"{self.directory or os.devnull}/{defaults.DESCRIPTION_FILE}", flags), "rb"
            ) as file:
                is_file = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
                return (
                    file.read(defaults.MAX_FILE_BYTES).decode("utf-8", "replace")
                    if is_file
                    else None
                )
        except OSError:
            return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Facade:
    """What stands behind a tool as models see it: the tool itself, and the arguments that are not
    the model's to give.

    `preset` are filled in at each call, `hidden` are left out; `places` gives the file and pointer
    of each preset.
    """

    tool: Tool
    preset: JsonObject
    hidden: frozenset[str]
    places: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One row of a listing: what can be known of a tool directory without loading it for a call.

    `problem` is the reason why the directory is broken, or None; what is not known is None too, but
    `uid` is then the directory's name.
    """

    uid: str
    name: str | None
    scope: str
    kit_id: str | None
    type: str | None
    description: str | None
    path: str
    problem: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Kit:
    """A directory of tools with a kit_config.json. `root` is where it was found, and `problem` is
    why it cannot be used.
    """

    kit_id: str
    path: str
    root: str
    root_kind: str
    name: str | None = None
    description: str | None = None
    version: str | None = None
    tools: int = 0
    problem: str | None = None
    document: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectConfig:
    """`.vespe/config.json`: which kits are active, in their order, and the order of scopes.

    `root` is the directory that contains `.vespe/`.

    ```python
    from vespe import Project, ProjectConfig

    project = Project(ProjectConfig(active_kits=("git_and_programs",)))
    assert project.resolve_tool("git_status").entry.scope == "git_and_programs"
    ```
    """

    root: str = ""
    active_kits: tuple[str, ...] = ()
    tool_resolution_order: tuple[str, ...] = ("project_tools", "active_kits")
    document: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One tool of the asked name and what resolution made of it.

    `status` is `selected`, `shadowed`, `inactive`, `broken` or `ambiguous`; `decided_by` names the
    file and the JSON Pointer that decided.
    """

    entry: Entry
    status: str
    reason: str
    decided_by: str
    shadowed_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """The result of resolving a name: the tool, why it was chosen, and all other candidates in
    order.
    """

    name: str
    entry: Entry
    reason: str
    candidates: tuple[Candidate, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def shadows(self) -> tuple[Candidate, ...]:
        """The candidates that this tool shadows, in the order of their scopes."""
        return tuple(c for c in self.candidates if c.shadowed_by is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of `vespe tool list`: an entry, what becomes of its name here, and the uid of what
    shadows it.

    `status` is `available`, `shadowed`, `inactive` or `broken`. An entry may be available and have
    a `problem`: it then shares its uid with a tool of another scope.
    """

    entry: Entry
    status: str
    shadowed_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request to run a tool: its name, uid or `scope/name`, and the arguments as a dictionary or
    as JSON text. `parent` is the `call_id` of the program that makes the call.

    ```python
    from vespe import Call, Project

    project = Project.init(".")
    project.create_tool("letters", type="python_script")
    call = Call(tool="letters", arguments='{"text": "abc"}', timeout_s=10)
    outcome = project.call_path().run(call)
    assert outcome.unwrap()["characters"] == 3
    ```
    """

    tool: str
    arguments: JsonObject | str | bytes = field(default_factory=dict)
    timeout_s: float | None = None
    call_id: str | None = None
    parent: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """The error of an Outcome: a stable `code`, a message, and whether the model can correct it."""

    code: str
    message: str
    retryable: bool = False
    details: JsonObject = field(default_factory=dict)
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of a call: a `result` or an `error`. `error` is None if the call succeeded.

    `duration_ms` includes the checks of input and output. `truncated` is true if the result was cut
    at the tool's limit; `output_file` is then a private file with the whole result. `logs` is what
    the tool printed besides its result, and `notes` says what Vespe corrected. `sandbox` has the
    `level` of protection of the tool's process and its `gaps`; None if no process was started.

    ```python
    from vespe import Failure, Outcome

    assert Outcome(tool="add", uid=None, result=3).unwrap() == 3
    failure = Failure(code="timed_out", message="it took too long")
    assert not Outcome(tool="add", uid=None, error=failure).ok
    ```
    """

    tool: str | None
    uid: str | None
    result: JsonValue = None
    error: Failure | None = None
    duration_ms: float = 0.0
    truncated: bool = False
    output_file: str | None = None
    logs: str = ""
    notes: tuple[str, ...] = ()
    sandbox: JsonObject | None = None

    @property
    def ok(self) -> bool:
        """Whether the call succeeded."""
        return self.error is None

    def unwrap(self) -> JsonValue:
        """Return the result, or raise the error as the class of `vespe.errors` with its `code`. The
        hint is added as a note to the traceback.

        Other codes are raised as ToolExecutionError. In a script, `outcome.unwrap()["words"]` is
        enough.
        """
        if self.error is None:
            return self.result
        raise _error_of(self.error)

    def to_dict(self) -> JsonObject:
        """Return the JSON that `vespe tool run --json` prints (design, section 6)."""
        document: JsonObject = {"ok": self.ok}
        if self.error is None:
            document["result"] = self.result
        else:
            document["error"] = json_of(self.error, "code", "message", "retryable", "details")
            if self.error.hint:
                document["error"]["hint"] = self.error.hint
        document |= {
            "tool": self.tool,
            "uid": self.uid,
            "duration_ms": round(self.duration_ms, 3),
            "truncated": self.truncated,
        }
        optional: Mapping[str, Any] = {
            "output_file": self.output_file,
            "logs": self.logs,
            "notes": list(self.notes),
            "sandbox": self.sandbox,
        }
        document.update({key: value for key, value in optional.items() if value})
        return document


def _error_of(failure: Failure) -> VespeError:
    kinds, waiting = dict[str, type[VespeError]](), [VespeError]
    while waiting:
        kind = waiting.pop()
        kinds.setdefault(kind.code, kind)
        waiting += kind.__subclasses__()
    found = kinds.get(failure.code, ToolExecutionError)
    error = found.__new__(found)
    VespeError.__init__(error, failure.message, hint=failure.hint, details=failure.details)
    vars(error).update({**failure.details, **vars(error), "code": failure.code})
    return error


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """What an executor gives back, before the output is checked against its schema and cut: a
    result, logs and notes.

    `touched` is what the tool's process was seen to touch, as (kind of permission, path or host),
    where it was watched.
    """

    result: JsonValue = None
    logs: str = ""
    notes: tuple[str, ...] = ()
    touched: tuple[tuple[str, str], ...] = ()
