"""The types of tools: one literal table, and the protocol that says what a type is.

Every question about a type is a member of ToolType, and `type_of` is how to ask it: nothing else is
decided by a type's name. `vespe/types/` has the types themselves.
"""

import functools
import importlib
import threading
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

from vespe.models import Execution, Implementation, JsonObject, JsonValue, Tool
from vespe.records import dataclass

if TYPE_CHECKING:
    from vespe.files.trees import TreeFile
    from vespe.processes.ask_channel import Questions
    from vespe.processes.sandbox.held import Policy
    from vespe.processes.workers import Workers
    from vespe.schemas.forms import DetailsForm

TYPES: Final = {
    "python_script": "vespe.types.python_script.PYTHON_SCRIPT",
    "shell_command": "vespe.types.shell_command.SHELL_COMMAND",
    "http_request": "vespe.types.http_request.HTTP_REQUEST",
    "mcp_tool": "vespe.types.mcp_tool.MCP_TOOL",
    "wasm": "vespe.types.wasm.WASM",
    "rust_function": "vespe.types.wasm.RUST_FUNCTION",
}
"""Where the ToolType of each `type` of `implementation_details` stands: a module, and a name in it.
This table is the only way from here up to `vespe/types/`.
"""


class Sessions(Protocol):
    """Sessions with MCP servers that are kept between calls (`vespe.types.mcp_tool.sessions`)."""

    def ask(
        self, server: Any, request: JsonObject, surroundings: Any, *, name: str, kit: str
    ) -> Any:
        """Make a call in the session with a server."""
        ...

    def enter(self, key: Hashable, make: Callable[[], AbstractContextManager[str]]) -> str:
        """Return what the context of a key gave: entered once, and left with the sessions."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What a call gives to an executor besides the tool and its inputs.

    `directory` is where the tool's approved bytes are: its own directory, or a private copy of it.
    `home` is the project itself, where `project_root` is another directory that the tool is to
    start in. `environment` is the whole environment of the child: the allow-list and the declared
    secrets. `secrets` holds the same secrets by name, for `${env:NAME}` in `args`; `renew` is given
    those that a server refused, and returns them fetched once more, None where they are the same.
    `secret_files` hold secrets of the user's, and are kept from every tool. `authorize` is given
    the URL of the kit's MCP server and a token that it refused, "" for none, and returns the access
    token to send there, "" for none.
    `timeout_s` is the deadline in seconds from now. `allow_hosts` are the private hosts that the
    user's own configuration lets HTTP tools reach. `progress` is told what takes long; `sessions`
    are those with MCP servers that are kept between calls, and `workers` the interpreters; None
    where each call has its own. `sandbox` is what the tool's process is held to, and whatever else
    it starts. `questions` answers what the tool asks a person; None where nobody can be asked.
    """

    project_root: str
    directory: str
    environment: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict)
    renew: "Callable[[Mapping[str, str]], Mapping[str, str] | None] | None" = None
    secret_files: tuple[str, ...] = ()
    authorize: "Callable[[str, str], str] | None" = None
    timeout_s: float
    allow_hosts: tuple[str, ...] = ()
    cancel: threading.Event | None = None
    progress: Callable[[str], None] | None = None
    sessions: "Sessions | None" = None
    sandbox: "Policy | None" = None
    home: str = ""
    workers: "Workers | None" = None
    questions: "Questions | None" = None


class Executor(Protocol):
    """The way to run the tools of a type: no state of a call outlives it."""

    def plan(self, tool: Tool, inputs: JsonObject, context: Context) -> JsonObject:
        """Say what would run, as data for `--dry-run` and `vespe trust`: argv, method and URL, or
        script and function.

        Raises InvalidArguments where a value does not fit its slot. Secrets stand as `${env:NAME}`.
        """
        ...

    def execute(self, tool: Tool, inputs: JsonObject, context: Context) -> Execution:
        """Run the tool once with inputs that its schema has accepted and whose defaults are filled
        in.

        Raises InvalidArguments (before anything starts), ToolExecutionError, OutputTooLarge,
        TimedOut, Interrupted, AddressRefused. Returns the raw result: its schema and its size are
        the caller's to check.
        """
        ...


def wants_to_be_kept(tool: Tool, context: Context) -> bool:
    """Whether a tool asks for a process that lives on from call to call, and somebody here can keep
    one.
    """
    return context.workers is not None and bool(tool.document.get("limits", {}).get("worker"))


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing that lint says of a tool: the code of the rule that it belongs to, the JSON Pointer
    into config.json, a sentence, and what to do about it.
    """

    code: str
    pointer: str
    message: str
    fix: str | None = None


@dataclass(frozen=True, slots=True)
class NewTool:
    """What a new tool begins with: config.json without `uid`, the other files by their path in its
    directory, and sentences for its author.
    """

    document: JsonObject
    files: "Mapping[str, TreeFile]"
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """How the source of a type becomes a WebAssembly module: `source` is the key of
    `implementation_details` that names the file, `sources` are the names and endings of all that a
    build reads.

    `module` is the key that names what is made; None where it is always `tool.wasm`.
    """

    source: str
    sources: tuple[str, ...]
    module: str | None
    language: Literal["rust", "c"]


class ToolType(Protocol):
    """All that Vespe knows of one type of tools: a type is the class that has these members, and
    its row in TYPES.

    No member has a default, so that mypy names what a type leaves out. The module that TYPES names
    is imported by every listing: it imports at its top only what is loaded then anyway, and the
    rest inside the members that need it.
    """

    files: tuple[tuple[str, str], ...]
    """The keys of `implementation_details` that name a file of the tool's own, each with what the
    name ends with. Of those that are there the first names the file without which there is no tool.
    """
    runs_own_file: bool
    """Whether that file is started as a program, and so must be executable."""
    is_python: bool
    """Whether that file is Python: the signature of the function `entrypoint` says what the schema
    is, and a `# /// script` block which packages it needs.
    """
    compiled: Compiled | None
    """How `vespe tool build` makes the module that runs; None for what is not compiled here."""
    in_allow_types: bool
    """Whether a kit can name the type in its `allow_types`."""
    network: Literal["none", "process", "own"]
    """Who sends what a tool sends: nobody, for it cannot; a process of the tool's own, which the
    sandbox holds back from hosts; or whoever else.
    """
    keeps_session: bool
    """Whether the tools of one scope share a process that lives longer than a call."""
    slots: tuple[str, ...]
    """The keys of `implementation_details` in whose texts `{name}` stands for an input."""
    has_template: bool
    """Whether `vespe tool create` makes tools of the type, by `begin`."""
    secret_keys: tuple[str, ...]
    """The keys of `implementation_details` in whose values `${env:NAME}` may stand."""

    def form(self) -> "DetailsForm":
        """Return what `implementation_details` of this type may be: what the check says and what
        the published schema has.
        """
        ...

    def executor(self) -> Executor:
        """Return what runs and plans the calls; what it needs is imported here."""
        ...

    def runs(self, details: JsonObject) -> list[JsonValue]:
        """Return the words that a review shows of what would run. None among them are left out.

        Here and below `details` are `implementation_details` as they stand, broken ones too.
        """
        ...

    def address(self, details: JsonObject) -> tuple[str, str] | None:
        """Return the URL that requests go to, after the JSON Pointer to it below `details`."""
        ...

    def effects(self, implementation: Implementation) -> Sequence[tuple[str, str]]:
        """Return what every call does to the flow of data, each effect with the reason for it."""
        ...

    def starts_process(self, args: JsonObject) -> bool:
        """Say whether a call starts a process of the tool's own: it gets an environment, and is
        held by the sandbox.
        """
        ...

    def destroys(self, details: JsonObject) -> str | None:
        """Return what every call does that destroys, as it follows "it can"; None for nothing that
        is known.
        """
        ...

    def lint(self, document: JsonObject, inputs: JsonValue) -> Iterable[Remark]:
        """Return what lint says of a config.json with `implementation_details` of this type, valid
        or not; `inputs` is the schema of the inputs as it stands. Runs nothing, and never raises.
        """
        ...

    def begin(self, type: str, name: str, *, given: Mapping[str, Any], directory: str) -> NewTool:
        """Return a tool that runs at once. `type` is the name of this type, and `given` what its
        author says in place of a template: `description`, `schema`, `path` (relative to
        `directory`), `entrypoint`, `args`.

        Raises UsageError for what cannot be.
        """
        ...

    def programs(self, implementation: Implementation, directory: str) -> tuple[str, ...]:
        """Return the programs that such a process is started with, which no permission need name;
        `directory` is the tool's.
        """
        ...


@functools.cache
def type_of(name: str) -> ToolType:
    """Return the type of that name; raises KeyError where there is none."""
    module, _, attribute = TYPES[name].rpartition(".")
    found: ToolType = getattr(importlib.import_module(module), attribute)
    return found


def type_in(details: Any) -> ToolType | None:
    """Return the type that `implementation_details` state, whatever they are; None for none that
    there is.
    """
    return find_type(details.get("type") if isinstance(details, dict) else None)


def find_type(name: object) -> ToolType | None:
    """Return the type of that name; None where there is none."""
    return type_of(name) if isinstance(name, str) and name in TYPES else None
