"""`vespe agent calls`: the calls that wait in a kept conversation, listed, run or denied."""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import click

from vespe import errors, features
from vespe.adapters.large_results.handles import LargeResults
from vespe.calls import bridge
from vespe.calls.path import CallPath, itself, open_path
from vespe.calls.policy import IN_PROGRAM, ONCE, Answer, Ask, Question, policy_of
from vespe.calls.previews import previewing
from vespe.calls.program_place import CallWaits, current_place
from vespe.calls.question_texts import question_text
from vespe.cli import options, questions, report, tables
from vespe.documents import strict_json
from vespe.features.agents import transcripts, waiting_calls
from vespe.features.agents.call_checks import Ready, check
from vespe.features.agents.call_results import CallResult
from vespe.features.agents.open_calls import ModelCall
from vespe.features.agents.tool_sets import bridge_of, chosen, tool_set
from vespe.features.agents.transcripts import Transcript
from vespe.features.agents.turns import TurnRunner
from vespe.features.agents.verbs import asking
from vespe.features.agents.verbs import shown as agent_shown
from vespe.models import JsonObject, JsonValue, Tool
from vespe.projects.workspace import open_workspace
from vespe.records import json_of

_WHY: Final = "the conversation was saved before this call was approved"


@click.command("calls", epilog="Example: vespe agent calls conversation.json approve call_1")
@click.argument("file")
@click.argument("action", type=click.Choice(["list", "approve", "deny"]), default="list")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option(
    "--happened",
    metavar="JSON",
    help="For a program's call that had begun and whose end is unknown: it happened, with "
    "this result.",
)
@click.option(
    "--alike",
    is_flag=True,
    help="Give the same answer for further calls of that tool in the waiting program.",
)
@click.option(
    "--run-again",
    is_flag=True,
    help="For a program's call that had begun and whose end is unknown: it did not happen, so run "
    "it again.",
)
@options.yes_option
@options.trust_option
@options.project_option
@options.json_option
def command(
    file: str,
    action: str,
    ids: tuple[str, ...],
    alike: bool,
    happened: str | None,
    run_again: bool,
    yes: bool,
    trusted: bool,
    project_dir: str | None,
    as_json: bool,
) -> int:
    """List the pending calls in FILE, approve them (which runs them), or deny them. Without an ID,
    this applies to all pending calls.

    The results are saved in FILE, and nothing is sent to the model; `vespe agent run --resume FILE`
    continues the conversation. Calls that your configuration denies stay denied. The exit code of
    approve is 1 if a call failed, or if a program now waits for another call.

    A program that waits for a call is run again from its start, and calls that it made before
    return their earlier results. approve and deny apply to the call that it waits for.
    """
    if action == "list":
        transcript = transcripts.load(file)
        return _list(transcript, waiting_calls.selected(transcript, ids), as_json)
    with transcripts.held(file):
        transcript = transcripts.load(file)
        calls = waiting_calls.selected(transcript, ids)
        settled = _settled(transcript, calls, happened, run_again=run_again)
        transcript.keep = lambda changed: transcripts.save(changed, os.path.realpath(file))
        programs = [call for call in calls if call.call_id in transcript.programs]
        results: list[CallResult] = []
        if action == "deny":
            others = [call for call in calls if call not in programs]
            results += waiting_calls.deny_waiting(transcript, others)
        if action == "approve" or programs:
            answer = Answer(allowed=action == "approve", holds=IN_PROGRAM if alike else ONCE)
            path = _path(project_dir, trusted=trusted)
            turns = _turns(path, transcript, answer)
            notes = replace(turns.program_notes, settled=settled)
            if action == "approve":
                _say_calls(calls, transcript, turns, path)
                _confirm(len(calls), yes=yes)
            results += waiting_calls.run_waiting(
                transcript,
                calls if action == "approve" else programs,
                replace(turns, program_notes=notes),
            )
    return _answered(transcript, results, action, as_json=as_json)


def _answered(
    transcript: Transcript, results: list[CallResult], action: str, *, as_json: bool
) -> int:
    waiting = _waiting(transcript)
    if as_json:
        report.emit_json(
            {"calls": [result.to_dict() for result in results], "open_calls": len(transcript.open)}
        )
    else:
        report.say(
            f"{report.count(len(results), 'call')} answered; {len(transcript.open)} still wait"
        )
        for one in waiting:
            report.note(_waits(one))
    failed = action == "approve" and any(not result.outcome.ok for result in results)
    return int(failed or bool(waiting))


def _waiting(transcript: Transcript) -> list[JsonObject]:
    """Return the calls that programs of this conversation wait for."""
    open_ids = {call.call_id for call in transcript.open}
    return [
        record["waits"]
        for call_id, record in transcript.programs.items()
        if call_id in open_ids and isinstance(record.get("waits"), dict)
    ]


def _waits(one: JsonObject) -> str:
    where = f" in line {one['line']}" if one.get("line") else ""
    arguments = report.json_line(one.get("arguments"))
    return f"{one['id']}{where}: {one['tool']} {arguments}: {report.one_line(str(one['why']))}"


def _settled(
    transcript: Transcript, calls: list[ModelCall], happened: str | None, *, run_again: bool
) -> dict[str, JsonValue]:
    """Return what is said of a call that nobody saw end; raises Refused where nothing is."""
    ids = {call.call_id for call in calls}
    unknown = [
        one
        for one in _waiting(transcript)
        if one.get("unknown_outcome") and str(one["id"]).rpartition("/")[0] in ids
    ]
    if not unknown:
        if happened is not None or run_again:
            raise errors.UsageError("no pending call here has an unknown outcome")
        return {}
    if happened is not None and not run_again:
        result = strict_json.parse_json(happened, path="--happened")
        return {str(one["id"]): result for one in unknown}
    if run_again and happened is None:
        return {str(one["id"]): None for one in unknown}
    raise errors.Refused(
        _waits(unknown[0]),
        hint="find out whether it happened, then run this again with --happened RESULT "
        "(JSON), or with --run-again if it did not",
    )


def _say_calls(
    calls: list[ModelCall], transcript: Transcript, turns: TurnRunner, path: CallPath
) -> None:
    """Say what each call would do, as every question about a call does."""
    waiting = {str(one["id"]).rpartition("/")[0]: one for one in _waiting(transcript)}
    for call in calls:
        ready = check(call, turns.tools, large=turns.large)
        if isinstance(ready, Ready):
            tool, inputs = ready.tool, ready.inputs
            if tool.behind is not None:
                tool, inputs = itself(tool, inputs)
            previews = previewing(path)(tool, inputs)
            question = Question(tool=tool, inputs=inputs, why=_WHY, previews=previews)
            asking.show(question_text(question))
        else:  # a program, or one that will not run: its result says why
            report.say(f"{report.one_line(call.name)} {_arguments(call)}")
        if call.call_id in waiting:
            report.say(f"  waits for {_waits(waiting[call.call_id])}")


def _confirm(number: int, *, yes: bool) -> None:
    if number:
        which = "it" if number == 1 else f"these {number} calls"
        options.confirm(f"Run {which}?", yes=yes, listed=True)


def _list(transcript: Transcript, calls: list[ModelCall], as_json: bool) -> int:
    if as_json:
        report.emit_json({"calls": [_document(call, transcript) for call in calls]})
    elif not calls:
        report.note("no calls wait for results here")
    else:
        tables.show(
            ("ID", "TOOL", "STATE", "ARGUMENTS"), [_cells(call, transcript) for call in calls]
        )
        for one in _waiting(transcript):
            report.note(f"a program waits for {_waits(one)}")
    return 0


def _document(call: ModelCall, transcript: Transcript) -> JsonObject:
    shown = json_of(call, "call_id", "name", "arguments", call_id="id")
    shown |= {"begun": call.place in transcript.started}
    record = transcript.programs.get(call.call_id)
    if record is None:
        return shown
    made = [
        {key: one[key] for key in ("tool", "arguments", "line") if key in one}
        | {"outcome": one.get("outcome")}
        for one in record.get("calls", ())
    ]
    return shown | {"program": {"calls": made, "waits": record.get("waits")}}


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


def _path(project_dir: str | None, *, trusted: bool) -> CallPath:
    path = replace(
        open_path(open_workspace(project_dir), trusted=trusted),
        progress=report.note,
        asker=questions.asker(),
    )
    path.check_trust()
    for warning in path.workspace.warnings:
        report.warn(warning)
    return path


def _turns(path: CallPath, transcript: Transcript, answer: Answer) -> TurnRunner:
    """Return what runs the calls: every available tool, and a person who said yes to what would be
    asked.
    """
    shown = agent_shown.RunDisplay()
    tools = tool_set(chosen(path.workspace)).tools
    return TurnRunner(
        tools=tools,
        bridge=_bridge(tools, transcript, path),
        runner=path,
        policy=policy_of(path, ask=_asker(transcript, answer)),
        large=LargeResults(transcript.results),
        on_start=shown.started,
        on_result=lambda result: _show(shown, result),
    )


def _bridge(
    tools: Mapping[str, Tool], transcript: Transcript, path: CallPath
) -> bridge.Bridge | None:
    """Return what stood in the place of the tools, as the calls that wait tell."""
    runs = features.is_present("programs") and "run_code" not in tools
    if runs and any(call.name == "run_code" for call in transcript.open):
        return bridge_of("code", tools, frozenset(), home=path)
    return None if bridge.CALL in tools else bridge.Bridge(tools)


def _asker(transcript: Transcript, answer: Answer) -> Ask:
    """Return what answers for the person: for the calls that wait now. Another call of a program is
    asked about, or waits in its turn.
    """
    waiting = {str(one["id"]) for one in _waiting(transcript)}

    def ask(question: Question) -> Answer:
        place = current_place()
        if place is None:
            return Answer(allowed=answer.allowed)
        if f"{place.program}/{place.number}" in waiting:
            return answer
        if options.interactive():
            return asking.ask(question)
        raise CallWaits(f"{question.tool.name!r} needs approval because {question.why}")

    return ask


def _show(shown: agent_shown.RunDisplay, result: CallResult) -> None:
    shown.event(result.event)
