"""Prints the result of `vespe doctor --escapes`: each attack, its result, and what a gap means."""

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
    "loopback": "a tool can connect to servers that listen only on this machine",
    "sockets": "a tool can connect to Unix sockets, such as those of tmux, ssh-agent and Docker",
    "sockets made later": "a tool can connect to Unix sockets that were created after it started, "
    "were bound by a relative path, or have a second name",
    "project": "a tool that may write the project can write its .vespe and .git",
    "late-project": "a tool that may write the project can write the .git of a repository that is "
    "created in it while the tool runs",
    "names": "a tool can see names, sizes and times of files that it may not read, and can still "
    "read a file that it could read before the file was moved to a protected place",
    "late-names": "a tool can list the names of protected files that are created while it runs, "
    "and can still read a file that it could read before the file was moved there",
    "late": "a tool that may write the whole home directory can read protected files that are "
    "created while it runs",
    "metadata": "a tool can change modes, owners and times of your files, but not their content",
    "ipc": "a tool can use System V shared memory and message queues of the machine",
    "signals": "a tool can send signals to your processes and connect to abstract Unix sockets",
    "truncate": "a tool can empty files that it may read",
    "memory": "memory_mb limits each process of a tool, but not all of them together",
    "processes": "a tool can read the names and command lines of other processes",
    "programs": "a tool can start any file that it may read with the dynamic loader",
}
"""What each gap means, shown with each attack that succeeds through it; see docs/sandbox.md."""
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
    """Try the table, print the results, and return the exit code."""
    setting, machine = user_config.load_user_config().sandbox, sandboxing.machine()
    level = "off" if setting == "off" else machine.level
    if level in trial.LEVELS:
        with waiting("trying to escape from the sandbox"):
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
        return "your configuration turns the sandbox off, so it prevents nothing"
    if level == "off":
        return "this machine has no sandbox, so nothing is prevented"
    return "the attacks are for Linux"


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
        return "this level should prevent it"
    if one.verdict == "unclear":
        return f"a similar action that is allowed does not work here either: {one.why}"
    return one.why if one.verdict == "not_tried" else ""


def _print(found: Trial, user: str) -> None:
    counts = _counts(found)
    if counts["not_tried"] == len(found.rows):
        report.emit_sentence(f"No sandbox escape was tried: {found.rows[0].why}.")
        return
    report.emit_sentence(
        f"Sandbox escapes, tried at the level {found.level!r} as {user}. None of your files and "
        "processes were used: keys, sockets and processes were created for it.",
        hanging=0,
    )
    for kind, rows in itertools.groupby(found.rows, key=lambda one: one.row.policy):
        report.emit_sentence(f"\n{TITLES[kind]}")
        for one in rows:
            _print_row(one)
    report.emit_sentence(f"\n{_summary(counts)}", hanging=0)
    if counts["got_through"]:
        report.error(
            f"{report.count(counts['got_through'], 'attack')} got through although the level "
            f"{found.level!r} should prevent it",
            hint="until this is fixed, run only tools here that you would also run without a "
            "sandbox; report it with the output of `vespe doctor --escapes --json`",
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
        f"{report.count(counts['gap'], 'known gap')} of this level",
        f"{counts['got_through']} got through",
    ]
    if counts["unclear"]:
        said.append(f"{counts['unclear']} unclear")
    return f"{', '.join(said)}; {counts['not_tried']} not tried here."
