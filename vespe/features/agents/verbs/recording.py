"""`--record` and `--replay`: the provider that writes down or gives again, and what it says of
calls.
"""

from dataclasses import replace
from typing import Any

from vespe import errors
from vespe.features.agents.call_results import WAITS, CallResult, Known
from vespe.features.agents.loop import RunResult
from vespe.features.agents.open_calls import ModelCall
from vespe.features.agents.providers.base import LLMProvider
from vespe.features.agents.recordings import RecordingProvider, ReplayProvider
from vespe.features.agents.transcripts import Transcript
from vespe.features.agents.verbs.setup import Wanted
from vespe.records import dataclass, json_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What the command line says of recordings."""

    record: str | None
    replay: str | None
    run_tools: bool

    def provider(
        self, wanted: Wanted, transcript: Transcript
    ) -> tuple[LLMProvider, dict[str, Any]]:
        """Return the provider that goes on with a conversation, and the agent's options that go
        with it.

        Raises UsageError for options that exclude each other.
        """
        if self.run_tools and self.replay is None:
            raise errors.UsageError("--run-tools needs --replay")
        if self.replay is None:
            return self._recording(wanted, transcript)
        if self.record is not None or wanted.provider is not None or wanted.script is not None:
            raise errors.UsageError(
                "--replay takes its answers from the recording: leave out --record, --provider and "
                "--script"
            )
        replaying = ReplayProvider(self.replay)
        return replaying, {} if self.run_tools else {"known": RecordedCalls(replaying)}

    def ended(self, provider: LLMProvider, result: RunResult) -> RunResult:
        """Write down why a run ended, or give a replay's result with what was written down where
        calls wait.

        Raises Diverged where a replay ended before its recording.
        """
        if isinstance(provider, RecordingProvider):
            provider.record_end(result.stop_reason)
        if not isinstance(provider, ReplayProvider):
            return result
        provider.check_finished()
        return replace(result, stop_reason=provider.stop_reason) if result.open_calls else result

    def _recording(
        self, wanted: Wanted, transcript: Transcript
    ) -> tuple[LLMProvider, dict[str, Any]]:
        provider = wanted.llm(transcript)
        if self.record is None:
            return provider, {}
        recording = RecordingProvider(provider, self.record)

        def note(result: CallResult) -> None:
            call = result.call
            made = json_of(call, "name", "arguments") if call.parent else None
            recording.record_outcome(call.call_id, result.outcome, made=made)

        return recording, {"on_result": note}


@dataclass(frozen=True, slots=True)
class RecordedCalls:
    """What a recording says became of a call; one that it does not know was not run then, and is
    not run now.

    Behind the last turn such a call waits, as it did when the recorded run ended; before it, the
    recording is not whole.
    """

    replaying: ReplayProvider

    def __call__(self, call: ModelCall) -> Known:
        outcome = self.replaying.recorded_outcome(call.call_id)
        if outcome is None and self.replaying.is_over:
            return WAITS
        if outcome is None:
            raise errors.Diverged(
                f"the recording has no result of the call {call.call_id!r} of {call.name!r}",
                turn=0,
                hint="record it again",
            )
        return outcome
