"""A project as a program has it: its tools, its own functions beside them, and one call path for
all of them.
"""

import os
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from vespe import errors, features
from vespe.calls.in_process import in_thread
from vespe.calls.path import CallPath, open_path
from vespe.calls.registry import ToolRegistry
from vespe.models import Call, Entry, JsonObject, Outcome, ProjectConfig, Resolution, Tool
from vespe.projects import project as projects
from vespe.projects.workspace import Workspace, fingerprint, open_workspace, workspace_of

if TYPE_CHECKING:
    from vespe.library.new_tools import ToolDraft
    from vespe.processes.workers import Workers
    from vespe.types.mcp_tool.sessions import Sessions

_Given = TypeVar("_Given")
_Found = TypeVar("_Found", Tool, Resolution)


class Project:
    """A project: its own tools, its active kits and the program's functions. All calls have the
    same checks, limits and log.

    `path` is the directory that contains `.vespe/`, or one below it. None searches from the working
    directory upwards (or uses `VESPE_PROJECT`). A ProjectConfig is used instead of the file on
    disk; without a `root` it has only its active kits and needs no project. `registry` contains
    in-process implementations. With `trusted=True` the caller vouches for the project, like
    `--trust` on the command line. Tools are read from disk for each call, the configuration and the
    kits when they change. Raises ProjectNotFound if there is no project, InvalidDocument if the
    configuration cannot be read.

    In a `with` block, sessions with MCP servers, interpreters of Python tools, the open log and the
    approvals are kept from one call to the next.

    ```python
    from vespe import Project

    with Project.init(".") as project:
        project.create_tool("count", type="python_script")
        assert project.call("count", text="one two").unwrap()["words"] == 2
        assert "count" in [tool.name for tool in project.list_tools()]
    ```
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | ProjectConfig | None = None,
        *,
        registry: ToolRegistry | None = None,
        trusted: bool = False,
    ) -> None:
        self._given = path if isinstance(path, ProjectConfig) else None
        self.registry = registry if registry is not None else ToolRegistry()
        self._path = self._opened(path, trusted=trusted)
        self.root = self._path.workspace.root
        self._stamps = fingerprint(self._path.workspace)
        self._sessions: Sessions | None = None
        self._workers: Workers | None = None

    def _opened(
        self, path: str | os.PathLike[str] | ProjectConfig | None, *, trusted: bool
    ) -> CallPath:
        """Return the call path; a configuration that is given counts as it is, and without a root
        there is no trust to ask.
        """
        if isinstance(path, ProjectConfig):
            return CallPath(
                workspace=_laid(path), registry=self.registry, trusted=trusted or not path.root
            )
        return open_path(open_workspace(path), registry=self.registry, trusted=trusted)

    def __repr__(self) -> str:
        return f"Project({self.root!r})"

    def __enter__(self) -> "Project":
        from vespe.processes.workers import Workers
        from vespe.types.mcp_tool.sessions import Sessions

        if self._sessions is None:
            self._sessions, self._workers = Sessions(), Workers()
            self._path = replace(self._path, sessions=self._sessions, workers=self._workers)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the sessions with MCP servers, the interpreters and the open log, which are kept
        between calls. The project can still be used.
        """
        if self._sessions is not None and self._workers is not None:
            self._sessions.close()
            self._workers.close()
            self._sessions, self._workers, self._path = (
                None,
                None,
                replace(self._path, sessions=None, workers=None),
            )
        self._path.close()

    @classmethod
    def init(
        cls, path: str | os.PathLike[str] = ".", *, registry: ToolRegistry | None = None
    ) -> "Project":
        """Create a project in a directory and trust it, because it is the caller's own. An existing
        project is only opened.
        """
        from vespe.projects.init import found_project

        return cls(found_project(path).root, registry=registry)

    @property
    def config(self) -> ProjectConfig:
        """The project's configuration: the one that was passed, or the current one on disk."""
        return self._given or projects.read_config(self.root)

    def register(self, given: _Given, *, name: str | None = None) -> _Given:
        """Register a function or an implementation of this process, and return it. This can be used
        as a decorator.

        A `@tool` function becomes a tool of the project with its own name and schema, and takes
        precedence over other tools. A plain function, or an object with `name` and `execute`,
        implements the project's tool of that name; if there is none, a plain function becomes a
        tool itself. Raises UsageError if the name is already registered or the object is not
        callable.

        ```python
        from vespe import Project, tool

        project = Project.init(".")

        @project.register
        @tool
        def double(n: int) -> int:
            \"""Double a number.\"""
            return 2 * n

        assert project.call("double", n=21).unwrap() == 42
        ```
        """
        from vespe.library.function_tools import function_tool

        made = function_tool(given, name=name)
        self.registry.register(given if made is None else made, name=name)  # type: ignore[type-var]  # it refuses what is neither
        return given

    def create_tool(
        self,
        name: str,
        schema: JsonObject | None = None,
        implementation_details: JsonObject | None = None,
        **draft: "Unpack[ToolDraft]",
    ) -> Tool:
        """Create a project tool and trust it: from its schema and implementation, a template's
        `type`, or a `source`.

        `schema` is `{"input": …, "output": …}`, or only the input schema. `implementation_details`
        are those of config.json; without them, the function that is registered under the tool's
        name runs. See `ToolDraft` for the keywords. Raises UsageError for a name that is taken or
        invalid, InvalidTool if the tool would not load.

        ```python
        from vespe import Project

        project = Project.init(".")
        text = {"type": "string"}
        schema = {"type": "object", "properties": {"text": text}, "required": ["text"]}
        args = {"argv": ["%s!", "{text}"]}
        details = {"type": "shell_command", "entrypoint": "printf", "args": args}
        project.create_tool("shout", schema, details)
        assert project.call("shout", text="hi").unwrap() == "hi!"
        ```
        """
        from vespe.library.new_tools import drafted
        from vespe.projects import project_tools

        return project_tools.create_tool(
            self.root, drafted(name, schema, implementation_details, draft=draft)
        )

    def load_tool(self, uid: str) -> Tool:
        """Load a tool by its uid, name or `scope/name`; raises ToolNotFound, AmbiguousTool or
        InvalidTool.
        """
        return self._found(uid, self._workspace().tool)

    def get_tool(self, name: str) -> Tool:
        """Load a tool by its name, uid or `scope/name`; the same as `load_tool`."""
        return self.load_tool(name)

    def resolve_tool(self, name: str) -> Resolution:
        """Return which tool a name resolves to, and why; raises ToolNotFound, AmbiguousTool or
        InvalidTool.
        """
        found = self._found(name, self._workspace().resolve)
        if isinstance(found, Resolution):
            return found
        entry = Entry(
            uid="",
            name=name,
            scope=found.scope,
            kit_id=None,
            type="in_process",
            description=found.description,
            path="",
        )
        return Resolution(name=name, entry=entry, reason="a function that this program registered")

    def list_available_tools(self) -> list[Tool]:
        """Load all available tools, sorted by name. Broken, shadowed and inactive tools are left
        out.
        """
        workspace = self._workspace()
        found = {str(entry.name): entry for entry in workspace.available()}
        own = self.registry.own_tools(beside=found)
        loaded = {
            name: workspace.load(entry) for name, entry in found.items() if name not in own
        } | own
        return [loaded[name] for name in sorted(loaded)]

    def list_tools(self) -> list[Tool]:
        """Load all available tools; the same as `list_available_tools`."""
        return self.list_available_tools()

    def execute_tool(
        self,
        uid: str,
        args: JsonObject | str | bytes | None = None,
        *,
        timeout_s: float | None = None,
        cancel: threading.Event | None = None,
    ) -> Outcome:
        """Check the arguments (an object, or JSON text) and run a tool, by its uid, name or
        `scope/name`.

        If a call fails or is refused, the Outcome has an error. An exception is raised only if no
        call can be made: ToolNotFound, InvalidTool, NotTrusted. `timeout_s` is the time limit in
        seconds; setting `cancel` ends the call.
        """
        call = Call(tool=uid, arguments={} if args is None else args, timeout_s=timeout_s)
        path = self._path if self._given is None else self.call_path()
        return path.run_tool(self._found(uid, path.tool), call, cancel=cancel)

    def call(self, name: str, /, **arguments: Any) -> Outcome:
        """Run a tool with keyword arguments: `project.call("search", query="x")`; see
        `execute_tool`.
        """
        return self.execute_tool(name, arguments)

    def batch(
        self,
        name: str,
        inputs: Iterable[JsonObject],
        *,
        on: str = "local",
        jobs: int = 0,
        retries: int = 0,
        timeout_s: float | None = None,
    ) -> Iterator[Outcome]:
        """Call a tool with many inputs, and yield an Outcome for each, in the same order. Memory
        use does not grow with the number of inputs.

        `on` is `local`, `dask`, `dask://HOST:PORT`, `ray` or `ray://HOST:PORT`. `jobs` is the
        number of parallel calls: by default one per core, and one for a function of this process.
        `retries` is how often a call of a read-only or idempotent tool is repeated after a
        temporary failure; `timeout_s` is the time limit of each call. Closing the iterator ends
        running calls. Raises the same errors as `execute_tool`, UsageError for another engine, and
        MissingExtra.

        ```python
        from vespe import Project, tool

        project = Project.init(".")

        @project.register
        @tool
        def double(n: int) -> int:
            \"""Double a number.\"""
            return 2 * n

        inputs = [{"n": n} for n in range(100)]
        doubled = [outcome.unwrap() for outcome in project.batch("double", inputs)]
        assert doubled == [2 * n for n in range(100)]
        ```
        """
        path = self.call_path()
        found: Iterator[Outcome] = features.load("batch", "library").outcomes(
            self._found(name, path.tool),
            inputs,
            path,
            on=on,
            jobs=jobs,
            retries=retries,
            timeout_s=timeout_s,
        )
        return found

    def run_code(self, code: str, *, timeout_s: float = 60.0, max_calls: int = 100) -> Outcome:
        """Check a Python program whose functions are the project's tools, then run it.

        The result is the value of the last expression, and `logs` is the program's output. If the
        check finds problems, nothing runs, and the error lists all of them. The program's calls
        count as your own, like those of `call`. Raises NotTrusted, and MissingExtra without
        `vespe[code]`.

        ```python
        from vespe import Project

        project = Project.init(".")
        project.create_tool("measure", type="python_script")
        code = 'sum(measure(text=line)["words"] for line in ["one two", "three"])'
        assert project.run_code(code).unwrap() == 3
        ```
        """
        made: Outcome = features.load("programs", "own_calls").run_code(
            self.call_path(), code, timeout_s=timeout_s, max_calls=max_calls
        )
        return made

    async def arun_code(
        self, code: str, *, timeout_s: float = 60.0, max_calls: int = 100
    ) -> Outcome:
        """Run a program from an event loop. Async functions run in the caller's loop, everything
        else in threads.

        Cancelling the task ends the program. See `run_code`.
        """
        made: Outcome = await features.load("programs", "own_calls").arun_code(
            self.call_path(), code, timeout_s=timeout_s, max_calls=max_calls
        )
        return made

    async def acall(self, name: str, /, **arguments: Any) -> Outcome:
        """Run a tool from an event loop. Async functions run in the caller's loop, everything else
        in a thread.

        Cancelling the task ends the call. See `execute_tool`.
        """
        return await self._aexecute(Call(tool=name, arguments=arguments))

    async def _aexecute(self, call: Call) -> Outcome:
        path = self._path if self._given is None else self.call_path()
        return await path.arun_tool(self._found(call.tool, path.tool), call)

    def aio(self) -> "AsyncProject":
        """Return an object with the project's methods as coroutines: `async with project.aio() as
        aio: await aio.call("search", query="x")`.

        `register` stays a plain method, and `batch` is an async iterator. `execute_tool` has no
        `cancel`: cancelling the task ends the call.
        """
        return AsyncProject(self)

    def call_path(self) -> CallPath:
        """Return an object that runs calls in the project in its current state."""
        if self._given is None:
            self._path = self._path.now()
        elif (now := fingerprint(self._path.workspace)) != self._stamps:
            self._path, self._stamps = replace(self._path, workspace=_laid(self._given)), now
        return self._path

    def _found(self, name: str, lookup: Callable[[str], _Found]) -> _Found | Tool:
        """Return a function that is a tool itself, else what a lookup on disk finds, else the plain
        function of that name.
        """
        own: Any = self.registry.find(name)
        if not hasattr(own, "definition"):
            return lookup(name)
        definition: Tool = own.definition
        if own.stands_alone or (self._path.live is not None and not self._path.live.has(name)):
            return definition
        try:
            return lookup(name)
        except errors.ToolNotFound:
            return definition

    def _workspace(self) -> Workspace:
        return self.call_path().workspace


def _laid(config: ProjectConfig) -> Workspace:
    """Return a configuration that is given as a workspace; without a root its tools run in the
    working directory.
    """
    workspace = workspace_of(config)
    return workspace if config.root else replace(workspace, root=os.getcwd())


class AsyncProject:
    """A project in an event loop: `async with project.aio() as aio`. What reads the disk does so in
    a thread.

    ```python
    import asyncio
    from vespe import Project, tool

    @tool
    async def double(n: int) -> int:
        \"""Double a number.\"""
        return 2 * n

    async def main() -> None:
        async with Project.init(".").aio() as aio:
            aio.register(double)
            assert (await aio.call("double", n=21)).unwrap() == 42
            assert "double" in [tool.name for tool in await aio.list_tools()]

    asyncio.run(main())
    ```
    """

    def __init__(self, project: Project) -> None:
        self.project = project

    async def __aenter__(self) -> "AsyncProject":
        self.project.__enter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close what the `async with` block kept; see `Project.close`."""
        await _beside(self.project.close)

    def register(self, given: _Given, *, name: str | None = None) -> _Given:
        """Add a function or an implementation; see `Project.register`."""
        return self.project.register(given, name=name)

    async def call(self, name: str, /, **arguments: Any) -> Outcome:
        """Run a tool; cancelling the task ends the call. See `Project.acall`."""
        return await self.project.acall(name, **arguments)

    async def execute_tool(
        self,
        uid: str,
        args: JsonObject | str | bytes | None = None,
        *,
        timeout_s: float | None = None,
    ) -> Outcome:
        """Run a tool; cancelling the task ends the call. See `Project.execute_tool`."""
        call = Call(tool=uid, arguments={} if args is None else args, timeout_s=timeout_s)
        return await self.project._aexecute(call)

    async def batch(
        self,
        name: str,
        inputs: Iterable[JsonObject],
        *,
        on: str = "local",
        jobs: int = 0,
        retries: int = 0,
        timeout_s: float | None = None,
    ) -> AsyncGenerator[Outcome, None]:
        """Call a tool with many inputs: `async for outcome in aio.batch(name, inputs)`. The inputs
        are read in a thread. Cancelling the task ends the batch with the outcome that comes next.
        See `Project.batch`.
        """
        found: Iterator[Outcome] = await _beside(
            lambda: self.project.batch(
                name, inputs, on=on, jobs=jobs, retries=retries, timeout_s=timeout_s
            )
        )
        try:
            while (outcome := await _beside(lambda: next(found, None))) is not None:
                yield outcome
        finally:
            if isinstance(found, Generator):
                await _beside(found.close)

    async def run_code(
        self, code: str, *, timeout_s: float = 60.0, max_calls: int = 100
    ) -> Outcome:
        """Run a program over the project's tools; see `Project.arun_code`."""
        return await self.project.arun_code(code, timeout_s=timeout_s, max_calls=max_calls)

    async def create_tool(
        self,
        name: str,
        schema: JsonObject | None = None,
        implementation_details: JsonObject | None = None,
        **draft: "Unpack[ToolDraft]",
    ) -> Tool:
        """Create a project tool and trust it; see `Project.create_tool`."""
        made: Tool = await _beside(
            lambda: self.project.create_tool(name, schema, implementation_details, **draft)
        )
        return made

    async def list_tools(self) -> list[Tool]:
        """Load every tool that a model would see; see `Project.list_tools`."""
        found: list[Tool] = await _beside(self.project.list_tools)
        return found

    async def list_available_tools(self) -> list[Tool]:
        """Load every tool that a model would see; the same as `list_tools`."""
        return await self.list_tools()

    async def load_tool(self, uid: str) -> Tool:
        """Load a tool by its uid, name or `scope/name`; see `Project.load_tool`."""
        found: Tool = await _beside(lambda: self.project.load_tool(uid))
        return found

    async def get_tool(self, name: str) -> Tool:
        """Load a tool by its name, uid or `scope/name`; the same as `load_tool`."""
        return await self.load_tool(name)

    async def resolve_tool(self, name: str) -> Resolution:
        """Return which tool a name resolves to, and why; see `Project.resolve_tool`."""
        found: Resolution = await _beside(lambda: self.project.resolve_tool(name))
        return found


async def _beside(work: Callable[[], Any]) -> Any:
    return await in_thread(work, leave=lambda: None)
