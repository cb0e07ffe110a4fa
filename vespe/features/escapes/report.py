"""What `vespe doctor --escapes` prints: each way out that was tried, what became of it, and what a
gap means.
"""

import itertools
import os
import pwd
import sys
from collections import Counter
from typing import Any, Final

import click

from vespe.calls import sandboxing
from vespe.cli import report
from vespe.cli.waiting import waiting
from vespe.cli.wrapping import wrap
from vespe.documents.escaping import inert
from vespe.features.escapes import trial
from vespe.features.escapes.rows import TITLES
from vespe.features.escapes.trial import Trial, Tried
from vespe.processes.sandbox import remedies
from vespe.projects import user_config

GAPS: Final = {
    "hosts": "a tool that states hosts can reach any host",
    "loopback": "servers that listen on this machine alone can be reached",
    "sockets": "Unix sockets can be reached, such as those of tmux, ssh-agent and Docker",
    "sockets made later": "Unix sockets can be reached that were made after the tool began, that "
    "were bound by a relative path, or that have a second name",
    "project": "a tool that may write the project can write its .vespe and .git",
    "late-project": "a tool that may write the project can write the .git of a repository that is "
    "made in it while the tool runs",
    "names": "names, sizes and times of files that a tool may not read can be seen, and a file "
    "that it could read before it was moved to a protected place can still be read",
    "late-names": "the names of protected files that are made while a tool runs can be listed, and "
    "a file that it could read before it was moved there can still be read",
    "late": "protected files that are made while a tool runs can be read, where the tool may write "
    "the whole home directory",
    "metadata": "modes, owners and times of your files can be changed, but not what is in them",
    "ipc": "shared memory and message queues of System V can be reached",
    "signals": "processes of yours can be sent signals, and abstract Unix sockets can be reached",
    "truncate": "files that can be read can be emptied",
    "memory": "memory_mb holds each process of a tool, but not all of them together",
    "processes": "the names and command lines of other processes can be read",
    "programs": "a file that can be read can be started by the dynamic loader",
}
"""What each gap means, beside a way out that goes through it; docs/sandbox.md says more."""
_LABELS: Final = {
    "held": "held",
    "gap": "gap",
    "got_through": "GOT THROUGH",
    "unclear": "unclear",
    "not_tried": "not tried",
}
_COLOURS: Final = {"held": "green", "gap": "yellow", "got_through": "red", "unclear": "yellow"}
_COLUMN: Final = 13


def show(*, as_json: bool) -> int:
    """Try the table, print what became of it, and return the exit code."""
    setting, machine = user_config.load_user_config().sandbox, sandboxing.machine()
    level = "off" if setting == "off" else machine.level
    if level in trial.LEVELS:
        with waiting("trying ways out of the sandbox"):
            found = trial.try_all(machine, level)
    else:
        found = trial.nothing_tried(level, _why_nothing(setting, level))
    user = _user()
    if as_json:
        report.emit_json(_document(found, user))
    else:
        _print(found, user)
        if remedy := remedies.remedy(machine) if setting != "off" else "":
            report.note(remedy)
    return 1 if _counts(found)["got_through"] else 0


def _why_nothing(setting: str, level: str) -> str:
    if setting == "off":
        return "the sandbox is off by your configuration, and holds nothing"
    if level == "off":
        return "this machine has no sandbox, and nothing is held"
    return "the table is for Linux"


def _user() -> str:
    uid = os.getuid()
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _counts(found: Trial) -> Counter[str]:
    return Counter(one.verdict for one in found.rows)


def _document(found: Trial, user: str) -> dict[str, Any]:
    counts = _counts(found)
    return {
        "level": found.level,
        "user": user,
        "gaps": list(found.gaps),
        "counts": {verdict: counts[verdict] for verdict in _LABELS},
        "rows": [
            {
                "group": TITLES[one.row.policy],
                "tried": one.row.name,
                "result": one.verdict,
                "gap": one.gap or None,
                "why": _why(one) or None,
            }
            for one in found.rows
        ],
    }


def _why(one: Tried) -> str:
    if one.verdict == "gap":
        return GAPS[one.gap]
    if one.verdict == "got_through":
        return "this level states that it is held"
    if one.verdict == "unclear":
        return f"what is allowed beside it does not work here either: {one.why}"
    return one.why if one.verdict == "not_tried" else ""


def _print(found: Trial, user: str) -> None:
    counts = _counts(found)
    if counts["not_tried"] == len(found.rows):
        report.emit_sentence(f"No way out of the sandbox was tried: {found.rows[0].why}.")
        return
    report.emit_sentence(
        f"Ways out of the sandbox, tried at the level {found.level!r} as {user}. "
        "Nothing of yours was touched: keys, sockets and processes were made for it.",
        hanging=0,
    )
    for kind, rows in itertools.groupby(found.rows, key=lambda one: one.row.policy):
        report.emit_sentence(f"\n{TITLES[kind]}")
        for one in rows:
            _print_row(one)
    report.emit_sentence(f"\n{_summary(counts)}", hanging=0)
    if counts["got_through"]:
        report.error(
            f"{report.count(counts['got_through'], 'way')} out of the sandbox got through that the "
            f"level {found.level!r} should hold",
            hint="until it is mended, run no tools here that you would not run without a sandbox; "
            "report it with what `vespe doctor --escapes --json` prints",
        )


def _print_row(one: Tried) -> None:
    why, label = _why(one), _LABELS[one.verdict].ljust(_COLUMN)
    said = f"{label}{one.row.name}" + (f": {why}" if why else "")
    if one.gap:
        said += f" (gap `{one.gap}`)"
    text = wrap(inert(said), sys.stdout, hanging=_COLUMN)
    shown = click.style(
        label, fg=_COLOURS.get(one.verdict), bold=True if one.verdict == "got_through" else None
    )
    report.emit_styled(shown + text.removeprefix(label))


def _summary(counts: Counter[str]) -> str:
    said = [
        f"{counts['held']} held",
        f"{report.count(counts['gap'], 'gap')} that this level names in advance",
        f"{counts['got_through']} got through",
    ]
    if counts["unclear"]:
        said.append(f"{counts['unclear']} unclear")
    return f"{', '.join(said)}; {counts['not_tried']} not tried here."
