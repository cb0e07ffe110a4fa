"""`vespe completion`: the script that teaches a shell to complete vespe's words."""

import sys

import click
from click.shell_completion import get_completion_class

from vespe.cli import report

_HOW = {
    "bash": """echo 'eval "$(vespe completion bash)"' >> ~/.bashrc""",
    "zsh": """echo 'eval "$(vespe completion zsh)"' >> ~/.zshrc""",
    "fish": "vespe completion fish > ~/.config/fish/completions/vespe.fish",
}


@click.command("completion", epilog='Example: eval "$(vespe completion bash)"')
@click.argument("shell", type=click.Choice(list(_HOW)))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print the completion script of a shell: commands, options, tools and their arguments, kits, settings and rules."""
    made = get_completion_class(shell)
    assert made is not None, shell
    click.echo(made(context.find_root().command, {}, "vespe", "_VESPE_COMPLETE").source())
    if sys.stdout.isatty():
        report.note(f"to install it: {_HOW[shell]}")
