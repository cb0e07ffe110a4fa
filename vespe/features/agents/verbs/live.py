"""`vespe agent run --replay TALK --tools live`: a recorded conversation on the tools that are there
now.
"""

import contextlib
from dataclasses import replace

from vespe.calls.path import CallPath
from vespe.calls.policy import policy_of
from vespe.cli import questions, report, tables
from vespe.features.agents.live_replay import (
    FITS,
    Compared,
    LiveTools,
    recorded_calls,
)
from vespe.features.agents.tool_sets import chosen, tool_set
from vespe.features.agents.verbs import asking
from vespe.features.agents.verbs.shown import RunDisplay
from vespe.files.project_copy import copied_project
from vespe.models import Approve
from vespe.projects.workspace import open_workspace

LIVE = "live"


def replayed(path: CallPath, talk: str, *, approve: Approve, in_copy: bool, as_json: bool) -> int:
    """Compare each recorded call with the project's tools, print the differences by turn, and
    return 1 where there are any.
    """
    calls = recorded_calls(talk)
    path = replace(path, asker=questions.asker())
    with contextlib.ExitStack() as stack:
        if in_copy:
            copy = stack.enter_context(copied_project(path.workspace.root))
            path = replace(path, workspace=open_workspace(copy), trusted=True)
        tools = tool_set(chosen(path.workspace)).tools
        policy = policy_of(path, policy=approve, ask=asking.asker(RunDisplay(quiet=as_json)))
        live = LiveTools(path, tools, policy=policy, in_copy=in_copy)
        compared = [live.compare(one) for one in calls]
    _show(compared, as_json)
    return int(any(one.is_fault for one in compared))


def _show(compared: list[Compared], as_json: bool) -> None:
    faults = [one for one in compared if one.is_fault]
    if as_json:
        report.emit_json({"calls": [one.to_dict() for one in compared], "differences": len(faults)})
        return
    tables.show(
        ("TURN", "TOOL", "STATE", "WHY"),
        [(str(one.turn), one.tool, one.state, one.said) for one in compared],
    )
    left = sum(one.state == FITS for one in compared)
    unrun = f", {left} not run but fitting" if left else ""
    report.say(
        f"{report.count(len(compared), 'recorded call')}: "
        f"{report.count(len(faults), 'difference')}{unrun}"
    )
