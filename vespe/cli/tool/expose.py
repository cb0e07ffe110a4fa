"""`vespe tool expose`: say in the project's config.json what models see of its tools, and when."""

from collections.abc import Callable
from typing import Any, Final

import click

from vespe import errors
from vespe.cli import options, report
from vespe.documents import strict_json
from vespe.models import JsonObject, JsonValue
from vespe.projects import project
from vespe.projects.view import EXPOSURES, TOOLS, ViewRule
from vespe.projects.workspace import Workspace, open_workspace

_HELP: Final = {
    "always": "Declare it to models in every mode.",
    "search": "Declare it only in modes that declare every tool; in others, models find it "
    "with search_tools.",
    "never": "Hide it from models.",
}


def _exposure_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for name in reversed(EXPOSURES):
        command = click.option(f"--{name}", "expose", flag_value=name, help=_HELP[name])(command)
    return command


@click.command("expose", epilog="Example: vespe tool expose 'github/*' --search")
@click.argument("patterns", metavar="PATTERN...", nargs=-1, required=True)
@_exposure_options
@click.option("--as", "name", metavar="NAME", help="Show one tool to models under this name.")
@click.option(
    "--preset",
    "presets",
    metavar="ARG=VALUE",
    multiple=True,
    help="Set an argument to this value in every call and hide it from models; repeatable.",
)
@click.option(
    "--hide",
    "hidden",
    metavar="ARG",
    multiple=True,
    help="Hide an optional argument from models; repeatable.",
)
@click.option(
    "--description",
    metavar="TEXT",
    help="Show this description to models instead of the tool's own.",
)
@click.option("--reset", is_flag=True, help="First remove the current settings of this pattern.")
@options.project_option
@options.json_option
def command(
    patterns: tuple[str, ...], reset: bool, project_dir: str | None, as_json: bool, **given: Any
) -> int:
    """Set what models see of tools, in `tools` of .vespe/config.json. PATTERN is a tool's name or
    KIT/NAME, where * matches any string.

    The most specific pattern wins. This changes what agents, MCP clients, export and lint show. It
    does not change what you run yourself, and it never allows a call. `vespe tool list --as-models`
    shows the result, and `vespe tool resolve NAME` shows where each part comes from.
    """
    workspace = open_workspace(project_dir)
    said = _said(given)
    if not said and not reset:
        raise errors.UsageError(
            "say what models should see",
            hint=f"`vespe tool expose {patterns[0]} --never`, or --search, --always, --as NAME",
        )
    _refuse_unknown(workspace, patterns, said)

    def change(document: JsonObject) -> None:
        tools = document.setdefault(TOOLS, {})
        for pattern in patterns:
            before = {} if reset else tools.get(pattern, {})
            preset = before.get("preset", {}) | said.get("preset", {})
            hidden = list(dict.fromkeys((*before.get("hide", []), *said.get("hide", []))))
            tools[pattern] = (
                before
                | said
                | ({"preset": preset} if preset else {})
                | ({"hide": hidden} if hidden else {})
            )
            if not tools[pattern]:
                del tools[pattern]
        if not tools:
            del document[TOOLS]

    project.renew_config(workspace.root, change)
    _tell(open_workspace(workspace.root), patterns, as_json)
    return 0


def _said(given: JsonObject) -> JsonObject:
    preset = dict(map(_pair, given["presets"]))
    made = {
        "expose": given["expose"],
        "as": given["name"],
        "preset": preset or None,
        "hide": list(given["hidden"]) or None,
    }
    return {
        key: value
        for key, value in (made | {"description": given["description"]}).items()
        if value is not None
    }


def _pair(text: str) -> tuple[str, JsonValue]:
    """Read ARG=VALUE: JSON where it is some, else a string; ARG:=JSON is JSON in any case."""
    name, equals, value = text.partition("=")
    if not equals or not name.rstrip(":"):
        raise errors.UsageError(
            f"--preset {text!r} is not ARG=VALUE", hint="such as --preset owner=acme"
        )
    try:
        return name.removesuffix(":"), strict_json.parse_json(value, path="--preset")
    except errors.InvalidDocument:
        if name.endswith(":"):
            raise errors.UsageError(
                f"--preset {name}: {value!r} is not JSON",
                hint=f"write a string as {name.removesuffix(':')}=TEXT",
            ) from None
        return name, value


def _refuse_unknown(workspace: Workspace, patterns: tuple[str, ...], said: JsonObject) -> None:
    """Refuse a name that no tool has, and a new name for several; a pattern with a wildcard may be
    for what comes later.
    """
    for pattern in patterns:
        if ViewRule(pattern, {}).exact:
            workspace.resolve(pattern)
        elif "as" in said:
            raise errors.UsageError(
                f"--as is for one tool, and {pattern!r} may fit several", hint="name one tool"
            )
    if "as" in said and len(patterns) > 1:
        raise errors.UsageError(
            "--as is for one tool", hint=f"vespe tool expose {patterns[0]} --as {said['as']}"
        )


def _tell(workspace: Workspace, patterns: tuple[str, ...], as_json: bool) -> None:
    """Say which tools the patterns are about, and warn of what is wrong with what was written."""
    view = workspace.view
    rules = [rule for rule in view.rules if rule.pattern in patterns]
    found = [
        entry
        for entry in workspace.available()
        if any(rule.about(entry.name, entry.scope) for rule in rules)
    ]
    tools = [workspace.load(entry) for entry in workspace.available()]
    for pointer, message in view.wrong(tools):
        if any(pointer.startswith(rule.at()) for rule in rules):
            report.warn(message)
    if as_json:
        said = {rule.pattern: dict(rule.said) for rule in rules}
        report.emit_json(
            {
                "path": project.config_path(workspace.root),
                TOOLS: said,
                "fits": [f"{entry.scope}/{entry.name}" for entry in found],
            }
        )
        return
    report.say(
        f"wrote {project.config_path(workspace.root)}; "
        f"it applies to {report.count(len(found), 'tool')}"
    )
    report.next_step("`vespe tool list --as-models` shows what models see")
