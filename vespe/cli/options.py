"""Options that several verbs share, so that they read and behave the same everywhere."""

import os
from collections.abc import Callable
from typing import Any, TypeVar

import click

from vespe import errors

F = TypeVar("F", bound=Callable[..., Any])

json_option = click.option("--json", "as_json", is_flag=True, help="Print exactly one JSON document on stdout.")
project_option = click.option(
    "--project",
    "project_dir",
    metavar="DIR",
    help="The project's directory; default: the nearest one above that has .vespe/ (or VESPE_PROJECT).",
)
yes_option = click.option("--yes", "-y", is_flag=True, help="Do it without asking; needed where there is no terminal.")
trust_option = click.option("--trust", "trusted", is_flag=True, help="Trust this project for this one command (for CI).")


def confirmed(question: str, *, yes: bool) -> None:
    """Ask before something is destroyed or approved; raises Refused where nobody can answer, or the answer is no."""
    if yes:
        return
    if not interactive():
        raise errors.Refused(f"{question.rstrip('?')}: not without a yes, and there is no terminal to ask on", hint="say it with --yes")
    if not click.confirm(question, default=False, err=True):
        raise errors.Refused("not done: the answer was no")


def interactive() -> bool:
    """Whether a person is there who can be asked."""
    return os.isatty(0) and os.isatty(2) and not os.environ.get("CI")
