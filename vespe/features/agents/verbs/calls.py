"""`vespe agent calls`: the calls that wait in a kept conversation, listed, run or denied."""

import os
from dataclasses import replace

import click

from vespe.adapters.large_results.handles import LargeResults
from vespe.calls import bridge
from vespe.calls.path import open_path
from vespe.calls.policy import Answer, Question, policy_of
from vespe.cli import options, questions, report, tables
from vespe.features.agents import transcripts, waiting_calls
from vespe.features.agents.call_results import CallResult
from vespe.features.agents.open_calls import ModelCall
from vespe.features.agents.tool_sets import chosen, tool_set
from vespe.features.agents.transcripts import Transcript
from vespe.features.agents.turns import TurnRunner
from vespe.features.agents.verbs import shown as agent_shown
from vespe.models import JsonObject
from vespe.projects.workspace import open_workspace
from vespe.records import json_of


@click.command("calls", epilog="Example: vespe agent calls conversation.json approve call_1")
@click.argument("file")
@click.argument("action", type=click.Choice(["list", "approve", "deny"]), default="list")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@options.yes_option
@options.trust_option
@options.project_option
@options.json_option
def command(
    file: str,
    action: str,
    ids: tuple[str, ...],
    yes: bool,
    trusted: bool,
    project_dir: str | None,
    as_json: bool,
) -> int:
    """List the calls in FILE that have no result yet; approve runs them, deny answers them. Without
    an ID, all of them.

    The results are kept in FILE; the model is not asked: `vespe agent run --resume FILE` goes on.
    What your configuration denies stays denied. The exit code of approve is 1 where a call failed.
    """
    if action == "list":
        transcript = transcripts.load(file)
        return _list(transcript, waiting_calls.selected(transcript, ids), as_json)
    with transcripts.held(file):
        transcript = transcripts.load(file)
        calls = waiting_calls.selected(transcript, ids)
        transcript.keep = lambda changed: transcripts.save(changed, os.path.realpath(file))
        if action == "deny":
            results = waiting_calls.deny_waiting(transcript, calls)
        else:
            turns = _turns(project_dir, transcript, trusted=trusted)
            _ask(calls, yes=yes)
            results = waiting_calls.run_waiting(transcript, calls, turns)
    if as_json:
        report.emit_json(
            {"calls": [result.to_dict() for result in results], "open_calls": len(transcript.open)}
        )
    else:
        report.say(
            f"{report.count(len(results), 'call')} answered; {len(transcript.open)} still wait"
        )
    return int(action == "approve" and any(not result.outcome.ok for result in results))


def _ask(calls: list[ModelCall], *, yes: bool) -> None:
    for call in calls:
        report.say(f"{report.one_line(call.name)} {_arguments(call)}")
    if calls:
        options.confirm(f"Run {'it' if len(calls) == 1 else f'these {len(calls)} calls'}?", yes=yes)


def _list(transcript: Transcript, calls: list[ModelCall], as_json: bool) -> int:
    if as_json:
        report.emit_json({"calls": [_document(call, transcript) for call in calls]})
    elif not calls:
        report.note("no calls wait for results here")
    else:
        tables.show(
            ("ID", "TOOL", "STATE", "ARGUMENTS"), [_cells(call, transcript) for call in calls]
        )
    return 0


def _document(call: ModelCall, transcript: Transcript) -> JsonObject:
    shown = json_of(call, "call_id", "name", "arguments", call_id="id")
    return shown | {"begun": call.place in transcript.started}


def _cells(call: ModelCall, transcript: Transcript) -> tuple[str, ...]:
    return (
        call.call_id,
        call.name,
        "begun" if call.place in transcript.started else "waits",
        _arguments(call),
    )


def _arguments(call: ModelCall) -> str:
    return (
        report.one_line(call.arguments)
        if isinstance(call.arguments, str)
        else report.json_line(call.arguments)
    )


def _turns(project_dir: str | None, transcript: Transcript, *, trusted: bool) -> TurnRunner:
    """Return what runs the calls: every available tool, and a person who said yes to what would be
    asked.
    """
    path = replace(
        open_path(open_workspace(project_dir), trusted=trusted),
        progress=report.note,
        asker=questions.asker(),
    )
    path.check_trust()
    for warning in path.workspace.warnings:
        report.warn(warning)
    shown = agent_shown.RunDisplay()
    tools = tool_set(chosen(path.workspace)).tools
    return TurnRunner(
        tools=tools,
        bridge=None if bridge.CALL in tools else bridge.Bridge(tools),
        runner=path,
        policy=policy_of(path, ask=_yes),
        large=LargeResults(transcript.results),
        on_start=shown.started,
        on_result=lambda result: _show(shown, result),
    )


def _yes(_: Question) -> Answer:
    return Answer(allowed=True)


def _show(shown: agent_shown.RunDisplay, result: CallResult) -> None:
    shown.event(result.event)
