"""The command line: a group that loads a verb's module when the verb is used."""

import importlib
import os
from collections.abc import Sequence
from typing import Any, Final

import click

from vespe import defaults
from vespe.cli import boundary
from vespe.cli.verbs import VERBS
from vespe.lazy import difflib


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
