"""`vespe help`: the help of a command, or a page on what several commands share."""

import sys
from typing import Final

import click

from vespe import errors
from vespe.cli import report
from vespe.documents import near

TOPICS: Final = {
    "exit-codes": """\
  0    success
  1    failure: a tool's own error, a failed test or lint rule, an error of the model provider, an agent that reached a limit, a source that cannot be reached, a full disk
  2    the command line is wrong, or an extra is missing
  3    a project, tool or kit was not found, or a name is ambiguous
  4    a file is invalid, or differs from what was pinned
  5    the schema rejects the arguments
  6    refused: not trusted, denied, declined, a missing secret or key, an address that is not allowed
  70   a bug in Vespe; the output includes a report for the issue tracker
  124  the time limit was reached
  130  interrupted with Ctrl-C (129: by SIGHUP, 143: by SIGTERM)
  141  the program that reads the output has ended
""",  # noqa: E501  # a page as it is shown
    "environment": """\
  VESPE_PROJECT        the project's directory, unless --project is given
  VESPE_KITS_PATH      directories with kits, as absolute paths separated by colons; they are searched first
  VESPE_TRUSTED_PATHS  directories whose projects are trusted, separated by colons (for CI and containers)
  VESPE_INSTALL        what `pip install` gets to install Vespe, for the CI workflow of a new kit
  NO_COLOR             set to any value: print without colour
  COLUMNS              the width of tables and help pages
  CI                   set to any value: never prompt, as without a terminal
  VISUAL, EDITOR       the editor of `vespe tool edit`
  XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_STATE_HOME, XDG_CACHE_HOME
                       where your configuration, kits, logs and caches are stored

A tool's process gets only PATH, HOME, LANG, LC_*, TERM, USER, TMPDIR, TZ and the secrets that it declares.
""",  # noqa: E501  # a page as it is shown
    "arguments": """\
  a=6           converted to the type in the tool's schema: a number if the schema says so, otherwise a string
  --a 6         the same, unless `vespe tool run` has an option of that name, such as --timeout: then only a=6
  --loud        true, for a boolean; --no-loud passes false
  tags=x tags=y a list, item by item
  a:='{"k": 1}' raw JSON
  text=@FILE    the contents of a file
  --args JSON   all arguments as one object; --args @FILE and --args - read it from a file or stdin

`vespe tool run NAME --help` shows the arguments of a tool.
""",  # noqa: E501  # a page as it is shown
    "templates": """\
  {name}        the value of an input, in argv, URLs, query values, headers and bodies
  ["--n={n}"]   a nested list is left out completely if the call does not have the input
  ${env:NAME}   a secret that the tool declares in `secrets`

Each template makes one argument, except for one that is a single list input: it makes one argument for each item. Spaces and quotes never split a value. A value that begins with - is refused, unless it follows --.
""",  # noqa: E501  # a page as it is shown
}
"""Pages of plain text by their names."""


@click.command("help", epilog="Example: vespe help tool run")
@click.argument("words", nargs=-1, metavar="[COMMAND...|TOPIC]")
@click.pass_context
def command(context: click.Context, words: tuple[str, ...]) -> None:
    """Show the help of a command, or of a topic: exit-codes, environment, arguments or
    templates.
    """
    if len(words) == 1 and words[0] in TOPICS:
        report.emit_sentence(TOPICS[words[0]].rstrip("\n"), hanging=None)
        return
    here = context.find_root()
    rest = list(words)
    while rest and isinstance(here.command, click.Group):
        name, found, rest = _step(here.command, here, rest)
        here = found.context_class(found, parent=here, info_name=name)
    click.echo(here.command.get_help(here), color=report.is_coloured(sys.stdout))
    if not words:
        report.emit_sentence(f"Topics: {', '.join(f'vespe help {name}' for name in TOPICS)}")


def _step(
    group: click.Group, context: click.Context, words: list[str]
) -> tuple[str, click.Command, list[str]]:
    try:
        name, found, rest = group.resolve_command(context, words)
    except click.UsageError as error:
        if context.parent is not None:
            raise
        topics = f"`vespe help` lists the commands; the topics are {', '.join(TOPICS)}"
        hint = near.suggest(words[0], TOPICS) or getattr(error, "hint", "") or topics
        raise errors.UsageError(f"there is no command or topic {words[0]}", hint=hint) from None
    assert name is not None and found is not None, words
    return name, found, rest
