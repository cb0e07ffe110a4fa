"""The one place where errors become sentences, JSON and exit codes."""

import contextlib
import errno
import os
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

import click

from vespe import defaults, errors
from vespe.lazy import pattern, traceback
from vespe.processes import signals

EXIT_CODES: Final[tuple[tuple[type[errors.VespeError], int], ...]] = (
    (errors.UsageError, 2),
    (errors.MissingExtra, 2),
    (errors.MissingFeature, 2),
    (errors.NotFound, 3),
    (errors.InvalidDocument, 4),
    (errors.InvalidArguments, 5),
    (errors.Refused, 6),
    (errors.ToolExecutionError, 1),
    (errors.ProviderError, 1),
    (errors.StreamError, 1),
    (errors.TimedOut, 124),
    (errors.Interrupted, 130),
    (errors.StorageError, 1),
    (errors.SourceUnavailable, 1),
)
"""Exit codes by class, the first match counts (design, section 6)."""
EXIT_FAILED: Final = 1
EXIT_BUG: Final = 70
EXIT_SIGNAL: Final = 128
"""Plus the number of the signal that ended the command: 130 for Ctrl-C, 143 for TERM, 129 for
HUP.
"""
EXIT_BROKEN_PIPE: Final = 141
_APPROVING: Final = ("--yes", "--trust", "--allow", "--no-token", "--approve")
"""How options begin that say yes to something: nobody who mistypes another one is led to them."""
_TOO_MANY: Final = pattern(r"Got unexpected extra arguments? \((.*)\)", re.DOTALL)
_COMMON: Final = ("--json", "--project", "--no-color")
_FEW_OPTIONS: Final = 5
_UNTYPED: Final = pattern("is not a valid (float|integer)(?: range)?")

CODES: Final[dict[str, int]] = {
    error.code: next(code for parent, code in EXIT_CODES if issubclass(error, parent))
    for error in vars(errors).values()
    if isinstance(error, type)
    and issubclass(error, errors.VespeError)
    and error is not errors.VespeError
}
"""Exit codes by the `code` of an Outcome's error."""


_Named = Callable[[Sequence[str]], tuple[str, bool]]


def exit_code(error: errors.VespeError) -> int:
    """Return the exit code of an error of ours."""
    return next((code for parent, code in EXIT_CODES if isinstance(error, parent)), EXIT_FAILED)


def guarded(
    command: Callable[[Sequence[str]], int | None],
    arguments: Sequence[str],
    *,
    named: _Named = lambda _: ("vespe", True),
) -> int:
    """Run the command and give its exit code; whatever is raised becomes a sentence on stderr, or
    JSON on stdout.

    With `--json` among the arguments stdout is exactly one document: the command's, or
    `{"error": …}`. A stdin that is closed is an empty one.
    """
    if sys.stdin is None:
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_RDONLY), encoding="utf-8")
    output = sys.stdout = _Output(sys.stdout)
    try:
        return _run(command, arguments, named)
    except _Unwritable as failure:
        return _unwritten(failure.error)
    finally:
        sys.stdout = output.stream


def _run(
    command: Callable[[Sequence[str]], int | None], arguments: Sequence[str], named: _Named
) -> int:
    try:
        with signals.raise_on_signals():
            code = command(arguments) or 0
            sys.stdout.flush()
            return code
    except (KeyboardInterrupt, click.Abort, errors.Interrupted) as interruption:
        return _interrupted(signals.signal_of(interruption))
    except click.exceptions.NoArgsIsHelpError as page:
        click.echo(page.format_message())
        return 2
    except click.exceptions.Exit as done:
        return done.exit_code
    except (click.ClickException, errors.VespeError) as error:
        return _told(error, arguments, named)
    except _Unwritable:
        raise
    except Exception:
        # Libraries that a signal interrupts, while they are imported above all, raise what they
        # like; Python itself a RuntimeError: https://github.com/python/cpython/issues/77757
        return _interrupted(number) if (number := signals.raised()) else _bug(arguments)


class _Unwritable(Exception):
    """Stdout does not take what a command prints; unlike an OSError nothing on the way takes it for
    its own.
    """

    def __init__(self, error: OSError) -> None:
        super().__init__(str(error))
        self.error = error


class _Output:
    """Stdout, whose failures are told apart from every other OSError; a closed one takes
    nothing.
    """

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        return int(self._attempt("write", text))

    def flush(self) -> None:
        self._attempt("flush")

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name) if self.stream is not None else _nowhere(name)

    def _attempt(self, action: str, *arguments: str) -> Any:
        if self.stream is None:
            if not any(arguments):
                return 0
            raise _Unwritable(OSError(errno.EBADF, os.strerror(errno.EBADF)))
        try:
            return getattr(self.stream, action)(*arguments)
        except OSError as error:
            raise _Unwritable(error) from None


def _nowhere(name: str) -> Any:
    """What a stdout that is closed answers: it is no terminal, and its name for text is UTF-8."""
    known: dict[str, Any] = {"isatty": lambda: False, "encoding": "utf-8", "errors": "replace"}
    if name not in known:
        raise AttributeError(name)
    return known[name]


def _interrupted(number: int) -> int:
    from vespe.cli import report

    _discard_stdout()
    with contextlib.suppress(OSError):
        report.note("interrupted")
    return EXIT_SIGNAL + number


def _unwritten(error: OSError) -> int:
    from vespe.cli import report

    _discard_stdout()
    if isinstance(error, BrokenPipeError):
        return EXIT_BROKEN_PIPE
    report.error(f"cannot write to stdout: {error.strerror}")
    return EXIT_FAILED


def _told(
    error: click.ClickException | errors.VespeError, arguments: Sequence[str], named: _Named
) -> int:
    from vespe.cli import report

    code, document = (
        _usage(error, arguments, named)
        if isinstance(error, click.ClickException)
        else _failure(error)
    )
    if "--json" in _options(arguments):
        report.emit_json({"error": document})
        sys.stdout.flush()
    else:
        report.error(document["message"], document.get("hint", ""))
    return code


def _usage(
    error: click.ClickException, arguments: Sequence[str], named: _Named
) -> tuple[int, dict[str, Any]]:
    context = getattr(error, "ctx", None)
    path, is_group = (
        named(arguments)
        if context is None
        else (context.command_path, isinstance(context.command, click.Group))
    )
    hint = f"`{path} --help` {'lists the commands' if is_group else 'shows its arguments'}"
    return 2, {
        "code": "usage",
        "message": _said(error).rstrip("."),
        "hint": getattr(error, "hint", "") or _meant(error) or hint,
    }


def _said(error: click.ClickException) -> str:
    if isinstance(error, click.NoSuchOption):
        return f"there is no option {error.option_name}"
    if too_many := _TOO_MANY.fullmatch(error.message):
        return f"too many arguments: {too_many[1]}"
    said, choose, words = error.format_message().partition(". Choose from:")
    said = _UNTYPED.sub(lambda found: f"is not a {'whole ' * (found[1] == 'integer')}number", said)
    return f"{said}: choose one of {' '.join(words.split())}" if choose else said


def _meant(error: click.ClickException) -> str:
    """Return a question that names the nearest words, where a word of a list was mistyped."""
    from vespe.documents.near import suggest

    if isinstance(error, click.NoSuchOption):
        if error.option_name == "-v" and error.ctx is not None and error.ctx.parent is None:
            return "`vespe -V` shows the version"
        if error.option_name == "--project" and error.ctx is not None and error.ctx.parent is None:
            return "put it behind the command: `vespe tool list --project DIR`"
        return suggest(
            error.option_name,
            [name for name in error.possibilities or () if not name.startswith(_APPROVING)],
        )
    context = getattr(error, "ctx", None)
    if context is not None and (too_many := _TOO_MANY.fullmatch(error.message)):
        return _taken(context, too_many[1].split())
    kind = getattr(getattr(error, "param", None), "type", None)
    if isinstance(error, click.BadParameter) and isinstance(kind, click.Choice):
        return suggest(
            error.message.partition("'")[2].partition("' is not one of")[0], map(str, kind.choices)
        )
    return ""


def _taken(context: click.Context, extra: Sequence[str]) -> str:
    """Say which arguments a command takes, to somebody who gave the words `extra` besides."""
    options = [
        name
        for one in context.command.params
        if isinstance(one, click.Option) and not one.hidden
        for name in one.opts
        if name.startswith("--") and not name.startswith((*_APPROVING, *_COMMON))
    ]
    if meant := [name for name in options if name.removeprefix("--") in extra]:
        return f"did you mean {meant[0]}?"
    pieces = context.command.collect_usage_pieces(context)
    taken = " ".join(piece for piece in pieces if piece != context.command.options_metavar)
    command = context.command_path
    if not taken:
        if 0 < len(options) <= _FEW_OPTIONS:
            return f"`{command}` takes only options: {', '.join(options)}"
        return f"`{command}` takes only options; `{command} --help` shows them"
    return f"`{command}` takes only {taken}; put a value that has spaces in quotes"


def _failure(error: errors.VespeError) -> tuple[int, dict[str, Any]]:
    document: dict[str, Any] = {"code": error.code, "message": str(error)}
    if error.hint:
        document["hint"] = error.hint
    return exit_code(error), document | {
        key: value for key, value in error.details.items() if key not in document
    }


def _options(arguments: Sequence[str]) -> Sequence[str]:
    return arguments[: arguments.index("--")] if "--" in arguments else arguments


def _discard_stdout() -> None:
    """Point stdout at nowhere, so that nothing more reaches it, not even when the interpreter
    flushes at its end.
    """
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _bug(arguments: Sequence[str]) -> int:
    from vespe.cli import report

    text = traceback.format_exc()
    verbs = [a for a in arguments if not a.startswith("-")][:2]
    report.note(
        "this is a bug in Vespe; please report it with the lines below\n"
        f"  vespe {defaults.VERSION}, Python {sys.version}, {sys.platform}\n"
        f"  command: vespe {' '.join(verbs)}\n{text}"
    )
    if "--json" in _options(arguments):
        report.emit_json(
            {
                "error": {
                    "code": "bug",
                    "message": text.strip().splitlines()[-1],
                    "hint": "please report it",
                }
            }
        )
        sys.stdout.flush()
    return EXIT_BUG
