"""What is shown of a tool before it is approved: on stderr, inert and untruncated, since it is what
the question is about.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from vespe.cli import options, report, review_words
from vespe.cli.wrapping import wrap
from vespe.defaults import CONFIG_FILE
from vespe.documents.near import join_words
from vespe.errors import Refused
from vespe.lazy import shlex, shutil
from vespe.models import JsonObject, JsonValue
from vespe.records import json_of
from vespe.tool_types import find_type
from vespe.tools.secret_items import items_in

if TYPE_CHECKING:
    from vespe.kits.changes import ToolChange
    from vespe.trust.review import ToolReview


def document_of(tool: "ToolReview") -> JsonObject:
    """Return one reviewed tool as `trust --json` prints it."""
    said = tool.document
    return (
        json_of(tool, "uid", "name", "type", "runs", "implementation", "needs", "unpinned", "links")
        | {
            "annotations": said.get("annotations", {}),
            "permissions": said.get("permissions", {}),
            "effects": said.get("effects"),
        }
        | json_of(tool, "secrets", "hosts", "files", "problems")
        | {"secret_items": [item.to_json() for item in items_in(said.get("secrets"))]}
    )


def show(tool: "ToolReview", *, place: str | None = None) -> None:
    """Print one reviewed tool; `place` is where it can be read, by default where it was read."""
    report.say(text_of(tool, place=place or tool.directory))


def text_of(tool: "ToolReview", *, place: str) -> str:
    """Return what `show` prints of one tool; many of them printed as one text cost less. `place` ""
    is not told.
    """
    kind = report.one_line(tool.type or "no implementation of its own")
    lines = [f"\n{report.one_line(tool.name or tool.uid)}  ({kind})"]
    lines += [f"  {label:<10} {_line(value)}" for label, value in facts_of(tool, place=place)]
    return "\n".join(lines)


def facts_of(tool: "ToolReview", *, place: str) -> list[tuple[str, JsonValue]]:
    """Return all that is told of one tool beside its name and its type, each with its label."""
    rest = {
        key: value
        for key, value in sorted(tool.implementation.items())
        if key not in ("type", "path", "entrypoint", "args")
    }
    told: list[tuple[str, JsonValue]] = [
        ("about", tool.document.get("description")),
        ("runs", _runs(tool)),
        ("args", _args(tool)),
        ("also", review_words.details(rest)),
        (
            "needs",
            f"pip installs and runs at the first call: {' '.join(tool.needs)}"
            if tool.needs
            else "",
        ),
        (
            "unpinned",
            (
                f"{', '.join(tool.unpinned)}: later installations may get other code; `vespe tool "
                "lock` pins it"
            )
            if tool.unpinned
            else "",
        ),
        ("also runs", _outside(tool)),
        ("declares", review_words.hints_of(tool.document.get("annotations"))),
        ("may", review_words.permitted(tool.document.get("permissions"))),
        (
            "links",
            f"{', '.join(tool.links)}: links out of the project have no effect"
            if tool.links
            else "",
        ),
        ("reaches", _reach(tool)),
        ("cannot see", _hidden(tool)),
        ("effects", review_words.effects(tool.document.get("effects"))),
        ("limits", review_words.limits_of(tool.document.get("limits"))),
        *(
            (label, ", ".join(values))
            for label, values in (
                ("secrets", tuple(item.text for item in items_in(tool.document.get("secrets")))),
                ("hosts", tool.hosts),
                ("problems", tool.problems),
            )
        ),
        ("files", ", ".join(tool.files)),
        ("read it", place),
    ]
    return [(label, value) for label, value in told if value]


def _outside(tool: "ToolReview") -> str:
    """Say what runs of the project's own code, which an approval does not cover."""
    return (
        f"the module {tool.outside} of the project as it is at each call: an approval covers "
        "neither that file nor what it imports"
        if tool.outside
        else ""
    )


def _runs(tool: "ToolReview") -> str:
    """Say what a call runs: a function of a file, or a command line as a shell would take it."""
    kind = find_type(tool.type)
    if kind is not None and kind.keeps_session:  # the type of MCP servers' tools
        args = tool.implementation.get("args")
        server = review_words.server_of(args) if isinstance(args, dict) else "-"
        reached = "at" if isinstance(args, dict) and "url" in args else "that this starts:"
        called = report.one_line(str(tool.implementation.get("entrypoint")))
        return f"the tool {called} of the MCP server {reached} {server}"
    is_function = kind is not None and kind.is_python
    if is_function and len(tool.runs) == 2 and tool.runs[1].isidentifier():
        path, function = tool.runs
        return f"{function}() in {shlex.quote(path)}"
    return shlex.join(tool.runs) or "-"


def _args(tool: "ToolReview") -> str:
    """Say what is fixed of each call, but for the arguments of a program, which stand in `runs`."""
    args = tool.implementation.get("args")
    if isinstance(args, dict) and isinstance(argv := args.get("argv"), list):
        is_shown = len(tool.runs) == len(argv) + 1 and all(
            one == run for one, run in zip(argv, tool.runs[1:], strict=True)
        )
        args = {key: value for key, value in args.items() if key != "argv" or not is_shown}
    kind = find_type(tool.type)
    if isinstance(args, dict) and kind is not None and kind.keeps_session:
        args = {key: value for key, value in args.items() if key not in ("command", "url")}
    return review_words.details(args) if args else ""


def _reach(tool: "ToolReview") -> str:
    """Say what a tool's process reaches that states no `network`."""
    return (
        "any host, including services that only listen on this machine (databases, notebooks)"
        if _is_unstated(tool, "network")
        else ""
    )


def _hidden(tool: "ToolReview") -> str:
    """Say what a tool's process does not see unless it states it, as it did with Vespe 0.2."""
    return (
        "sockets of your programs (tmux, ssh-agent) and other programs' files in /tmp, where the "
        "sandbox supports that"
        if _is_unstated(tool, "sockets")
        else ""
    )


def _is_unstated(tool: "ToolReview", permission: str) -> bool:
    """Whether a tool has a process of its own, and does not state this permission."""
    permissions = tool.document.get("permissions")
    kind = find_type(tool.type or "")
    is_process = kind is not None and kind.network == "process"
    return is_process and not (isinstance(permissions, dict) and permission in permissions)


def _line(value: JsonValue) -> str:
    return report.one_line(value) if isinstance(value, str) else report.json_line(value)


def lines_of_code(tool: "ToolReview", texts: Mapping[str, str]) -> list[str]:
    """Return the files of a tool beside its config.json, line by line; `texts` are by their path
    beneath the tools' directory. Of a file that Vespe wrote, and nobody changed, only the name is
    returned: 350 lines of it would hide the tool's own code.
    """
    from vespe.tools import in_place  # a review that shows no file does without what it imports

    lines: list[str] = []
    for path in tool.files:
        if path == CONFIG_FILE:
            continue
        text = texts.get(f"{tool.uid}/{path}")
        if path == in_place.VALUES and text and text.encode() == in_place.own_values():
            lines.append(f"  {path} (part of Vespe, unchanged)")
            continue
        lines.append(f"  {report.one_line(path)}{'' if text is not None else ' (not shown)'}")
        lines += [
            f"    | {report.one_line(line)}" for line in (text or "").expandtabs().splitlines()
        ]
    return lines


def lines_of_change(tool: "ToolChange") -> list[str]:
    """Return what becomes of one tool, line by line: the verdict on its contract, its fields, its
    files, and the code.
    """
    lines = [f"\n{report.one_line(tool.name)}: what changed (effect on callers: {tool.verdict})"]
    for change in tool.changes:
        message = report.one_line(change.message)
        if change.part == "tool":  # its message is what the whole tool does, and it has no place
            lines.append(f"  {change.verdict:<11} the tool {message}")
        else:
            place = " ".join(filter(None, (change.part, report.one_line(change.pointer))))
            lines.append(f"  {change.verdict:<11} {place}: {message}")
    lines += [*lines_of_fields(tool.fields), *(f"  {report.one_line(file)}" for file in tool.files)]
    return lines + [
        f"    {report.one_line(line)}" for diff in tool.diffs for line in diff.split("\n")
    ]


def lines_of_fields(fields: Mapping[str, tuple[JsonValue, JsonValue]]) -> list[str]:
    """Return the members of a file that differ, old and new."""
    lines = []
    for key, (old, new) in fields.items():
        lines += [
            f"  {report.one_line(key)}",
            f"    - {report.json_line(old)}",
            f"    + {report.json_line(new)}",
        ]
    return lines


def show_lines(lines: Iterable[str], *, paged: bool = False, then: str = "") -> None:
    """Print lines on stderr, what is old in red and what is new in green; `paged` uses the pager
    where the screen is too small. A pager hides what comes after it, so `then` says that, in its
    first line and in its last.
    """
    shown = list(lines)
    coloured = report.is_coloured(sys.stderr)
    text = "\n".join(_coloured(line) if coloured else line for line in map(_wrapped, shown))
    if (
        paged
        and sys.stdout.isatty()
        and options.interactive()
        and text.count("\n") > shutil.get_terminal_size().lines - 2
    ):
        if then:
            leaving = _wrapped(f"Press q to leave this view. {then}")
            text = f"{leaving}\n\n{text}\n{leaving}"
        with _less_with_colours():
            return click.echo_via_pager(text, color=coloured)
    return click.echo(text, err=True, color=coloured)


def confirm(
    question: str, files: Sequence[str], read: Callable[[str], str | None], *, yes: bool
) -> None:
    """Ask before something is approved, as `options.confirm` does; whoever is asked can look at
    each of the files before they answer. `read` returns a file's text, None where it cannot be
    shown.
    """
    if yes or not files or not options.interactive():
        return options.confirm(question, yes=yes, listed=True)
    at = -1
    keys = "y approves, n cancels, d FILE shows one file, s shows the next file"
    report.say(keys)
    while True:
        said = click.prompt(
            f"{wrap(question, sys.stderr)} [y/N/d FILE/s]", "n", show_default=False, err=True
        )
        word, _, wanted = str(said).strip().partition(" ")
        if word.lower() in ("y", "yes"):
            return None
        if word.lower() in ("n", "no"):
            raise Refused("cancelled: you answered no")
        wanted_at = at + 1 if word == "s" and at + 1 < len(files) else None
        if word == "d":
            wanted_at = next(
                (i for i, one in enumerate(files) if f"/{one}".endswith(f"/{wanted.strip()}")), None
            )
        if wanted_at is not None:
            at = wanted_at
            _show_file(files[at], read(files[at]))
        elif word == "s":
            report.say("that was the last file")
        else:
            wanted = wanted.strip() if word == "d" else ""
            first = f"there is no such file: {report.one_line(wanted)}" if wanted else keys
            report.say(f"{first}; the files are {report.one_line(join_words(files))}")


def _show_file(path: str, text: str | None) -> None:
    if text is None:
        return report.say(f"{report.one_line(path)} is not text, or too large to show")
    lines = text.expandtabs().splitlines()
    shown = (f"    | {report.one_line(line)}" for line in lines)
    then = "The question comes again after it."
    return show_lines([report.one_line(path), *shown, ""], paged=True, then=then)


@contextmanager
def _less_with_colours() -> Iterator[None]:
    """Set the options of `less` as git does where the user has set none: it would otherwise print
    the colours' escape codes as text. Click does so only where it decides itself about colours.
    """
    if "LESS" in os.environ:
        yield
        return
    os.environ["LESS"] = "FRX"
    try:
        yield
    finally:
        del os.environ["LESS"]


def _wrapped(line: str) -> str:
    """Break a line of words between them, and no line of code."""
    return line if line.startswith("    ") else wrap(line, sys.stderr, hanging=None)


def _coloured(line: str) -> str:
    for mark, colour in (("    -", "red"), ("    +", "green"), ("    @@", "cyan")):
        if line.startswith(mark):
            return click.style(line, fg=colour)
    return line
