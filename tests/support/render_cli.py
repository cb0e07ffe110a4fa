"""Render docs/cli.md from the commands' own help; `python -m tests.support.render_cli` writes
it.
"""

from collections.abc import Iterator
from pathlib import Path

import click

from vespe.cli import group

PAGE = Path(__file__).resolve().parents[2] / "docs" / "cli.md"


def commands(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    """Yield every command below `command`, with its full name, in the order of the help pages."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None, name
            yield from commands(inner, f"{path} {name}")


def render() -> str:
    """Return the whole page."""
    parts = [
        "# Commands\n\nThis page is generated from the commands' own help (`./dev docs`); "
        "a test compares the two.\n"
    ]
    for path, command in commands(group, "vespe"):
        parent = (
            click.Context(click.Command(path.rpartition(" ")[0]), info_name=path.rpartition(" ")[0])
            if " " in path
            else None
        )
        context = command.context_class(
            command,
            info_name=path.rpartition(" ")[2],
            parent=parent,
            max_content_width=100,
            terminal_width=100,
            help_option_names=["-h", "--help"],
        )
        parts.append(f"## {path}\n\n```text\n{command.get_help(context)}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
