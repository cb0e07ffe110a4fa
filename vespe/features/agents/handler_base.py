"""What handles one streamed answer of an API: its stream gathered, its calls run, and what to send
next in the API's own format.
"""

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Protocol

from vespe.adapters.callers import open_to_programs
from vespe.adapters.streams.base import StreamEvent, StreamingProcessor
from vespe.calls.policy import CallPolicy, policy_for
from vespe.features.agents.call_checks import cut_places
from vespe.features.agents.call_results import CallResult
from vespe.features.agents.events import Runner
from vespe.features.agents.limits import Stop
from vespe.features.agents.transcripts import Transcript
from vespe.features.agents.turns import TurnRunner
from vespe.models import JsonObject, Tool
from vespe.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamContext:
    """The context of the calls in a streamed answer: the tools that the model saw, and the runner
    for them.

    `runner` is a CallPath, or an EventSystem for a GUI that runs the calls. `policy` decides about
    calls. The default is the same as on the command line without a terminal: calls that the
    configurations of the runner's project or of the user deny are denied, read-only tools run, and
    all others are denied. A runner without a project needs a policy: UsageError. `strict` contains
    the names of the tools that were declared in strict mode. `on_event` is called with every event,
    in the caller's thread; `cancel` stops running calls.
    """

    tools: Sequence[Tool]
    runner: Runner
    policy: CallPolicy | None = None
    strict: frozenset[str] = frozenset()
    on_event: Callable[[StreamEvent], None] | None = None
    cancel: threading.Event | None = None

    def __post_init__(self) -> None:
        self.decides()

    def decides(self) -> CallPolicy:
        """Return the policy that decides about calls; raises UsageError, and InvalidDocument for an
        invalid rule in a configuration.
        """
        return policy_for(self.runner) if self.policy is None else self.policy


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamingRequest:
    """The request that is being answered: the API's own payload, with its `messages` (`input` of
    OpenAI's Responses).
    """

    payload: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamResult:
    """The result of one answer: the model's `message` in the inner format, the results of its
    calls, and what to send next.

    `continuation` contains the messages to add to the request, in the API's format: the model's
    turn, directly followed by all results. `next_request` is the request with these messages, or
    None if there were no calls and the model is done. `complete` is false if the stream was cut
    off; calls that may be incomplete are answered with errors. If the stream contained an `error`,
    nothing runs and there is no next request.
    """

    message: JsonObject
    results: tuple[CallResult, ...] = ()
    continuation: tuple[JsonObject, ...] = ()
    next_request: StreamingRequest | None = None
    finish_reason: str | None = None
    usage: JsonObject | None = None
    error: JsonObject | None = None
    complete: bool = True


class ToolHandler(Protocol):
    """The interface for handling tools, which is the same for all APIs."""

    def supports_tools(self) -> bool:
        """Whether the API supports tools natively."""
        ...

    def prepare_payload(
        self,
        payload: JsonObject,
        tool_definitions: Sequence[Tool | JsonObject],
        tools_system_prompt: str,
    ) -> JsonObject:
        """Return a copy of the payload with the tools in the API's format, and the prompt appended
        to its system text.
        """
        ...

    def process_stream(
        self,
        response: Iterable[bytes] | bytes,
        request: StreamingRequest,
        standard_response: JsonObject,
        context: StreamContext,
    ) -> StreamResult:
        """Read an answer's bytes, complete or in chunks of any size, run its calls, and return what
        to send next. `standard_response` is filled in.
        """
        ...


class Dialect(Protocol):
    """What differs from one API to another."""

    def processor(self) -> StreamingProcessor:
        """Make what reads a stream."""
        ...

    def inner(self, payload: JsonObject) -> list[JsonObject]:
        """Return a request's messages in the inner format."""
        ...

    def continuation(self, messages: Sequence[JsonObject], *, answered: int) -> list[JsonObject]:
        """Return the last `answered` messages of a conversation, a model's turn and its results, in
        the API's format.
        """
        ...

    def extended(self, payload: JsonObject, said: Sequence[JsonObject]) -> JsonObject:
        """Return a request with what was said behind its messages."""
        ...


def supports_tools(_: Dialect) -> bool:
    """Say that the API takes tools."""
    return True


def process_stream(
    self: Dialect,
    response: Iterable[bytes] | bytes,
    request: StreamingRequest,
    standard_response: JsonObject,
    context: StreamContext,
) -> StreamResult:
    """Read an answer, run its calls, and continue with the model's turn and, directly behind it,
    its results, in the API's format.

    `standard_response` is filled in. Raises what reading `response` raises, and nothing runs then.

    What comes behind the answer's last word is not waited for: servers leave connections open
    there, and break them.
    """
    transcript = Transcript(self.inner(request.payload))
    processor, arrived = self.processor(), dict[str, float]()
    try:
        for piece in (response,) if isinstance(response, (bytes, bytearray)) else response:
            if _tell(processor.feed(piece), context, arrived) or processor.error is not None:
                break
        _tell(processor.close(), context, arrived)
        processor.update_response(standard_response)
        gathered = StreamResult(
            message=processor.message(),
            finish_reason=processor.finish_reason,
            usage=processor.usage,
            error=processor.error,
            complete=processor.complete,
        )
        cut = processor.cut_calls()
    finally:
        processor.cleanup()
    return _run(self, transcript, request, context, gathered=gathered, work=(cut, arrived))


def _run(
    dialect: Dialect,
    transcript: Transcript,
    request: StreamingRequest,
    context: StreamContext,
    *,
    gathered: StreamResult,
    work: tuple[frozenset[str], dict[str, float]],
) -> StreamResult:
    if gathered.error is not None:
        return gathered
    transcript.add(gathered.message)
    turn, before = transcript.open, len(transcript.messages) - 1
    if not turn:
        return gathered
    results: dict[int, CallResult] = {}
    cut, arrived = work
    tools = request.payload.get("tools")
    runner = TurnRunner(
        tools={tool.name: tool for tool in context.tools},
        runner=context.runner,
        policy=context.decides(),
        strict=context.strict,
        programs=open_to_programs(tools if isinstance(tools, list) else ()),
        on_result=lambda result: (
            None if context.on_event is None else context.on_event(result.event)
        ),
    )
    runner.saw_before(transcript.messages[:before])
    runner.run(
        turn,
        results,
        stop=Stop(context.cancel),
        arrived=arrived,
        cut=cut_places(turn, gathered.finish_reason, given=gathered.message, cut=cut),
    )
    transcript.answer({place: result.message for place, result in results.items()})
    said = dialect.continuation(transcript.messages, answered=len(transcript.messages) - before)
    payload = dialect.extended(request.payload, said)
    return replace(
        gathered,
        message=transcript.messages[before],
        results=tuple(results[place] for place in sorted(results)),
        continuation=tuple(said),
        next_request=StreamingRequest(payload=payload),
    )


def _tell(events: Iterable[StreamEvent], context: StreamContext, arrived: dict[str, float]) -> bool:
    """Tell events, and give whether the stream said that it is over; one that may hold several
    messages says so when it is closed.
    """
    over = False
    for event in events:
        over = over or event.type == "done"
        if event.type in ("tool_start", "tool_arguments") and event.call_id:
            arrived[event.call_id] = time.perf_counter()
        if context.on_event is not None:
            context.on_event(event)
    return over
