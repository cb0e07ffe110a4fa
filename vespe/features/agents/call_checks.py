"""A model's call before it runs: a tool of that name, arguments that are one JSON object, and a
schema that takes them.
"""

import json
from collections.abc import Collection, Mapping, Sequence

from vespe import errors
from vespe.adapters.large_results.handles import LargeResults
from vespe.adapters.large_results.references import Reference, resolve
from vespe.calls import path as call_path
from vespe.features.agents.call_results import CallResult, not_run
from vespe.features.agents.open_calls import ModelCall, calls_of
from vespe.lazy import difflib
from vespe.models import JsonObject, JsonValue, Tool
from vespe.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """A call that may run, but for a person's word: the tool, and the inputs as it gets them.

    `references` are the arguments that were given as the handle of a large result.
    """

    call: ModelCall
    tool: Tool
    inputs: JsonObject
    references: tuple[Reference, ...] = ()

    @property
    def origins(self) -> dict[str, str]:
        """Where the values of those arguments come from, by the arguments' names."""
        return {one.argument: one.origin for one in self.references}

    @property
    def read_only(self) -> bool:
        """Whether the tool is annotated as read-only. An idempotent tool may still write what the
        next call reads.
        """
        return self.tool.annotations.get("readOnlyHint") is True


def check(
    call: ModelCall,
    tools: Mapping[str, Tool],
    *,
    strict: Collection[str] = (),
    large: LargeResults | None = None,
) -> Ready | CallResult:
    """Return the call ready to run, or the result that says why it does not.

    `tools` are those that the model was shown, by name; `strict` names the ones shown in strict
    mode, whose nulls for what is absent are taken out again. Absent arguments, null and the empty
    text are `{}`, and nothing else is. References to results of `large` are resolved.
    """
    from vespe.adapters import openai_strict

    if call.repeated:
        return not_run(
            call,
            f"the id {call.call_id!r} was already used, and each id runs only once",
            code="repeated_call",
        )
    tool = tools.get(call.name)
    if tool is None:
        return not_run(call, _unknown(call.name, tools), code="tool_not_found", retryable=True)
    try:
        inputs = _parsed(call.arguments)
        inputs = (
            openai_strict.without_nulls(tool.input_schema, inputs)
            if call.name in strict
            else inputs
        )
        inputs, references = (
            (inputs, ()) if large is None else resolve(inputs, tool.input_schema, large)
        )
        checked = call_path.checked_inputs(tool, inputs)
        return Ready(call=call, tool=tool, inputs=checked, references=references)
    except errors.VespeError as error:
        return CallResult(call=call, outcome=call_path.refused(tool, error))


def refused_caller(call: ModelCall, programs: Collection[str]) -> CallResult | None:
    """Return the result of a call that a program makes and may not make, None for any other.

    `programs` are the names of the tools that programs may call, as the model was told.
    """
    if call.caller == "stranger":
        why = "the call names a program that is not in this conversation"
    elif call.caller == "program" and call.name not in programs:
        why = f"programs may not call {call.name[:64]!r}"
    else:
        return None
    return not_run(
        call, f"{why}; call the tool yourself", code="caller_not_allowed", retryable=True
    )


def cut_places(
    calls: Sequence[ModelCall],
    finish_reason: str | None,
    *,
    given: JsonObject | None = None,
    cut: Collection[str] = (),
) -> frozenset[int]:
    """Return the places of the calls that may not have come whole: those of the ids `cut` in the
    message as it was `given`.

    And the last call where a limit of the model may have cut it off: it has no arguments, and
    nothing came behind it.
    """
    places = {
        place for place, call in enumerate(calls_of(given or {})) if str(call.get("id")) in cut
    }
    if (
        finish_reason in ("length", "content_filter")
        and calls
        and calls[-1].arguments in (None, "", "{}")
    ):
        places.add(calls[-1].place)
    return frozenset(places)


def _parsed(arguments: JsonValue) -> JsonObject:
    if arguments is None or arguments == "":
        return {}
    if isinstance(arguments, dict):
        return arguments
    return call_path.parsed_arguments(
        arguments if isinstance(arguments, str) else json.dumps(arguments)
    )


def _unknown(name: str, tools: Mapping[str, Tool]) -> str:
    if not name:
        return "the call names no tool"
    close = difflib.get_close_matches(name[:64], tools, n=3)
    known = (
        f"did you mean {' or '.join(close)}?"
        if close
        else f"the tools are {', '.join(list(tools)[:20])}"
        if tools
        else "no tool is available"
    )
    return f"there is no tool called {name[:64]!r} here: {known}"
