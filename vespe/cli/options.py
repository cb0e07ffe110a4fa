"""Options that several verbs share, so that they read and behave the same everywhere."""

import contextlib
import functools
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

import click

from vespe import defaults, errors
from vespe.cli.wrapping import wrap
from vespe.projects.workspace import find_root

F = TypeVar("F", bound=Callable[..., Any])

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document to stdout."
)
_TELL_THEMSELVES: Final = ("trust", "untrust", "doctor", "completion")


def _warn_of_what_is_new(
    context: click.Context, _: click.Parameter, project_dir: str | None
) -> str | None:
    """Warn of what calls have left in the project that other programs take commands from."""
    if context.resilient_parsing or context.info_name in _TELL_THEMSELVES:
        return project_dir
    from vespe.cli import report
    from vespe.files import unreviewed

    with contextlib.suppress(errors.VespeError):  # the verb says what is wrong
        if new := unreviewed.left(find_root(project_dir)):
            report.warn(unreviewed.sentence(new))
    return project_dir


project_option = click.option(
    "--project",
    "project_dir",
    callback=_warn_of_what_is_new,
    metavar="DIR",
    help="The project's directory; default: VESPE_PROJECT, or the nearest parent directory "
    "that contains .vespe/.",
)
yes_option = click.option(
    "--yes", "-y", is_flag=True, help="Do not ask for confirmation; required without a terminal."
)
trust_option = click.option(
    "--trust", "trusted", is_flag=True, help="Trust this project for this one command (for CI)."
)

header_option = click.option(
    "--header",
    "headers",
    multiple=True,
    metavar="'NAME: VALUE'",
    help="A header for --url; a secret in it is ${env:NAME}. May be repeated.",
)
login_option = click.option(
    "--login",
    metavar="KIT",
    help="For --url: send the token of your login to the kit KIT (`vespe mcp login`).",
)


def refuse_two_tokens(login: str | None, headers: Mapping[str, str]) -> None:
    """Raise UsageError where `--login` and a `--header` both say what a server is authorized by."""
    if login is not None and "authorization" in map(str.lower, headers):
        raise errors.UsageError(
            "--login and --header 'Authorization: …' cannot be combined", hint="use one of them"
        )


def login_client_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how a login is made. The verb gets them in one parameter, `client`:
    `client_id`, `secret_name`, `host`, `port` and `no_browser`.
    """

    @functools.wraps(function)
    def command(*, host: str | None, **given: Any) -> Any:
        client = {key: given.pop(key) for key in _KEYS_OF_LOGIN_CLIENT} | {"host": host or ""}
        return function(client=client, **given)

    decorated: Callable[..., Any] = command
    for decorate in reversed(_OF_LOGIN_CLIENT):
        decorated = decorate(decorated)
    return decorated


_KEYS_OF_LOGIN_CLIENT: Final = ("client_id", "secret_name", "port", "no_browser")
_OF_LOGIN_CLIENT: Final = (
    click.option(
        "--client-id",
        default="",
        metavar="ID",
        help="The OAuth client that you registered at the authorization server; default: Vespe "
        "registers one.",
    ),
    click.option(
        "--client-secret",
        "secret_name",
        default="",
        metavar="NAME",
        help="The name of the secret with this client's password (`vespe secret set NAME`).",
    ),
    click.option(
        "--redirect-host",
        "host",
        type=click.Choice(defaults.REDIRECT_HOSTS),
        default=None,
        help="The host in the redirect URL, if the authorization server requires a certain one; "
        f"default: {defaults.REDIRECT_HOSTS[0]}.",
    ),
    click.option(
        "--port",
        type=int,
        default=0,
        metavar="PORT",
        help="The port of the redirect URL http://127.0.0.1:PORT/callback, if the authorization "
        "server requires a fixed one; default: any free port.",
    ),
    click.option(
        "--no-browser",
        is_flag=True,
        help="Print the URL of a login instead of opening it, and ask for the address at which "
        "the browser ends.",
    ),
)


def confirm(question: str, *, yes: bool, listed: bool = False) -> None:
    """Ask before something is destroyed or approved; raises Refused where nobody can answer, or the
    answer is no. `listed` says that what the question is about was printed before.
    """
    if yes:
        return
    if not interactive():
        raise errors.Refused(
            f"this needs your confirmation, and there is no terminal to ask on: {question}",
            hint=f"{'review what is listed above, then ' if listed else ''}run it again with --yes",
        )
    if not click.confirm(wrap(question, sys.stderr), default=False, err=True):
        raise errors.Refused("cancelled: you answered no")


def interactive() -> bool:
    """Whether there is a person to ask: a terminal on stdin and stderr, and no CI."""
    return os.isatty(0) and os.isatty(2) and not os.environ.get("CI")


user_option = click.option(
    "--user",
    is_flag=True,
    help="Use the kits that you installed for all your projects instead of this project's.",
)


def lock_of(project_dir: str | None, *, user: bool) -> str:
    """Return the path of the project's lock, or of the user's own; raises ProjectNotFound."""
    from vespe.kits import lock

    return lock.user_lock() if user else lock.project_lock(find_root(project_dir))
