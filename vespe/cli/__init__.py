"""The command line: a group that loads a verb's module when the verb is used."""

import importlib
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any, Final

import click

from vespe import defaults
from vespe.cli import boundary
from vespe.cli.verbs import ABSENT, ALIASES, EXAMPLES, GROUPS, NEVER_SUGGESTED, VERBS
from vespe.errors import MissingFeature


class HelpPage(click.HelpFormatter):
    """A page of help: headings and names in colour on a terminal, and examples that stay on one
    line, to be copied.
    """

    def write_heading(self, heading: str) -> None:
        """Write a heading."""
        super().write_heading(_coloured(heading, bold=True))

    def write_dl(self, rows: Iterable[tuple[str, str | None]], *spacing: int, **named: int) -> None:
        """Write a list of names and what they mean."""
        super().write_dl(
            [(_coloured(name, fg="cyan"), text or "") for name, text in rows], *spacing, **named
        )

    def write_text(self, text: str) -> None:
        """Write a paragraph."""
        if text.startswith("Example: "):
            self.write(f"{text}\n")
        else:
            super().write_text(text)


class _Context(click.Context):
    formatter_class = HelpPage


def _coloured(text: str, **style: Any) -> str:
    from vespe.cli import report

    return click.style(text, **style) if report.is_coloured(sys.stdout) else text


class LazyGroup(click.Group):
    """A group that knows its verbs' names and one-line helps, and imports a verb's module when it
    is called for.
    """

    context_class = _Context

    def __init__(self, *args: Any, table: dict[str, Any], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs in the order of the table."""
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one verb, or None where there is no such verb."""
        if cmd_name not in self.table:
            return None
        first, second = self.table[cmd_name]
        if isinstance(second, dict):
            example = EXAMPLES.get(cmd_name)
            return LazyGroup(
                name=cmd_name,
                help=first,
                table=second,
                no_args_is_help=True,
                epilog=f"Example: {example}" if example else None,
            )
        command: click.Command = importlib.import_module(first).command
        command.context_class = _Context
        if not any(parameter.name == "no_color" for parameter in command.params):
            command.params.append(click.Option(["--no-color"], **_NO_COLOR))
        return _completed(command, cmd_name) if "_VESPE_COMPLETE" in os.environ else command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb, by its name or by another word that people type for it; for a mistyped one
        the nearest is named.
        """
        name = args[0]
        if name in self.table or name.startswith("-"):
            return super().resolve_command(ctx, args)
        if meant := self.aliases.get(name):
            return super().resolve_command(ctx, [*meant.split(), *args[1:]])
        typed = f"{ctx.command_path} {name}"
        if (words := typed.partition(" ")[2]) in ABSENT:
            raise MissingFeature(ABSENT[words])
        error = click.UsageError(f"there is no command {typed}", ctx)
        error.hint = self._meant(ctx, name)  # type: ignore[attr-defined]  # the boundary reads it
        raise error

    @property
    def aliases(self) -> dict[str, str]:
        """The words that stand for a verb here, and for which."""
        return ALIASES.get("" if self.table is VERBS else str(self.name), {})

    def _meant(self, ctx: click.Context, name: str) -> str:
        from vespe.documents.near import near

        if (self.table is VERBS or self.name == "tool") and _is_tool(name):
            return f"`vespe tool run {name}` runs the tool, `vespe tool show {name}` describes it"
        known = {verb: verb for verb in self.table} | self.aliases
        found = list(dict.fromkeys(known[word] for word in near(name, known)))
        if not found:
            return _of_another_group(name)
        if NEVER_SUGGESTED & set(found[0].split()):
            return ""
        offered = [
            f"`{ctx.command_path} {verb}`"
            for verb in found
            if not NEVER_SUGGESTED & set(verb.split())
        ]
        return f"did you mean {' or '.join(offered)}?"

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of verbs from the table alone: no verb is imported for a help page."""
        groups = GROUPS if self.table is VERBS else {}
        rest = tuple(
            name for name in self.table if not any(name in names for names in groups.values())
        )
        for heading, names in [
            *groups.items(),
            *([("More" if groups else "Commands", rest)] if rest else []),
        ]:
            with formatter.section(heading):
                entries = {name: self.table[name] for name in names}
                formatter.write_dl(
                    [
                        (name, entry[0] if isinstance(entry[1], dict) else entry[1])
                        for name, entry in entries.items()
                    ]
                )


def _is_tool(name: str) -> bool:
    """Say whether the project here has a tool of that name."""
    from vespe.errors import VespeError
    from vespe.projects.workspace import open_workspace

    try:
        open_workspace().resolve_seen(name)
        return True
    except VespeError:
        return False


def _of_another_group(name: str) -> str:
    """Return a question that names the verbs of that name in all groups; "" for none."""
    offered = [
        f"`vespe {group} {name}`"
        for group, (_, verbs) in VERBS.items()
        if isinstance(verbs, dict) and name in verbs and name not in NEVER_SUGGESTED
    ]
    return f"did you mean {' or '.join(offered)}?" if offered else ""


def _completed(command: click.Command, name: str) -> click.Command:
    from vespe.cli import completion

    return command if name == "create" else completion.attach(command)


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
    epilog="Example: vespe init && vespe kit list",
)
@click.version_option(defaults.VERSION, "--version", "-V", prog_name="vespe")
@click.option("--no-color", **_NO_COLOR)
def group() -> None:
    """Manage the tools that LLM agents call: define each one once, check it, run it safely, and use
    it with every model API.
    """


def main(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code."""
    exports = any(name.startswith("OTEL_EXPORTER_") for name in os.environ)
    return boundary.guarded(_exporting if exports else _run, arguments, named=_named)


def _named(arguments: Sequence[str]) -> tuple[str, bool]:
    """Return the command that a command line begins with, and whether it is a group: click does not
    say it of every mistake.
    """
    path, table = "vespe", VERBS
    for word in arguments:
        if not isinstance(table, dict) or word not in table:
            break
        path, table = f"{path} {word}", table[word][1]
    return path, isinstance(table, dict)


def _run(arguments: Sequence[str]) -> Any:
    return group.main(list(arguments), prog_name="vespe", standalone_mode=False)


def _exporting(arguments: Sequence[str]) -> Any:
    from vespe.calls import otlp
    from vespe.cli import report

    return otlp.exporting(_run, report.note)(arguments)
