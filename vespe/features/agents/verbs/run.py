"""`vespe agent run`: one prompt to a model that uses the project's tools, until it is done or a
limit is reached.
"""

import contextlib
import gc
import os
import sys
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import click

from vespe import errors
from vespe.calls.path import CallPath
from vespe.cli import options, report
from vespe.documents import strict_json
from vespe.features.agents import transcripts
from vespe.features.agents.loop import DONE, WAITS_FOR_APPROVAL, RunResult
from vespe.features.agents.transcripts import Transcript
from vespe.features.agents.verbs import live, recording, setup
from vespe.features.agents.verbs.shown import RunDisplay
from vespe.lazy import shlex
from vespe.models import JsonObject

_TOKENS: Final = (
    ("prompt_tokens", "in", "cached_tokens", "cached"),
    ("completion_tokens", "out", "reasoning_tokens", "reasoning"),
)
_LIMITS: Final = {
    "max_iterations": ("it reached the limit of rounds", "--max-iterations"),
    "max_calls": ("it may run no more calls", "--max-calls"),
    "max_tokens": ("it reached the limit of tokens", "--max-tokens"),
    "max_seconds": ("it reached the time limit", "--max-seconds"),
    "cancelled": ("it was interrupted", "Ctrl-C"),
}


_Parts: TypeAlias = tuple[setup.Wanted, CallPath, recording.Recorded]


@click.command(
    "run", epilog='Example: vespe agent run "Which files are here?" --provider ollama --model qwen3'
)
@click.argument("prompt", required=False)
@setup.agent_options
@click.option(
    "--resume",
    metavar="FILE",
    help="Continue this conversation and save it in the same file. Pending calls run first.",
)
@click.option(
    "--save",
    metavar="FILE",
    help="Save the conversation to this new file, as JSON in OpenAI's format.",
)
@click.option(
    "--record",
    metavar="FILE",
    help="Record every request, answer and result in FILE, to replay them later.",
)
@click.option(
    "--replay",
    metavar="FILE",
    help="Take answers and results from a recording. Nothing is sent, and no tool runs.",
)
@click.option("--run-tools", is_flag=True, help="With --replay: run the tools anyway.")
@click.option(
    "--in-copy",
    is_flag=True,
    help="With --replay and --tools live: run all calls, in a copy of the project.",
)
@options.json_option
def command(
    prompt: str | None,
    resume: str | None,
    save: str | None,
    in_copy: bool,
    as_json: bool,
    **given: Any,
) -> int:
    """Send a prompt to a model and run the tools that it calls, until the model is done.

    The answer is printed to stdout as it arrives, and tool calls are shown on stderr. PROMPT -
    reads the prompt from stdin. Exit codes: 0 if the model is done; 1 if the provider failed, a
    replay differs, or a limit was reached; 124 if the time limit was reached; 130 if interrupted.

    --replay FILE --tools live checks the calls of a recording or a saved conversation against the
    current tools. Read-only calls run again and their results are compared; other calls are only
    compared with the schemas. The differences are printed by turn.
    """
    recorded = recording.Recorded(
        **{name: given.pop(name) for name in ("record", "replay", "run_tools")}
    )
    wanted = setup.Wanted(**given)
    _check_files(
        {"--record": recorded.record, "--save": save, "--resume": resume, "--script": wanted.script}
    )
    path = wanted.path()
    if wanted.names == (live.LIVE,) and recorded.replay is not None:
        _refuse_beside(
            {
                "PROMPT": prompt,
                "--resume": resume,
                "--save": save,
                "--record": recorded.record,
                "--run-tools": recorded.run_tools,
            }
        )
        gc.enable()  # off for commands that live for a moment: a recording may be long
        return live.replayed(
            path, recorded.replay, approve=wanted.approve, in_copy=in_copy, as_json=as_json
        )
    if in_copy:
        raise errors.UsageError("--in-copy goes with --replay TALK --tools live")
    with contextlib.ExitStack() as stack:
        if save is not None or resume is not None:
            stack.enter_context(transcripts.held(save or resume or ""))
        return _run(prompt, resume, save=save, as_json=as_json, parts=(wanted, path, recorded))


def _run(
    prompt: str | None, resume: str | None, *, save: str | None, as_json: bool, parts: _Parts
) -> int:
    wanted, path, recorded = parts
    transcript = transcripts.load(resume) if resume else Transcript()
    prompt = _prompt(prompt, transcript)
    kept = _file(resume, save)
    provider, hooks = recorded.provider(wanted, transcript)
    file = None if kept is None else transcripts.ConversationFile(kept)
    transcript.keep = None if file is None else file.keep
    shown = RunDisplay(quiet=as_json)
    agent = wanted.agent(
        path, provider, transcript=setup.named(transcript, provider), shown=shown, **hooks
    )
    try:
        result = recorded.ended(provider, agent.run(prompt))
    except KeyboardInterrupt:
        _say_resumable(transcript, kept)
        raise
    finally:
        shown.end()
        provider.close()
        agent.close()
        if file is not None:
            file.close(transcript)
    return _ended(
        result,
        as_json=as_json,
        kept=kept or "",
        resuming=None if kept is None else wanted.resuming(kept, prompt=not _goes_on(transcript)),
    )


def _refuse_beside(given: Mapping[str, object]) -> None:
    if named := [name for name, value in given.items() if value]:
        raise errors.UsageError(
            "--replay TALK --tools live takes the conversation from TALK: leave out "
            f"{' and '.join(named)}"
        )


def _check_files(files: Mapping[str, str | None]) -> None:
    """Refuse one file for two things: what is written would take the place of the other."""
    named: dict[str, str] = {}
    for option, file in files.items():
        if file == "":
            raise errors.UsageError(f"{option} needs the name of a file, not an empty string")
        if (
            file is not None
            and (other := named.setdefault(os.path.realpath(file), option)) != option
        ):
            raise errors.UsageError(
                f"{other} and {option} name the same file", hint="name two files"
            )


def _prompt(prompt: str | None, transcript: Transcript) -> str | None:
    if prompt == "-":
        prompt = sys.stdin.buffer.read(transcripts.MAX_BYTES).decode("utf-8", "replace")
    if prompt is None and not _goes_on(transcript):
        raise errors.UsageError(
            "no prompt was given",
            hint="`vespe agent run PROMPT …`; or continue a conversation with --resume FILE",
        )
    if prompt is not None and not prompt.strip():
        raise errors.UsageError("the prompt is empty")
    return None if prompt is None else strict_json.repair_surrogates(prompt)


def _goes_on(transcript: Transcript) -> bool:
    """Whether a conversation goes on without a prompt: calls wait, or the model has something to
    answer.
    """
    return bool(transcript.open) or (
        bool(transcript.messages) and transcript.messages[-1].get("role") in ("user", "tool")
    )


def _file(resume: str | None, save: str | None) -> str | None:
    """Return the path of the file that the conversation is kept in, if any."""
    if save is not None and resume is not None:
        raise errors.UsageError(
            "--resume saves the conversation in its own file: leave out --save",
            hint="copy the file to keep both",
        )
    if save is not None and os.path.lexists(save):
        raise errors.UsageError(
            f"{save} already exists",
            hint=f"continue it with --resume {save}, or choose another file",
        )
    return save or resume


def _ended(result: RunResult, *, as_json: bool, resuming: str | None, kept: str) -> int:
    if as_json:
        report.emit_json(result.to_dict())
    elif any(result.usage.values()):
        report.note(_tokens(result.usage))
    if result.stop_reason == DONE:
        if not result.complete:
            report.warn(
                "the model's answer is incomplete: it ended with "
                f"{result.finish_reason or 'nothing that says so'}"
            )
        return 0
    if result.stop_reason == WAITS_FOR_APPROVAL:
        report.error(
            "a call of the model's program needs your approval, but there is no one to ask here; "
            "the conversation is saved, and the program waits",
            f"`vespe agent calls {shlex.quote(kept)}` shows the call, `vespe agent calls "
            f"{shlex.quote(kept)} approve` allows it; then `{resuming}` continues",
        )
        return 1
    said, option = _LIMITS.get(result.stop_reason, (result.stop_reason, ""))
    waiting = f"; {_waiting(result.open_calls)} for results" if result.open_calls else ""
    hint = (
        f"`{resuming}` continues"
        if resuming
        else "--save FILE saves a conversation, so that you can continue it"
    )
    report.error(f"the model was stopped: {said} ({option}){waiting}", hint)
    return 124 if result.stop_reason == "max_seconds" else 1


def _tokens(usage: JsonObject) -> str:
    """Say how many tokens went in and out, and how many of them were cached or reasoning."""
    said = []
    for total, word, part, name in _TOKENS:
        within = f" ({usage[part]:,} {name})" if usage.get(part) else ""
        said.append(f"{usage.get(total, 0):,} {word}{within}")
    return f"tokens: {', '.join(said)}"


def _say_resumable(transcript: Transcript, kept: str | None) -> None:
    if kept is not None:
        report.note(
            f"the conversation is in {kept}; {_waiting(len(transcript.open))} in it for results"
        )


def _waiting(number: int) -> str:
    return f"{report.count(number, 'call')} {'waits' if number == 1 else 'wait'}"
