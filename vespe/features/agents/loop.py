"""The one loop: ask the model, run its calls, tell it the results, and go on until it calls nothing
or a limit is reached.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Final

from vespe import errors
from vespe.adapters.streams.base import StreamEvent
from vespe.calls import tracing
from vespe.calls.program_place import CallWaits
from vespe.features.agents.call_checks import cut_places
from vespe.features.agents.call_results import CallResult, interrupted, not_run
from vespe.features.agents.events import EventSystem, Tell
from vespe.features.agents.limits import Limits, Quota, Spent, Stop
from vespe.features.agents.open_calls import ModelCall
from vespe.features.agents.program_calls import ProgramNotes
from vespe.features.agents.providers.base import LLMProvider, ModelAnswer, Tools, traits_of
from vespe.features.agents.providers.turns import retell, text_of
from vespe.features.agents.transcripts import Transcript
from vespe.features.agents.turns import TurnRunner
from vespe.models import JsonObject
from vespe.records import dataclass, json_of

DONE: Final = "done"
WAITS_FOR_APPROVAL: Final = "approval"
"""Why a run ends whose program makes a call that somebody must approve, and nobody can be asked."""
OnEvent = Callable[[StreamEvent], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """The result of a run.

    `stop_reason` is `done` if the model made no more calls, otherwise the limit that was reached
    (`max_iterations`, `max_calls`, `max_seconds`, `max_tokens`) or `cancelled`. `text` is the
    model's last text, and `finish_reason` is why it stopped, in OpenAI's terms. `complete` is false
    if the last answer was cut off. `messages` is the whole conversation in OpenAI's format. It may
    end with `open_calls` pending calls.
    """

    stop_reason: str
    text: str
    messages: list[JsonObject]
    calls: tuple[CallResult, ...] = ()
    usage: JsonObject = field(default_factory=dict)
    iterations: int = 0
    open_calls: int = 0
    finish_reason: str | None = None
    complete: bool = True

    def to_dict(self) -> JsonObject:
        """Return the JSON that `vespe agent run --json` prints."""
        return json_of(
            self,
            "stop_reason",
            "text",
            "finish_reason",
            "complete",
            "iterations",
            "usage",
            "open_calls",
            "calls",
            "messages",
        )


@dataclass(kw_only=True)
class Loop:
    """One model and what runs its calls; `tools` are the tools as the provider takes them, in the
    order of showing.

    With `stream` the answer is streamed. `on_event` is told what comes, streamed or not: text,
    calls, and a `tool_result` for each result, in the thread that runs the loop. `options` are what
    the vendor's request takes besides. Where `before_asking` raises, nothing is sent. With `events`
    a window that subscribed to `gui_update_request` is kept alive while the model is awaited.
    """

    provider: LLMProvider
    turns: TurnRunner
    tools: Tools = ()
    limits: Limits = field(default_factory=Limits)
    options: Mapping[str, object] = field(default_factory=dict)
    stream: bool = True
    on_event: OnEvent | None = None
    before_asking: Callable[[], None] | None = None
    events: EventSystem | None = None

    def run(
        self,
        transcript: Transcript,
        *,
        prompt: str | None = None,
        cancel: threading.Event | None = None,
    ) -> RunResult:
        """Run the calls that wait, then say `prompt` where there is one, then go on until the model
        is done or a limit is reached.

        The transcript is consistent at every moment, after an exception too: ProviderError,
        TimedOut, InvalidDocument (the vendor's rules), StorageError (it cannot be kept) and
        KeyboardInterrupt pass through.
        """
        run = _Run(self, transcript, Stop(cancel, seconds=self.limits.max_seconds))
        if (telemetry := tracing.telemetry()) is None:
            return run.go(prompt)
        with telemetry.invoke_agent(
            self.provider.name, getattr(self.provider, "model", None)
        ) as span:
            result = run.go(prompt)
            # a sum of nothing is not what was used: some APIs do not say it
            span.answered(
                result.usage if any(result.usage.values()) else None, result.finish_reason
            )
        return result


class _Run:
    """One run on its way."""

    def __init__(self, loop: Loop, transcript: Transcript, stop: Stop) -> None:
        self.loop, self.transcript, self.stop = loop, transcript, stop
        self.spent, self.quota = Spent(), Quota(loop.limits.max_calls_per_tool)
        self.answer: ModelAnswer | None = None
        self.done: list[CallResult] = []
        self.arrived: dict[str, float] = {}
        self.answered_at = 0.0
        self.cut: frozenset[int] = frozenset()

    def go(self, prompt: str | None) -> RunResult:
        if reason := self.run_open():
            return self.ended(reason)
        if prompt is not None:
            self.transcript.add({"role": "user", "content": prompt})
            self.loop.turns.heard(prompt)
        while True:
            last = self.spent.iterations >= self.loop.limits.max_iterations
            if reason := self.stop.reason or self.spent.over(self.loop.limits):
                return self.ended(reason)
            if last:
                self.transcript.add(
                    {"role": "user", "content": told_limit(self.loop.limits.max_iterations)}
                )
            if not self.ask(last=last):
                return self.ended(self.stop.reason or "cancelled")
            if not self.transcript.open:
                return self.ended("max_iterations" if last else DONE)
            if last:
                self.refuse_open()
                return self.ended("max_iterations")
            if reason := self.run_open():
                return self.ended(reason)

    def ask(self, *, last: bool) -> bool:
        """Ask the model once; False where it was told to stop meanwhile. An answer that did not
        come whole is not kept.
        """
        if self.loop.before_asking is not None:
            self.loop.before_asking()
        self.arrived, self.answered_at = {}, 0.0
        tools, options = self.loop.tools or None, dict(self.loop.options)
        if last and tools:
            forbidding = traits_of(self.loop.provider).no_calls
            tools, options = (
                (None, options) if forbidding is None else (tools, options | forbidding)
            )
        try:
            answer = self.respond(tools, options)
        except errors.Interrupted:
            if self.stop.is_set():
                return False
            raise
        self.answered_at = time.perf_counter()
        self.answer = answer
        self.spent.iterations += 1
        self.spent.add_usage(answer.usage)
        self.transcript.add(answer.message)
        self.cut = cut_places(
            self.transcript.open, answer.finish_reason, given=answer.message, cut=answer.cut_calls
        )
        if not self.loop.stream:
            retell(replace(answer, message=self.transcript.messages[-1]), self._tell)
        return True

    def respond(self, tools: Tools | None, options: JsonObject) -> ModelAnswer:
        """Have the provider answer, and tell of it where somebody listens."""
        if (telemetry := tracing.telemetry()) is None:
            return self._respond(tools, options)
        provider = self.loop.provider
        server: tuple[str, int] | None = getattr(provider, "server", None)
        with telemetry.chat(provider.name, getattr(provider, "model", None), server) as span:
            answer = self._respond(tools, options)
            span.answered(
                answer.usage,
                answer.finish_reason,
                model=answer.model,
                response_id=answer.response_id,
            )
        return answer

    def _respond(self, tools: Tools | None, options: JsonObject) -> ModelAnswer:
        """Have the provider answer: here, or beside a window that is kept alive meanwhile."""

        def work(cancel: threading.Event, tell: Tell) -> ModelAnswer:
            def heard(event: StreamEvent) -> None:
                if event.type in ("tool_start", "tool_arguments") and event.call_id:
                    self.arrived[event.call_id] = time.perf_counter()
                tell(lambda: self._tell(event))

            messages, on_event = self.transcript.messages, heard if self.loop.stream else None
            return self.loop.provider.respond(
                messages, tools, options=options, on_event=on_event, cancel=cancel
            )

        return (
            work(self.stop, _at_once)
            if self.loop.events is None
            else self.loop.events.beside(work, cancel=self.stop)
        )

    def run_open(self) -> str:
        """Run the calls that wait; gives why some still do, or "". The results are in the
        transcript whatever happens.
        """
        waiting = self.transcript.open
        if not waiting:
            return ""
        over = (
            self.stop.reason
            or self.spent.over(self.loop.limits)
            or self.spent.over_calls(self.loop.limits)
        )
        results = {
            call.place: interrupted(call, known=False)
            for call in waiting
            if self.loop.turns.is_unknown(call, self.transcript.started, self.transcript.programs)
        }
        if over and not results:
            return over
        left = self.loop.limits.max_calls
        turns = replace(
            self.loop.turns,
            before=self._before,
            on_result=self._finished,
            on_inner=self._inner,
            quota=self.quota,
            program_notes=ProgramNotes(
                records=self.transcript.programs,
                note=self.transcript.note_program,
                waits=self.transcript.keep is not None,
            ),
        )
        try:
            turns.run(
                [call for call in waiting if call.place not in results and not over],
                results,
                stop=self.stop,
                most=None if left is None else left - self.spent.calls,
                arrived={
                    call.call_id: self.arrived.get(call.call_id, self.answered_at)
                    for call in waiting
                    if self.answered_at
                },
                cut=self.cut,
            )
        except CallWaits:
            return WAITS_FOR_APPROVAL
        finally:
            self._keep(results)
        return (over or self.stop.reason or "max_calls") if self.transcript.open else ""

    def refuse_open(self) -> None:
        """Answer calls that the model makes although it was given no tools: none of them is run."""
        reason = (
            f"not run: the limit of {self.loop.limits.max_iterations} rounds of calls is reached"
        )
        results = {
            call.place: not_run(call, reason, code="max_iterations")
            for call in self.transcript.open
        }
        for result in results.values():
            self._finished(result)
        self._keep(results)

    def ended(self, reason: str) -> RunResult:
        content = self.answer.message.get("content") if self.answer else None
        return RunResult(
            stop_reason=reason,
            text=text_of(content),
            messages=self.transcript.messages,
            calls=tuple(self.done),
            usage=dict(self.spent.usage),
            iterations=self.spent.iterations,
            open_calls=len(self.transcript.open),
            finish_reason=self.answer.finish_reason if self.answer else None,
            complete=self.answer is None
            or (
                self.answer.complete
                and self.answer.finish_reason not in ("length", "content_filter")
            ),
        )

    def _keep(self, results: Mapping[int, CallResult]) -> None:
        ordered = [results[place] for place in sorted(results)]
        inner = sum(one.ran for result in ordered for one in result.inner)
        self.spent.calls += sum(result.ran for result in ordered) + inner
        self.done += ordered
        self.transcript.answer(
            {result.call.place: result.message for result in ordered},
            settled=self.transcript.started,
        )

    def _before(self, begun: Sequence[ModelCall]) -> None:
        self.transcript.start(begun)
        self.loop.turns.before(begun)

    def _finished(self, result: CallResult) -> None:
        self.transcript.answer({result.call.place: result.message})
        self.loop.turns.on_result(result)
        self._tell(result.event)

    def _inner(self, result: CallResult) -> None:
        self.loop.turns.on_result(result)
        self._tell(result.event)

    def _tell(self, event: StreamEvent) -> None:
        if self.loop.on_event is not None:
            self.loop.on_event(event)


def _at_once(act: Callable[[], object]) -> object:
    return act()


def told_limit(iterations: int) -> str:
    """Return what the model is told before its last turn."""
    rounds = "the one round" if iterations == 1 else f"all {iterations} rounds"
    return (
        f"[vespe] You have used {rounds} of tool calls. Call no more tools: answer now, "
        "with what you have."
    )
