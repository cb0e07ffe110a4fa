"""Yesterday's conversations on today's tools: the model's side from a recording, the calls on what
the project resolves now.
"""

from collections.abc import Iterator, Mapping

from vespe.adapters import tool_errors
from vespe.adapters.large_results.handles import LargeResults, handle_in
from vespe.calls.bridge import CALL, Bridge
from vespe.calls.path import CallPath, refused
from vespe.documents import strict_json
from vespe.errors import InvalidDocument, ProviderError, UnknownResult, VespeError
from vespe.features.agents import transcripts
from vespe.features.agents.call_checks import Ready
from vespe.features.agents.call_results import CallResult
from vespe.features.agents.open_calls import ModelCall
from vespe.features.agents.recording_file import first_difference, outcome_of
from vespe.features.agents.recordings import ReplayProvider
from vespe.features.agents.transcripts import Transcript
from vespe.features.agents.turns import PolicyLike, bounded, bridged, checked
from vespe.models import Call, JsonObject, JsonValue, Outcome, Tool
from vespe.records import dataclass, json_of
from vespe.schemas import validator
from vespe.schemas.explain import messages_of

SAME, DIFFERS, FITS, MISSING = "same", "differs", "fits", "missing"
"""What became of a call: its result is the recorded one; it is another, or the call fits no more;
it fits, not run; none was kept.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A call of a recorded turn, which counts from 1, with the message of its result, None where
    there is none. A result that the model was shown in part is whole here, and `large` has its
    handle.
    """

    turn: int
    call: ModelCall
    message: JsonObject | None
    large: LargeResults | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What became of a recorded call now: one of SAME, DIFFERS, FITS and MISSING, with a
    sentence.
    """

    turn: int
    call_id: str
    tool: str
    state: str
    said: str = ""

    @property
    def is_fault(self) -> bool:
        """Whether the change broke something, or nobody can say."""
        return self.state in (DIFFERS, MISSING)

    def to_dict(self) -> JsonObject:
        """Return the JSON shape of `vespe agent run --replay … --tools live --json`."""
        return json_of(self, call_id="id")


def recorded_calls(path: str) -> list[Recorded]:
    """Return the calls of a recording (`--record`) or of a kept conversation (`--save`), in order;
    raises InvalidDocument, StorageError.
    """
    try:
        return list(_of_recording(ReplayProvider(path, compare=False)))
    except InvalidDocument as error:
        try:
            return list(_of_talk(transcripts.load(path)))
        except InvalidDocument:
            raise error from None


def _of_recording(replay: ReplayProvider) -> Iterator[Recorded]:
    transcript, turn = Transcript([{"role": "user", "content": "-"}]), 0
    large = LargeResults() if replay.bounds_results else None
    while not replay.is_over:
        turn += 1
        try:
            transcript.add(replay.respond(transcript.messages).message)
        except ProviderError:  # the endpoint failed then: there are no calls to compare
            continue
        results: dict[int, JsonObject] = {}
        if large is not None:
            large.begin_turn()
        for call in transcript.open:
            made = replay.recorded_program(call.call_id)
            yield from (_made_by_program(turn, *one) for one in made)
            outcome = replay.recorded_outcome(call.call_id)
            message = None
            if outcome is not None:
                result = CallResult(call=call, outcome=outcome)
                message = result.message
                bounded(result, {}, large)
            results[call.place] = message or {
                "role": "tool",
                "tool_call_id": call.call_id,
                "content": "",
            }
            if not made:
                yield Recorded(turn=turn, call=call, message=message, large=large)
        transcript.answer(results)
        transcript.add({"role": "user", "content": "-"})


def _of_talk(talk: Transcript) -> Iterator[Recorded]:
    given, read, turn = list(talk.messages), Transcript(), 0
    large = LargeResults(talk.results)
    for index, message in enumerate(given):
        read.add(message)
        if message.get("role") != "assistant":
            continue
        turn += 1
        for call in read.open:
            if made := _of_program(talk.programs.get(call.call_id, {}), call.call_id):
                yield from (_made_by_program(turn, *one) for one in made)
                continue
            behind = (
                one
                for one in given[index + 1 :]
                if one.get("role") == "tool" and one.get("tool_call_id") == call.call_id
            )
            kept = next(behind, None)
            whole = None if kept is None else _whole(kept, large)
            yield Recorded(turn=turn, call=call, message=whole, large=large)


def _of_program(record: JsonObject, call_id: str) -> list[tuple[str, JsonObject, Outcome]]:
    """Return the calls that a kept program made and that ended."""
    return [
        (
            f"{call_id}/{number}",
            {"name": one["tool"], "arguments": one["arguments"]},
            outcome_of(one["outcome"]),
        )
        for number, one in enumerate(record.get("calls", ()), 1)
        if isinstance(one, dict) and isinstance(one.get("outcome"), dict)
    ]


def _made_by_program(turn: int, call_id: str, made: JsonObject, outcome: Outcome) -> Recorded:
    """Return a call of a program as any other: its result was whole."""
    call = ModelCall(call_id=call_id, name=str(made["name"]), arguments=made["arguments"])
    return Recorded(turn=turn, call=call, message=CallResult(call=call, outcome=outcome).message)


def _whole(message: JsonObject, large: LargeResults) -> JsonObject | None:
    """Return a kept result whole where the model was shown a part of it; None where that is kept no
    longer.
    """
    handle = handle_in(message.get("content"))
    if handle is None:
        return message
    try:
        return message | {"content": large.text_of(handle)[0]}
    except UnknownResult:
        return None


class LiveTools:
    """Compares recorded calls with the tools of a project: those that only read run, others are
    held to their schemas.

    With `in_copy`, the path is that of a copy of the project (`copied_project`), in which all of
    them run. `policy` decides on calls that run, as in an agent.
    """

    def __init__(
        self,
        path: CallPath,
        tools: Mapping[str, Tool],
        *,
        policy: PolicyLike,
        in_copy: bool = False,
    ) -> None:
        self._path, self._tools, self._policy, self._in_copy = path, tools, policy, in_copy
        self._bridge = None if CALL in tools else Bridge(tools)
        self._left = ""

    def compare(self, recorded: Recorded) -> Compared:
        """Say what becomes of one recorded call now; those before it were compared already."""
        call = recorded.call if self._bridge is None else bridged(recorded.call, self._bridge)
        state, said = self._judged(call, recorded.message, recorded.large)
        if state == DIFFERS and self._left:
            said += f" ({self._left} was not run before it; --in-copy runs it)"
        return Compared(
            turn=recorded.turn, call_id=call.call_id, tool=call.name, state=state, said=said
        )

    def _judged(
        self, call: ModelCall, message: JsonObject | None, large: LargeResults | None
    ) -> tuple[str, str]:
        if message is None:
            return MISSING, "its result was not recorded, or has expired"
        ready = checked(call, self._tools, strict=(), bridge=self._bridge, cut=False, large=large)
        if isinstance(ready, CallResult):
            return _difference(message, ready)
        why = "" if ready.read_only or self._in_copy else "it is not read-only"
        why = why or self._policy.why_not(ready.tool, ready.inputs)
        return self._not_run(ready, message, why) if why else _difference(message, self._run(ready))

    def _run(self, ready: Ready) -> CallResult:
        given = Call(
            tool=ready.tool.uid or ready.tool.name,
            arguments=ready.inputs,
            call_id=ready.call.call_id,
        )
        try:
            return CallResult(call=ready.call, outcome=self._path.run_tool(ready.tool, given))
        except VespeError as error:
            return CallResult(call=ready.call, outcome=refused(ready.tool, error))

    def _not_run(self, ready: Ready, message: JsonObject, why: str) -> tuple[str, str]:
        self._left = self._left or ready.call.name
        schema = ready.tool.output_schema
        if schema is None or tool_errors.is_failed(message):
            return FITS, f"not run: {why}"
        violations = validator.compile_schema(schema, closed=False).violations(
            _value(message), subject="the recorded result"
        )
        return (
            (DIFFERS, f"its output schema rejects the result: {messages_of(violations)}")
            if violations
            else (FITS, f"not run: {why}")
        )


def _difference(message: JsonObject, live: CallResult) -> tuple[str, str]:
    """Compare what the model was told with what it would be told now."""
    now = live.message
    if tool_errors.is_failed(message) != tool_errors.is_failed(now):
        return (
            DIFFERS,
            f"it {'failed' if tool_errors.is_failed(message) else 'succeeded'}, and now: "
            f"{_short(now['content'])}",
        )
    found = first_difference(_value(message), _value(now), masked=True)
    if found is None:
        return SAME, ""
    pointer, sentence = found
    return DIFFERS, f"{pointer}: {sentence}" if pointer else sentence


def _value(message: JsonObject) -> JsonValue:
    content = message.get("content")
    if not isinstance(content, str):
        return content
    try:
        return strict_json.parse_json(content, path="")
    except InvalidDocument:
        return content


def _short(content: JsonValue) -> str:
    text = content if isinstance(content, str) else strict_json.compact_json(content)
    return text if len(text) <= 300 else f"{text[:300]}…"
