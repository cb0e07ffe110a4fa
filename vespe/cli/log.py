"""`vespe log`: this project's calls."""

import time
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Final

import click

from vespe import errors
from vespe.calls import log
from vespe.cli import options, report, tables
from vespe.models import JsonObject
from vespe.projects.workspace import find_root

_COLUMNS: Final = ("TIME", "ID", "TOOL", "OUTCOME", "TOOK", "ARGUMENTS OR ERROR")
_DIGEST: Final = (
    "a digest stands for arguments that were not kept: calls with the same arguments have the same "
    "digest; `vespe tool run --log-arguments` keeps the arguments themselves"
)
_POLL_S: Final = 0.3
_LONGEST: Final = 200


@click.command("log", epilog="Example: vespe log --failed -n 5")
@click.argument("words", nargs=-1, metavar="[show ID]")
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    default=50,
    show_default=True,
    help="How many calls to show, the newest last.",
)
@click.option("--tool", metavar="NAME", help="Show only calls of this tool.")
@click.option("--failed", is_flag=True, help="Show only calls that failed.")
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Also show calls of `vespe tool test` and `vespe tool fuzz`.",
)
@click.option("-f", "--follow", is_flag=True, help="Print new calls as they happen, until Ctrl-C.")
@click.option(
    "--stats",
    is_flag=True,
    help="Show the number of calls and failures and the durations by tool, including older "
    "calls that are no longer in the log.",
)
@options.project_option
@options.json_option
def command(
    words: tuple[str, ...],
    limit: int,
    tool: str | None,
    failed: bool,
    everything: bool,
    follow: bool,
    stats: bool,
    project_dir: str | None,
    as_json: bool,
) -> None:
    """Show this project's calls, the newest last. Outside a project, show the calls of all
    projects.

    Calls that a program made are indented below it. Times are local. Arguments are only in the log
    if the command had --log-arguments; otherwise their digest is shown. `show ID` prints everything
    about one call.
    """
    root = _root(project_dir)
    if stats:
        if words or failed or everything or follow:
            raise errors.UsageError(
                "--stats can only be combined with --tool, because it counts all calls"
            )
        return _counted(root, tool, as_json)
    if words:
        call = _one(root, words)
        report.emit_json(call)
        return report.further(_DIGEST, when="arguments" not in call and not as_json)

    def wanted(call: JsonObject) -> bool:
        return (
            (everything or not call.get("purpose"))
            and tool in (None, call.get("tool"))
            and not (failed and call.get("outcome") == "ok")
        )

    calls = log.read(root, limit=limit + 1, wanted=wanted)
    calls, is_cut = calls[-limit:], len(calls) > limit
    if as_json and not follow:
        return report.emit_json({"calls": calls})
    if not calls:
        report.note("no such calls yet" if tool or failed else "no calls yet")
    columns = _COLUMNS if root is not None else (*_COLUMNS[:2], "PROJECT", *_COLUMNS[2:])
    tables.show(columns, [_cells(call, root) for call in _nested(calls)])
    report.further(
        f"the newest {report.count(len(calls), 'call')}: -n {10 * limit} shows earlier ones too",
        when=is_cut,
    )
    report.further(_DIGEST, when=any(map(_shows_digest, calls)))
    for call in _further(root, calls, wanted) if follow else ():
        report.emit("  ".join(_cells(call, root)))
    return None


def _counted(root: str | None, tool: str | None, as_json: bool) -> None:
    totals, problems = log.count_calls(root)
    for problem in problems:
        report.warn(f"calls that are no longer in the log are not counted: {problem}")
    rows = totals.rows(tool)
    calls = sum(row["calls"] for row in rows)
    if as_json:
        return report.emit_json({"since": totals.since or None, "calls": calls, "tools": rows})
    if not rows:
        return report.note("no such calls yet" if tool else "no calls yet")
    report.say(f"since {totals.since[:10]}, {report.count(calls, 'call')}")
    tables.show(
        ("TOOL", "CALLS", "FAILED", "P50 MS", "P95 MS"),
        [
            (row["tool"], row["calls"], row["failed"], _ms(row["p50_ms"]), _ms(row["p95_ms"]))
            for row in rows
        ],
        text=0,
    )
    return None


def _ms(duration: float | None) -> str:
    return "" if duration is None else f"{duration:.0f}" if duration >= 10 else f"{duration:.1f}"


def _root(project_dir: str | None) -> str | None:
    try:
        return find_root(project_dir)
    except errors.ProjectNotFound:
        if project_dir is not None:
            raise
        return None


def _one(root: str | None, words: tuple[str, ...]) -> JsonObject:
    if len(words) != 2 or words[0] != "show":
        raise errors.UsageError(
            "say which call: `vespe log show ID`", hint="`vespe log` prints each call's id"
        )
    found = log.read(root, limit=1, wanted=lambda call: str(call["id"]).startswith(words[1]))
    if not found:
        raise errors.NotFound(
            f"no call in the log has the id {words[1]!r}",
            hint="`vespe log --all -n 1000` prints the ids of a thousand calls",
        )
    return found[0]


def _further(
    root: str | None, seen: list[JsonObject], wanted: Callable[[JsonObject], bool]
) -> Iterator[JsonObject]:
    """Yield calls as they are logged, for ever."""
    last = {call["id"] for call in log.read(root)}
    while True:
        time.sleep(_POLL_S)
        calls = log.read(root)
        yield from (call for call in calls if call["id"] not in last and wanted(call))
        last = {call["id"] for call in calls}


def _nested(calls: list[JsonObject]) -> Iterator[JsonObject]:
    """Yield calls in order, but those that a program made behind the program, which is logged when
    it is over.
    """
    over = {str(call["call"]) for call in calls if "call" in call and not call.get("parent")}
    inner: dict[str, list[JsonObject]] = {}
    for call in calls:
        if (parent := str(call.get("parent") or "")) in over:
            inner.setdefault(parent, []).append(call)
            continue
        yield call
        yield from inner.pop(str(call.get("call")), ())
    for left in inner.values():  # of another program with this id, which is over for longer
        yield from left


def _cells(call: JsonObject, root: str | None) -> tuple[str, ...]:
    """What fits side by side; `log show` has all of it. The project is said where there is no one
    `root`.
    """
    return (
        _local(str(call.get("time", ""))),
        str(call["id"]),
        *((str(call.get("project", "")),) if root is None else ()),
        f"{'  ' if call.get('parent') else ''}{call.get('tool')}",
        str(call.get("outcome")),
        f"{call.get('duration_ms', 0):.0f} ms",
        _said(call),
    )


def _shows_digest(call: JsonObject) -> bool:
    """Whether the digest of its arguments is all that is told of a call."""
    return not (call.get("error") or call.get("refused") or "arguments" in call)


def _said(call: JsonObject) -> str:
    """Return the error of a failed call, else its arguments, or their digest where they were not
    kept.
    """
    if "arguments" in call and not call.get("error"):
        given = call["arguments"]
        words = (
            [f"{key}={report.json_line(value)}" for key, value in given.items()]
            if isinstance(given, dict)
            else [str(given)]
        )
        text = " ".join(words)
    else:
        text = str(
            call.get("error")
            or "; ".join(call.get("refused", ()))
            or f"arguments not kept, digest {str(call.get('arguments_digest', ''))[:8]}"
        )
    text = report.one_line(text)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _local(stamp: str) -> str:
    try:
        return datetime.fromisoformat(stamp).astimezone().strftime("%m-%d %H:%M:%S")
    except ValueError:
        return stamp
