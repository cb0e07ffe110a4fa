"""The calls that a kept conversation ends in, run or denied by a person, one by one or all; the
model is not asked.
"""

from collections.abc import Sequence
from dataclasses import replace

from vespe.calls.program_place import CallWaits
from vespe.errors import NotFound
from vespe.features.agents.call_results import CallResult, interrupted, not_run
from vespe.features.agents.limits import Stop
from vespe.features.agents.open_calls import ModelCall
from vespe.features.agents.transcripts import Transcript
from vespe.features.agents.turns import TurnRunner

DENIED = "the user has denied this call; continue without it"


def selected(transcript: Transcript, ids: Sequence[str] = ()) -> list[ModelCall]:
    """Return the calls that wait, or those of these ids; raises NotFound where an id is none of
    theirs.
    """
    waiting = transcript.open
    for wanted in ids:
        if all(call.call_id != wanted for call in waiting):
            known = ", ".join(call.call_id for call in waiting) or "none"
            raise NotFound(
                f"no call {wanted!r} waits for a result", hint=f"those that wait: {known}"
            )
    return [call for call in waiting if not ids or call.call_id in ids]


def run_waiting(
    transcript: Transcript, calls: Sequence[ModelCall], turns: TurnRunner
) -> list[CallResult]:
    """Run these calls, each at most once: one that was begun in an earlier session is answered as
    interrupted.
    """
    results = {
        call.place: interrupted(call, known=False)
        for call in calls
        if turns.is_unknown(call, transcript.started, transcript.programs)
    }
    told = turns.on_result

    def finished(result: CallResult) -> None:
        transcript.answer({result.call.place: result.message})
        told(result)

    notes = replace(
        turns.program_notes, records=transcript.programs, note=transcript.note_program, waits=True
    )
    run = replace(turns, before=transcript.start, on_result=finished, program_notes=notes)
    try:
        run.run([call for call in calls if call.place not in results], results, stop=Stop())
    except CallWaits:
        pass  # what waits is in the transcript's notes
    finally:
        transcript.answer(
            {place: result.message for place, result in results.items()},
            settled=[call.place for call in calls],
        )
    return [results[place] for place in sorted(results)]


def deny_waiting(
    transcript: Transcript, calls: Sequence[ModelCall], *, reason: str = DENIED
) -> list[CallResult]:
    """Answer these calls, of which none is run: one that was begun in an earlier session was
    interrupted.
    """
    results = [
        interrupted(call, known=False)
        if call.place in transcript.started
        else not_run(call, reason, code="denied")
        for call in calls
    ]
    transcript.answer({result.call.place: result.message for result in results})
    return results
