"""The tools that a project serves: what is shown, as ready-made lists, and calls of them through
one call path.
"""

import contextlib
import json
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, cast

from vespe import errors, features
from vespe.adapters.large_results import reading
from vespe.adapters.large_results.references import resolve
from vespe.adapters.mcp import McpShape
from vespe.adapters.modes import mark
from vespe.calls import policy_answers
from vespe.calls.arguments import itself
from vespe.calls.asking import AtOnce
from vespe.calls.path import RAISED, open_path, refused
from vespe.calls.policy import Question
from vespe.calls.program_place import waiting_for_person
from vespe.calls.registry import ToolRegistry
from vespe.calls.taint import Taint, copied
from vespe.documents import strict_json
from vespe.features.mcp.server import pages, revisions, snapshot
from vespe.features.mcp.server import resources as server_resources
from vespe.features.mcp.server.call_client import CallClient
from vespe.features.mcp.server.selection import Selection
from vespe.features.mcp.server.served_client import ServedClient
from vespe.features.mcp.server.snapshot import ApprovalWanted, Looking, Snapshot
from vespe.features.mcp.server.task_calls import TaskCalls
from vespe.features.mcp.server.tool_results import Called
from vespe.models import Call, JsonObject, JsonValue, Outcome, Tool
from vespe.processes.workers import Workers
from vespe.projects.kept_entries import KeptEntries
from vespe.projects.open_project import OpenProject
from vespe.projects.workspace import Workspace
from vespe.types.mcp_tool.sessions import Sessions

if TYPE_CHECKING:
    from vespe.adapters.large_results.handles import LargeResults
    from vespe.calls.bridge import Bridge

_SHAPE = McpShape()


class ServedTools:
    """The tools of one project, for as many clients as there are; safe to share between threads.

    What is on disk is looked at again whenever a client lists, and whenever a called tool is not
    what it was: what is shown and what runs are never older than the question. Whoever serves them
    closes them. Raises NotTrusted where nothing of the project may run.
    """

    def __init__(
        self,
        workspace: Workspace,
        *,
        registry: ToolRegistry | None = None,
        trusted: bool = False,
        selection: Selection | None = None,
        keep_arguments: bool = False,
        directory: str | None = None,
    ) -> None:
        self._registry = registry if registry is not None else ToolRegistry()
        self._sessions, self._workers = Sessions(), Workers()
        path = open_path(
            workspace,
            registry=self._registry,
            environment=dict(os.environ),
            trusted=trusted,
            keep_arguments=keep_arguments,
            sessions=self._sessions,
        )
        self._path = replace(path, workers=self._workers, directory=directory)
        self._live = cast(OpenProject, self._path.live)
        self._live.tools.watch_at_once()
        self._lock = threading.RLock()
        self._taint = Taint()
        self._looking = Looking(
            live=self._live,
            path=self._path,
            selection=selection or Selection(),
            granted=self._live.trust.check,
            entries=KeptEntries(self._live.tools),
            taint=self._taint,
        )
        self.task_calls = (
            TaskCalls(workspace.root, self._task_wish) if features.is_present("tasks") else None
        )
        self.version = 0
        self._now = snapshot.look(self._looking, workspace, token=self._token(), before=None)
        if self._now.refusal is not None:
            raise self._now.refusal
        if self._looking.selection.mode == "auto":
            mode = "all" if self._now.bridge is None else "bridge"
            self._looking = replace(
                self._looking, selection=replace(self._looking.selection, mode=mode)
            )

    def __enter__(self) -> "ServedTools":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End what is kept between calls: the sessions with MCP servers, the interpreters, and the
        log's open file.
        """
        if self.task_calls is not None:
            self.task_calls.close()
        self._sessions.close()
        self._workers.close()
        self._path.close()

    @property
    def root(self) -> str:
        """The project's directory."""
        return self._path.workspace.root

    @property
    def left_out(self) -> tuple[str, ...]:
        """A sentence on each tool that is not shown though it could be meant."""
        return self._now.left_out

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tools that are shown, sorted; without `read_result`."""
        now = self._now
        return tuple(name for name in now.names if not now.reads_results(name))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the project's configuration names and the machine does not have."""
        return self._now.workspace.warnings

    def refresh(self) -> bool:
        """Look whether the project changed; True, and another `version`, where what clients are
        shown is another list now.
        """
        with self._lock:
            before, token = self._now, self._token()
            if token == before.token and before.still_holds(self._looking):
                return False
            try:
                workspace = self._live.workspace
                now = snapshot.look(self._looking, workspace, token=token, before=before)
            except errors.VespeError as error:
                now = snapshot.unreadable(before, error)
            changed = now is not before and snapshot.differs(before, now, text=self._text)
            self._now = now
            self.version += changed
            return changed

    def page(self, revision: str, cursor: str | None, *, elicits: bool = False) -> pages.Ready:
        """Return one page of `tools/list`: the first as it is now, the others as they were then or
        later; for a client that `elicits` with the tools that its user must allow.

        Raises ProtocolError for a cursor that is none.
        """
        if cursor is None:
            self.refresh()
        now = self._now.seen(elicits=elicits)
        start = pages.first(now.names, cursor)
        if (ready := now.pages.get((revision, start))) is not None:
            return ready
        found: list[str] = []

        def noted(name: str) -> None:
            with contextlib.suppress(errors.VespeError):  # it is another one by now
                found.append(self._text(now, revision, name))

        made = pages.page(now.names, cursor, key="tools", item=noted)
        whole = revisions.complete(made, revision, cached=True)
        return now.keep(revision, start, pages.joined(whole, "tools", found))

    def resources(self, cursor: str | None) -> JsonObject:
        """Return one page of `resources/list`: each tool's description.md."""
        self.refresh()
        now = self._now
        names = tuple(name for name in now.names if name in now.tools)
        return pages.page(
            names,
            cursor,
            key="resources",
            item=lambda name: server_resources.resource_of(now.tools[name]),
        )

    def read(self, uri: str) -> JsonObject:
        """Return the contents of one resource; raises ProtocolError where there is none."""
        self.refresh()
        if uri.startswith(revisions.SKILL_SCHEME) and self.has_skills:
            from vespe.features.mcp.server import skills

            return skills.get(self._now.tools.values(), uri).contents()
        return server_resources.contents(uri, self._now.tools)

    @property
    def has_skills(self) -> bool:
        """Whether this copy of Vespe serves the skills of kits."""
        return features.is_present("packing")

    def skills(self, cursor: str | None) -> JsonObject:
        """Return one page of `skills/list`: of the kits all of whose tools are served."""
        from vespe.features.mcp.server import skills

        self.refresh()
        return skills.page(self._now.tools.values(), cursor)

    def skill(self, uri: str) -> JsonObject:
        """Return the result of `skills/get`; raises ProtocolError where there is none."""
        from vespe.features.mcp.server import skills

        self.refresh()
        return {"skill": skills.get(self._now.tools.values(), uri).entry()}

    def input_schema(self, name: str) -> JsonObject | None:
        """Return the schema of a tool's inputs, None for a tool that is not shown."""
        tool = self._shown(name)
        return None if tool is None else tool.input_schema

    def in_process(self, name: str) -> bool:
        """Say whether the tool is code of this process."""
        item = self._now.tools.items_by_name.get(name)
        if isinstance(item, Tool):
            item = item.itself
        return item is not None and item.name in self._registry

    def call(
        self,
        name: str,
        arguments: JsonObject,
        *,
        cancel: threading.Event | None,
        progress: Callable[[str], None] | None,
        by: CallClient | None = None,
    ) -> Called:
        """Run a call of a tool that is shown; raises ToolNotFound, and NotTrusted where none is any
        more.

        What a bridge's `call_tool` is about runs as a call of its own. References to results that
        the client was shown in part are resolved before anything looks at the arguments. `by` is
        whose user is asked; raises as it does.
        """
        bridge = self._now.bridge
        if bridge is not None and name in bridge.own:
            self.refresh()
            now = self._now.seen(elicits=by is None or by.asks)
            bridge = now.bridge or bridge
            if name == bridge.program:
                outcome = self._run_program(bridge, arguments, cancel, progress, by)
                return Called(outcome, bridge.own[name])
            inner, given = bridge.inner(name, arguments)
            if inner in bridge.own:
                return Called(bridge.answer(name, arguments), bridge.own[name])
            if inner not in self._now.tools and not self._now.reads_results(inner):
                return Called(bridge.unknown(inner))
            name, arguments = inner, given
        if self._now.reads_results(name):
            client = ServedClient() if by is None else by.client
            return Called(client.results.read(arguments))
        tool = self.tool(name)
        call, results = (
            Call(tool=name, arguments=arguments),
            None if by is None else by.client.results,
        )
        outcome = self._run_given(
            tool, call, results=results, cancel=cancel, progress=progress, by=by
        )
        return self._called(outcome, tool)

    def _run_given(
        self,
        tool: Tool,
        call: Call,
        *,
        results: "LargeResults | None",
        cancel: threading.Event | None,
        progress: Callable[[str], None] | None,
        by: CallClient | None,
    ) -> Outcome:
        """Run a call as it was given: with references to the results that its client was shown in
        part.
        """
        arguments = cast(JsonObject, call.arguments)
        try:
            given, references = (
                (arguments, ())
                if results is None
                else resolve(arguments, tool.input_schema, results)
            )
        except errors.InvalidArguments as error:
            return refused(tool, error)
        origins = {one.argument: one.origin for one in references}
        call = replace(call, arguments=given)
        outcome = self._run(tool, call, cancel=cancel, progress=progress, by=by, origins=origins)
        if references:
            notes = (*map(str, references), *outcome.notes)
            outcome = replace(outcome, notes=notes)
        return outcome

    def _run_program(
        self,
        bridge: "Bridge",
        arguments: JsonObject,
        cancel: threading.Event | None,
        progress: Callable[[str], None] | None,
        by: CallClient | None,
    ) -> Outcome:
        """Run a program, whose calls ask the user."""
        from vespe.features.mcp.server import programs

        ending, results = cancel or threading.Event(), None if by is None else by.client.results
        if by is not None:
            by.begin(partial(_bound_program, bridge.program, arguments, self.root))

        def decided(tool: Tool, call: Call, client: CallClient | None) -> Outcome:
            found = self.tool(tool.name)
            return self._run_given(
                found, call, results=results, cancel=ending, progress=progress, by=client
            )

        return programs.run_program(
            bridge,  # type: ignore[arg-type]  # it runs programs
            arguments,
            path=self._now.path,
            decided=decided,
            cancel=ending,
            by=by,
        )

    def _run(
        self,
        tool: Tool,
        call: Call,
        *,
        cancel: threading.Event | None,
        progress: Callable[[str], None] | None,
        by: CallClient | None,
        origins: Mapping[str, str] = {},  # never changed
    ) -> Outcome:
        """Run a call that its user allows, where that is asked for; `origins` says where the
        arguments come from that were passed on by a handle.
        """
        arguments = cast(JsonObject, call.arguments)
        asked = by if self._looking.selection.ask != "deny" else None
        try:
            if by is not None:
                by.begin(partial(_bound, tool, arguments, self.root))
            with copied(origins):
                tool = self._allowed(tool, arguments, asked)
        except RAISED:
            raise
        except errors.VespeError as error:
            return refused(tool, error)
        path = self._now.path
        if progress is not None:
            path = replace(path, progress=progress)
        if asked is not None and asked.asks:
            asker = AtOnce(asked.reply) if asked.takes_several else asked.reply
            path = replace(path, asker=asker)
        outcome = path.run_tool(tool, call, cancel=cancel)
        self._taint.note(tool)
        return outcome

    def _allowed(self, tool: Tool, arguments: JsonObject, by: CallClient | None) -> Tool:
        """Return the tool as it may run; raises Refused where it may not, and as `by` does where
        its user is asked.
        """
        try:
            why = self._why_not(tool, arguments)
        except ApprovalWanted as wanted:
            if by is None:
                said = f"calls of {tool.name!r} need the user's approval"
                why = f"{said}, but there is no one to ask here"
            else:
                tool, why = self._asked(tool, arguments, by, wanted.question)
        if why:
            raise errors.Refused(why)
        return tool

    def _asked(
        self, tool: Tool, arguments: JsonObject, by: CallClient, question: Question
    ) -> tuple[Tool, str]:
        """Ask, and return the tool as it is after that, with what keeps it from running all the
        same: what was asked about is what runs.
        """
        before = policy_answers.digest_of(tool.itself)
        if not before:
            return (
                tool,
                f"{tool.name!r} cannot be approved, because some of its files cannot be read",
            )
        with waiting_for_person():
            by.check_allowed(question)
        now = self.tool(tool.name)
        if policy_answers.digest_of(now.itself) != before:
            return now, f"{tool.name!r} has changed since the user was asked; make the call again"
        try:
            return now, self._why_not(now, arguments)
        except ApprovalWanted:
            return now, ""

    def _why_not(self, tool: Tool, arguments: JsonObject) -> str:
        policy = self._now.policy
        return policy.why_not_as_given(tool, arguments) if policy else ""

    def _called(self, outcome: Outcome, tool: Tool) -> Called:
        could_ask = self._looking.selection.ask != "deny"
        return Called(outcome, tool, self._told_output(tool), could_ask)

    def _told_output(self, tool: Tool) -> JsonObject | None:
        """Return the output schema that clients are told of."""
        return tool.output_schema if self._looking.selection.results == "whole" else None

    def tool(self, name: str) -> Tool:
        """Return the tool that a name means now; raises as `call` does."""
        now = self._now
        if name not in now.tools or not now.still_holds(self._looking, name):
            self.refresh()
        if (tool := self._shown(name)) is None:
            self.refresh()  # it changed while it was read
            tool = self._shown(name)
        if tool is not None:
            return tool
        if (refusal := self._now.refusal) is not None:
            raise refusal
        raise errors.ToolNotFound(name[:80], hint="tools/list shows those that are served")

    def _task_wish(self, name: str) -> JsonValue:
        """Return what a tool's configuration says of tasks."""
        item = self._now.tools.items_by_name.get(name)
        tool = item if isinstance(item, Tool) else self._shown(name)
        return None if tool is None else tool.document.get("task")

    def _shown(self, name: str) -> Tool | None:
        try:
            return self._now.tools[name]
        except (errors.VespeError, KeyError):
            return None

    def _text(self, now: Snapshot, revision: str, name: str) -> str:
        """Return what a client is told of a tool, as JSON text; raises VespeError where it cannot
        be loaded any more.
        """
        texts = now.texts.setdefault(revision, {})
        if (text := texts.get(name)) is None:
            tool = reading.TOOL if now.reads_results(name) else now.declared[name]
            entry = mark(_SHAPE.definition(tool), always=name in now.at_once)
            said = revisions.tool_entry(entry, self._told_output(tool), revision)
            text = texts[name] = strict_json.compact_json(said)
        return text

    def _token(self) -> object:
        """Return what changes when trust does, or what the program registered."""
        try:
            grant = self._live.trust.check()
        except errors.NotTrusted as error:
            return str(error), self._live.trust.stamps()
        return grant.kind, tuple(self._registry.own_tools())


def _bound(tool: Tool, arguments: JsonObject, root: str) -> JsonObject:
    """Return what an answer holds for: the tool as it is, and the arguments as they would run."""
    try:
        tool, arguments = itself(tool, arguments)
    except errors.InvalidArguments:
        tool = tool.itself
    return {
        "root": root,
        "tool": policy_answers.subject(tool),
        "digest": policy_answers.digest_of(tool),
        "arguments": json.dumps(arguments, sort_keys=True),
    }


def _bound_program(name: str, arguments: JsonObject, root: str) -> JsonObject:
    """Return what an answer about a call of a program holds for; what the program calls is compared
    call by call, whatever else became of the tools that its description names.
    """
    return {"root": root, "program": name, "arguments": json.dumps(arguments, sort_keys=True)}
