"""A response of any vendor's client, as data or as the client's own object: the model's turn, its
calls, and where results go.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Protocol

from vespe.adapters import ADAPTERS, callers
from vespe.adapters.gemini_interactions import last_turn
from vespe.adapters.model_calls import objects, read_answer
from vespe.adapters.openai import to_wire
from vespe.calls.bridge import SEARCH
from vespe.errors import ParsingError
from vespe.features.agents.call_results import CallResult
from vespe.features.agents.open_calls import ModelCall, caller_of
from vespe.models import JsonObject, JsonValue, Tool
from vespe.records import dataclass

_BEFORE_GEMINI_3: Final = re.compile(r"(?:models/)?gemini-[12](?!\d)")


class RunsCalls(Protocol):
    """What a framework's own tools are made of: tools, and what runs the calls that a model makes
    of them.
    """

    @property
    def declared(self) -> Mapping[str, Tool]:
        """The tools that a model is told of, by name."""
        ...

    def run_call(self, name: str, arguments: JsonObject | str, *, call_id: str = "") -> CallResult:
        """Run one call."""
        ...

    async def arun_call(
        self, name: str, arguments: JsonObject | str, *, call_id: str = ""
    ) -> CallResult:
        """Run one call from an event loop."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One answer of a model: the messages that keep it in a conversation, its calls, and whether
    its end was cut off.

    `vendor` is a key of ADAPTERS, `model` the name that the answer says, "" where it says none;
    `programs` are the ids of those that the answer holds, which the vendor runs.
    """

    vendor: str
    messages: Sequence[JsonObject]
    calls: Sequence[ModelCall]
    cut: bool = False
    model: str = ""
    unsure: bool = False
    """Whether none of the calls may run, since the answer goes on elsewhere."""
    callers: Sequence[JsonValue] = ()
    """What the calls say of who makes them, where their API says it."""
    programs: frozenset[str] = frozenset()

    def results(
        self,
        results: Sequence[CallResult],
        tools: Mapping[str, Tool],
        *,
        put_off: Collection[str] = (),
    ) -> list[JsonObject]:
        """Return the messages that tell the model what became of its calls, in the order of the
        calls.

        Of tools that were `put_off` and that a search of ours found, Anthropic is told by
        reference: its API shows the definitions then.
        """
        if self.vendor == "openai" and _have_images(results):
            # its tool messages take no image: a user message behind them does
            return to_wire([result.message for result in results])
        names = {call.place: call.name for call in self.calls}
        told = [
            self._told(result, tools, name=names.get(result.call.place, result.call.name))
            for result in results
        ]
        if self.vendor == "anthropic":
            told = [
                block | _references(result, put_off)
                for block, result in zip(told, results, strict=True)
            ]
            return [{"role": "user", "content": told}] if told else []
        if self.vendor == "gemini":
            if _BEFORE_GEMINI_3.match(self.model):
                told = [part for one in told for part in _beside(one)]
            return [{"role": "user", "parts": told}] if told else []
        if self.vendor == "openai-responses":
            by = dict(enumerate(self.callers))
            told = [
                one | ({"caller": caller} if (caller := by.get(result.call.place)) else {})
                for one, result in zip(told, results, strict=True)
            ]
        return told

    def _told(self, result: CallResult, tools: Mapping[str, Tool], *, name: str) -> JsonObject:
        """Say what became of a call, under the `name` that the model called: what a bridge called
        in its place has one of its own.
        """
        tool = tools.get(result.call.name) or Tool(
            uid="", name=name, description="", input_schema={}
        )
        told: JsonObject = ADAPTERS[self.vendor](replace(tool, name=name)).format_tool_output(
            result.told, call_id=result.call.call_id
        )
        return told


def _have_images(results: Sequence[CallResult]) -> bool:
    """Whether a result is shown as an image, and each says which call it is of."""
    return any(isinstance(result.message["content"], list) for result in results) and all(
        result.call.call_id for result in results
    )


def _beside(part: JsonObject) -> list[JsonObject]:
    """Return the part of a result with its images behind it, in place of in it.

    https://ai.google.dev/gemini-api/docs/function-calling (multimodal function responses)
    """
    response = dict(part["functionResponse"])
    images = response.pop("parts", [])
    return [{"functionResponse": response}, *images]


def _references(result: CallResult, put_off: Collection[str]) -> JsonObject:
    """Return the content that loads what a search found, `{}` where there is nothing to load.

    https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool
    """
    found = (
        result.outcome.result.get("tools", ())
        if result.call.name == SEARCH and isinstance(result.outcome.result, dict)
        else ()
    )
    blocks = [
        {"type": "tool_reference", "tool_name": tool["name"]}
        for tool in found
        if tool["name"] in put_off
    ]
    return {"content": blocks} if blocks else {}


def read_turn(response: object, *, programs: Collection[str] = ()) -> Turn:
    """Read a response: an object, its JSON text, or what a vendor's client returned. A message
    alone counts as well. `programs` are those of the answers before it.

    Raises ParsingError for what is none of OpenAI's or Gemini's (two APIs each), Anthropic's or
    Ollama's, InvalidToolCall for calls that are not lists of objects.
    """
    given = read_answer(_data(response), what="the response")
    for fits, read in _VENDORS:
        if fits(given):
            return _with_callers(read(given), programs)
    keys = ", ".join(list(given)[:8])
    raise ParsingError(
        f"the response is of no API that Vespe knows: it has {keys or 'no keys'}",
        hint="give the whole response of OpenAI, Anthropic, Gemini or Ollama, "
        "or the model's message in it",
    )


def _with_callers(turn: Turn, programs: Collection[str]) -> Turn:
    """Return a turn whose calls say who makes them, where their API tells it."""
    known = turn.programs.union(programs)
    calls = [
        replace(call, caller=caller_of(callers.program_of(by), known))
        for call, by in zip(turn.calls, turn.callers, strict=False)
    ]
    return replace(turn, calls=calls) if calls else turn


def _data(response: object) -> JsonValue:
    """Return a client's own object as the data that it was made from."""
    dump = getattr(response, "model_dump", None)
    if callable(dump) and not isinstance(response, type):
        return dump(mode="json", by_alias=True, exclude_unset=True)
    return dict(response) if isinstance(response, Mapping) else response


def _call(place: int, name: Any, arguments: Any, identifier: Any) -> ModelCall:
    called, known = (
        name if isinstance(name, str) else "",
        identifier if isinstance(identifier, str) else "",
    )
    return ModelCall(call_id=known, name=called, arguments=arguments, place=place)


def _of_chat(given: JsonObject) -> Turn:
    choice = next(objects(given.get("choices"), "`choices`"), {"message": given})
    message = choice.get("message") or {}
    calls = [
        _call(place, held.get("name"), held.get("arguments", held.get("input")), call.get("id"))
        for place, call in enumerate(objects(message.get("tool_calls"), "`tool_calls`"))
        if isinstance(held := call.get("function") or call.get("custom") or {}, dict)
    ]
    return Turn(
        vendor="openai",
        messages=[{"role": "assistant", **message}],
        calls=calls,
        cut=choice.get("finish_reason") == "length",
    )


def _of_responses(given: JsonObject) -> Turn:
    items = list(objects(given.get("output"), "`output`"))
    called = [item for item in items if item.get("type") == "function_call"]
    calls = [
        _call(place, item.get("name"), item.get("arguments"), item.get("call_id"))
        for place, item in enumerate(called)
    ]
    return Turn(
        vendor="openai-responses",
        messages=items,
        calls=calls,
        cut=given.get("status") == "incomplete",
        callers=[item.get("caller") for item in called],
        programs=frozenset(callers.programs_among(items)),
    )


def _of_anthropic(given: JsonObject) -> Turn:
    content = given.get("content")
    blocks = [] if isinstance(content, str) else list(objects(content, "`content`"))
    used = [block for block in blocks if block.get("type") == "tool_use"]
    calls = [
        _call(place, block.get("name"), block.get("input"), block.get("id"))
        for place, block in enumerate(used)
    ]
    message = {"role": "assistant", "content": content}
    return Turn(
        vendor="anthropic",
        messages=[message],
        calls=calls,
        cut=given.get("stop_reason") == "max_tokens",
        callers=[block.get("caller") for block in used],
        programs=frozenset(callers.programs_among(blocks)),
    )


def _of_gemini(given: JsonObject) -> Turn:
    candidate = next(objects(given.get("candidates"), "`candidates`"), {"content": given})
    content = candidate.get("content") or {}
    held = [
        part.get("functionCall", part.get("function_call"))
        for part in objects(content.get("parts"), "`parts`")
    ]
    called = [call for call in held if isinstance(call, dict)]
    calls = [
        _call(place, call.get("name"), call.get("args"), call.get("id"))
        for place, call in enumerate(called)
    ]
    return Turn(
        vendor="gemini",
        messages=[{"role": "model", **content}],
        calls=calls,
        cut=candidate.get("finishReason") == "MAX_TOKENS",
        model=str(given.get("modelVersion", "")),
    )


def _of_interactions(given: JsonObject) -> Turn:
    steps = last_turn(objects(given["steps"], "`steps`"))
    called = [step for step in steps if step.get("type") == "function_call"]
    calls = [
        _call(place, step.get("name"), step.get("arguments"), step.get("id"))
        for place, step in enumerate(called)
    ]
    return Turn(
        vendor="gemini-interactions",
        messages=steps,
        calls=calls,
        cut=given.get("status") in ("incomplete", "budget_exceeded"),
        unsure=given.get("status") == "requires_continuation",
    )


def _of_ollama(given: JsonObject) -> Turn:
    message = given["message"]
    held = [
        call.get("function") or {} for call in objects(message.get("tool_calls"), "`tool_calls`")
    ]
    calls = [
        _call(place, one.get("name"), one.get("arguments"), None) for place, one in enumerate(held)
    ]
    return Turn(
        vendor="ollama", messages=[message], calls=calls, cut=given.get("done_reason") == "length"
    )


def _has_blocks(given: JsonObject) -> bool:
    return (
        isinstance(given.get("content"), list)
        and given.get("role") == "assistant"
        and "tool_calls" not in given
    )


_VENDORS: Final[Sequence[tuple[Callable[[JsonObject], bool], Callable[[JsonObject], Turn]]]] = (
    (lambda given: "choices" in given, _of_chat),
    (lambda given: isinstance(given.get("output"), list), _of_responses),
    (lambda given: "candidates" in given or isinstance(given.get("parts"), list), _of_gemini),
    (lambda given: isinstance(given.get("steps"), list), _of_interactions),
    (lambda given: given.get("type") == "message" or _has_blocks(given), _of_anthropic),
    (lambda given: isinstance(given.get("message"), dict), _of_ollama),
    (lambda given: given.get("role") == "assistant", _of_chat),
)
"""How each API's response is known, in the order in which that is looked at."""


def cut_calls(turn: Turn) -> Iterator[int]:
    """Return the places of calls that may not have come whole: the last one, where the answer's end
    was cut off, all where the answer goes on elsewhere.
    """
    if turn.unsure:
        yield from (call.place for call in turn.calls)
    elif turn.cut and turn.calls:
        yield turn.calls[-1].place
