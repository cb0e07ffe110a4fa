"""`vespe tool run`: resolve, trust, check the arguments, run, check the output."""

import os
import sys
from dataclasses import replace

import click
from click.core import ParameterSource

from vespe import defaults, errors, features
from vespe.calls.asking import Asker
from vespe.calls.path import CallPath, refused
from vespe.calls.registry import ToolRegistry
from vespe.cli import options, outcomes, report
from vespe.cli.tool import arguments
from vespe.cli.waiting import waiting
from vespe.defaults import MAX_TIMEOUT_S
from vespe.documents import strict_json
from vespe.lazy import shlex
from vespe.models import Call, JsonObject, Outcome, Tool
from vespe.projects.workspace import open_workspace
from vespe.tools import origins


@click.command(
    "run",
    context_settings={"ignore_unknown_options": True},
    add_help_option=False,
    epilog="Example: vespe tool run write_file path=notes.txt content=@draft.txt",
)
@click.argument("name", required=False, metavar="NAME")
@click.argument("pairs", nargs=-1, metavar="[KEY=VALUE|--KEY VALUE]...")
@click.option(
    "--args",
    metavar="JSON|@FILE|-",
    help="The arguments as one JSON object, from the command line, a file or stdin.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0, MAX_TIMEOUT_S, min_open=True),
    metavar="SECONDS",
    help="The time limit; default: the tool's, or 30.",
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Check the arguments and show what would run, without running it.",
)
@click.option(
    "--background",
    is_flag=True,
    help="Start the call, print the id of its task, and return at once (see `vespe task`).",
)
@click.option(
    "--log-arguments", is_flag=True, help="Write the arguments to the log, not only their digest."
)
@click.option(
    "--save-example",
    is_flag=True,
    help="If the call succeeds, add it and its result to the tool's examples.",
)
@options.trust_option
@options.project_option
@options.json_option
@click.option(
    "-h",
    "--help",
    "helped",
    is_flag=True,
    help="Show this message, or with NAME the tool's arguments.",
)
@click.pass_context
def command(
    context: click.Context,
    name: str | None,
    pairs: tuple[str, ...],
    args: str | None,
    timeout: float | None,
    dry_run: bool,
    background: bool,
    log_arguments: bool,
    save_example: bool,
    trusted: bool,
    project_dir: str | None,
    as_json: bool,
    helped: bool,
) -> int:
    """Check the arguments and run a tool.

    KEY=VALUE and --KEY VALUE are converted to the types in the tool's schema. KEY:=JSON is raw
    JSON, and KEY=@FILE reads a file. `vespe tool run NAME --help` shows the tool's arguments.

    Give a list as JSON or repeat the key: `items=a items=b`. An object is JSON in quotes. A boolean
    is true or false; `--KEY` and `--no-KEY` also work.
    """
    if name is None or name.startswith("-"):
        return _page(context) if helped and name is None else _nameless(context, name)
    if helped:
        from vespe.cli.tool import input_help

        return input_help.show(context, open_workspace(project_dir).tool(name))
    keeping = features.load("examples", "examples") if save_example else None
    workspace = open_workspace(project_dir)
    for warning in workspace.warnings:
        report.warn(warning)
    path = CallPath(
        workspace=workspace,
        registry=ToolRegistry(),
        trusted=trusted,
        keep_arguments=log_arguments,
        progress=report.note,
        asker=_asker(),
    )
    tool = path.tool(name)
    try:
        given = arguments.gather(tool, pairs, args)
    except errors.InvalidArguments as error:
        return _answer(tool, refused(tool, error), as_json, unsaved=save_example)
    _tell_of_options(context, tool, pairs)
    call = Call(tool=tool.uid, arguments=given, timeout_s=timeout)
    if dry_run:
        report.emit_json(path.plan(tool, call))
        return 0
    if background:
        if save_example:
            raise errors.UsageError(
                "--save-example needs the result, so it cannot be used with --background"
            )
        options_of: JsonObject = {"timeout_s": timeout, "log_arguments": log_arguments}
        return _start(path, tool, given, options_of, as_json)
    with waiting(f"running {tool.name}"):
        outcome = path.run_tool(tool, call)
    if keeping is not None and outcome.ok:
        inputs = (
            given if isinstance(given, dict) else strict_json.parse_object(given, path="--args")
        )
        report.note(keeping.keep_example(tool, inputs, outcome.result))
    how = _how(tool, given, outcome)
    return _answer(tool, outcome, as_json, how=how, unsaved=save_example and not outcome.ok)


def _tell_of_options(context: click.Context, tool: Tool, pairs: tuple[str, ...]) -> None:
    """Say of each option given to the command that the tool has an input of that name."""
    given = {pair.partition("=")[0].rstrip(":") for pair in pairs}
    for option, key in arguments.options_like_inputs(context, tool).items():
        parameter = next(one for one in context.command.params if option in one.opts)
        source = context.get_parameter_source(str(parameter.name))
        if source is ParameterSource.COMMANDLINE and key not in given:
            report.note(
                f"{option} is an option of `vespe tool run`; "
                f"the input of {tool.name} is {key}=VALUE"
            )


def _start(
    path: CallPath, tool: Tool, given: JsonObject | bytes, options_of: JsonObject, as_json: bool
) -> int:
    """Start a call whose arguments fit, as a task of its own."""
    inputs = given if isinstance(given, dict) else strict_json.parse_object(given, path="--args")
    path.plan(tool, Call(tool=tool.uid, arguments=inputs))
    path.require_trust(tool)
    task = features.load("tasks", "background").start(
        tool,
        inputs,
        project=path.workspace.root,
        trusted=path.trusted,
        options=options_of,
    )
    if as_json:
        report.emit_json({"task": task})
    else:
        report.emit(task)
        report.next_step(f"`vespe task show {task} --wait` shows its result")
    return 0


def _how(tool: Tool, given: JsonObject | bytes, outcome: Outcome) -> str:
    """Say how an input is typed whose value was refused; "" where the call was taken, or came as
    JSON.
    """
    if outcome.error is None or not isinstance(given, dict):
        return ""
    pointers = [str(found["pointer"]) for found in outcome.error.details.get("violations", ())]
    return arguments.misread(
        tool, given, [pointer.split("/")[1] for pointer in pointers if pointer]
    )


def _asker() -> Asker | None:
    """Return what asks on the terminal what tools ask, or None where nobody can be asked."""
    if not options.interactive():
        return None
    from vespe.cli import questions

    return questions.answer


def _page(context: click.Context) -> int:
    click.echo(context.get_help(), color=report.is_coloured(sys.stdout))
    return 0


def _nameless(context: click.Context, name: str | None) -> int:
    raise click.UsageError(
        f"put the tool's name before {name}" if name else "Missing argument 'NAME'", context
    )


def _with_limit(tool: Tool, outcome: Outcome) -> Outcome:
    """Name the command that raises the limit, for a call of a project's tool that took longer."""
    error = outcome.error
    if (
        error is None
        or tool.scope != defaults.PROJECT_TOOLS
        or "limits.timeout_s" not in error.hint
    ):
        return outcome
    hint = (
        "raise the time limit of one call with --timeout, and of all calls with "
        f"`vespe tool set {tool.name} limits.timeout_s=SECONDS`"
    )
    return replace(outcome, error=replace(error, hint=hint))


def _answer(
    tool: Tool, outcome: Outcome, as_json: bool, *, how: str = "", unsaved: bool = False
) -> int:
    status = outcomes.answer(outcome if as_json else _with_limit(tool, outcome), as_json=as_json)
    is_refused = outcome.error is not None and outcome.error.code == errors.InvalidArguments.code
    if unsaved:
        report.note("no example was saved, because only a call that succeeds becomes one")
    if not as_json and (behind := _behind(tool, is_ok=outcome.ok)):
        report.note(behind)
    if is_refused and not as_json:
        report.next_step(
            f"{how}; " * bool(how) + f"`vespe tool run {outcome.tool} --help` shows its arguments"
        )
    return status


def _behind(tool: Tool, *, is_ok: bool) -> str:
    """Say that a tool is not what its function is now; "" if it is. After a call that went well,
    only the file that it was copied from is looked at.
    """
    if tool.scope != defaults.PROJECT_TOOLS or tool.directory is None:
        return ""
    origin = origins.compared(tool)
    if origin is not None and origin.change == "both":
        return (
            f"{origin.path}, which {tool.name} was made from, has changed, and so has the tool's "
            f"copy: `vespe tool sync {tool.name} --from {_from_here(tool, origin.path)}` "
            "overwrites the copy, and its changes are lost"
        )
    if origin is not None and origin.change == "origin":
        return (
            f"{origin.path}, which {tool.name} was made from, has changed: "
            f"`vespe tool sync {tool.name}` applies the change"
        )
    return "" if is_ok else _behind_function(tool)


def _from_here(tool: Tool, path: str) -> str:
    """Return a path from the project's root as it is typed in the working directory."""
    root = origins.project_of(tool.directory or "") or ""
    return shlex.quote(os.path.relpath(os.path.join(root, path)))


def _behind_function(tool: Tool) -> str:
    """Say what keeps a tool from calling its function: the module is gone, or the function has
    another signature now; "" if nothing does.
    """
    from vespe.tools import in_place, syncing

    if not syncing.is_synced(tool):
        return ""
    standing = in_place.standing(tool.directory or "", tool.document)
    try:
        found = syncing.synced(tool)
    except errors.VespeError:
        return ""
    if standing is None:
        details = tool.implementation
        schema = tool.document["schema"] != found.document["schema"]
        return (
            f"the function in {details.path} has other inputs or another result than the schema "
            f"of {tool.name}: `vespe tool sync {tool.name}` derives the schema again"
            if schema and details is not None and not found.conflict
            else ""
        )
    if found.gone:
        return (
            f"the module {standing.module}, which {tool.name} runs in place, no longer exists: if "
            f"it has moved, run `vespe tool sync {tool.name} --from FILE.py:{standing.function}`"
        )
    if found.is_behind:
        return (
            f"{standing.source}, which {tool.name} runs in place, has changed: "
            f"`vespe tool sync {tool.name}` derives the schema again"
        )
    return ""
