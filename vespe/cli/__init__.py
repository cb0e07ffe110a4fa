"""The command line: a group whose table of verbs names a module each, loaded when the verb is used."""

import importlib
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from vespe import defaults
from vespe.cli import boundary
from vespe.deferred import deferred

if TYPE_CHECKING:
    import difflib
else:
    difflib = deferred("difflib")

TOOL: Final = {
    "create": ("tool_create", "Make a tool that runs at once, from a template or from a Python function."),
    "import": ("tool_import", "Make tools from a file of another API's definitions."),
    "list": ("tool_list", "List the tools that a model would see here."),
    "show": ("tool_show", "Show one tool, in Vespe's or a model API's shape."),
    "resolve": ("tool_resolve", "Say which tool a name means here, and why."),
    "run": ("tool_run", "Check the arguments and run a tool."),
    "test": ("tool_test", "Run the examples of tools as tests."),
    "fuzz": ("tool_fuzz", "Run a tool with generated arguments, to find what breaks it."),
    "diff": ("tool_diff", "Say whether a tool's next version breaks its callers."),
    "edit": ("tool_edit", "Open a tool's files in your editor, then check them."),
    "rename": ("tool_rename", "Give a project tool another name."),
    "copy": ("tool_copy", "Copy any tool into the project."),
    "remove": ("tool_remove", "Remove a project tool."),
}
KIT: Final = {
    "list": ("kit_list", "List every kit, its root and whether it is active."),
    "show": ("kit_show", "Show one kit and its tools."),
    "create": ("kit_create", "Make a new kit with one working tool."),
    "activate": ("kit_activate", "Make a kit's tools available in this project."),
    "deactivate": ("kit_deactivate", "Take a kit's tools away from this project."),
}
CONFIG: Final = {
    "get": ("config_get", "Print one setting."),
    "set": ("config_set", "Set one of your own settings."),
    "list": ("config_list", "List the settings."),
}
VERBS: Final[dict[str, Any]] = {
    "init": ("init", "Make this directory a project."),
    "tool": ("Make, list, resolve, run and test tools.", TOOL),
    "kit": ("List, show, make and activate kits.", KIT),
    "lint": ("lint", "Find what a model's API, a model, or Vespe would stumble over."),
    "export": ("export", "Print tools in a model API's shape."),
    "trust": ("trust", "Show what a project would run, then approve it."),
    "untrust": ("untrust", "Take back every approval of a project."),
    "config": ("Read and change your own settings.", CONFIG),
    "log": ("log", "Show this project's calls."),
    "doctor": ("doctor", "Check the installation and the project."),
    "demo": ("demo", "Watch Vespe work in a fresh temporary project."),
    "completion": ("completion", "Print the completion script of a shell."),
}


class LazyGroup(click.Group):
    """A group that knows its verbs' names and one-line helps, and imports a verb's module when it is called for."""

    def __init__(self, *args: Any, table: dict[str, Any], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs in the order of the table."""
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and give one verb, or None where there is no such verb."""
        if cmd_name not in self.table:
            return None
        first, second = self.table[cmd_name]
        if isinstance(second, dict):
            return LazyGroup(name=cmd_name, help=first, table=second, no_args_is_help=True)
        command: click.Command = importlib.import_module(f"vespe.cli.{first}").command
        if not any(parameter.name == "no_color" for parameter in command.params):
            command.params.append(click.Option(["--no-color"], **_NO_COLOR))
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb; for a mistyped one the nearest ones are named."""
        name = args[0]
        if name in self.table or name.startswith("-"):
            return super().resolve_command(ctx, args)
        close = difflib.get_close_matches(name, self.table)
        meant = f"; did you mean {' or '.join(close)}?" if close else ""
        raise click.UsageError(f"there is no command {ctx.command_path} {name}{meant}", ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of verbs from the table alone: no verb is imported for a help page."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry[0] if isinstance(entry[1], dict) else entry[1]) for name, entry in self.table.items()])


def _no_color(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        os.environ["NO_COLOR"] = "1"


_NO_COLOR: Final[dict[str, Any]] = {
    "is_flag": True,
    "expose_value": False,
    "is_eager": True,
    "callback": _no_color,
    "help": "Print without colour (as NO_COLOR=1 does).",
}


@click.group(
    cls=LazyGroup,
    table=VERBS,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Example: vespe init && vespe kit activate file_io_without_git && vespe tool list",
)
@click.version_option(defaults.VERSION, prog_name="vespe")
@click.option("--no-color", **_NO_COLOR)
def group() -> None:
    """Manage the tools that LLM agents call: one definition, resolved, checked, bounded, for every model API."""


def main(arguments: Sequence[str]) -> int:
    """Run one command line and give its exit code."""
    return boundary.guarded(lambda given: group.main(list(given), prog_name="vespe", standalone_mode=False), arguments)
