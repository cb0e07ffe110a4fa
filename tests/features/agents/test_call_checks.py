"""A call before it runs."""

from typing import Any

import pytest

from vespe.features.agents.call_checks import Ready, check, cut_places, refused_caller
from vespe.features.agents.call_results import CallResult
from vespe.features.agents.open_calls import ModelCall
from vespe.models import Tool

SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer", "default": 7}, "s": {"type": "string"}},
}
TOOL = Tool(uid="u", name="f", description="", input_schema=SCHEMA)


def checked(arguments: Any, **options: Any) -> Any:
    return check(ModelCall(call_id="c", name="f", arguments=arguments), {"f": TOOL}, **options)


@pytest.mark.parametrize("arguments", ["", None, "{}", {}])
def test_nothing_is_an_empty_object_with_the_schemas_defaults(arguments: Any) -> None:
    assert checked(arguments).inputs == {"n": 7}


@pytest.mark.parametrize(
    "arguments", ["null", "[]", " ", "{", '"{}"', 7, True, ["x"], '{"n": "x"}', '{"other": 1}']
)
def test_anything_else_than_an_object_that_the_schema_takes_is_an_error_that_the_model_can_mend(
    arguments: Any,
) -> None:
    made = checked(arguments)
    assert (
        isinstance(made, CallResult)
        and made.outcome.error is not None
        and made.outcome.error.retryable
        and not made.ran
    )


def test_the_nulls_of_strict_mode_are_taken_out_where_the_tool_was_shown_in_it() -> None:
    assert checked('{"n": 1, "s": null}', strict={"f"}).inputs == {"n": 1}
    assert isinstance(checked('{"n": 1, "s": null}'), CallResult)


def test_an_unknown_name_is_told_with_the_nearest_ones_and_no_name_is_told_so() -> None:
    for name, said in (
        ("ff", "did you mean f?"),
        ("zzzz", "the tools are f;"),
        ("", "names no tool"),
    ):
        made = check(ModelCall(call_id="c", name=name), {"f": TOOL})
        assert isinstance(made, CallResult) and said in made.message["content"]


def test_a_repeated_call_is_not_even_looked_at() -> None:
    made = check(ModelCall(call_id="c", name="f", arguments="{}", repeated=True), {"f": TOOL})
    assert (
        isinstance(made, CallResult)
        and made.outcome.error is not None
        and made.outcome.error.code == "repeated_call"
    )


@pytest.mark.parametrize(
    ("hints", "reads"),
    [
        ({"readOnlyHint": True}, True),
        ({"idempotentHint": True}, False),
        ({"readOnlyHint": "yes"}, False),
    ],
)
def test_only_a_read_only_hint_that_is_true_makes_a_call_read_only(hints: Any, reads: bool) -> None:
    tool = Tool(uid="u", name="f", description="", input_schema={}, annotations=hints)
    assert Ready(call=ModelCall(call_id="c", name="f"), tool=tool, inputs={}).read_only is reads


def test_only_a_last_call_without_arguments_may_be_cut_by_a_limit_of_the_model() -> None:
    empty, full = (
        ModelCall(call_id="a", name="f", place=0),
        ModelCall(call_id="b", name="f", arguments='{"n":1}', place=1),
    )
    assert (
        cut_places([full, empty], "length") == {0}
        and cut_places([empty, full], "length") == frozenset()
    )
    assert (
        cut_places([full, empty], "tool_calls") == frozenset()
        and cut_places([], "length") == frozenset()
    )


def test_a_program_calls_what_it_may_and_no_stranger_calls_anything() -> None:
    call = ModelCall(call_id="c", name="f", caller="program")
    assert refused_caller(call, {"f"}) is None
    assert refused_caller(ModelCall(call_id="c", name="f"), ()) is None
    for one, allowed, said in (
        (call, {"g"}, "programs may not call 'f'; call the tool yourself"),
        (
            ModelCall(call_id="c", name="f", caller="stranger"),
            {"f"},
            "a program that is not in this conversation; call the tool yourself",
        ),
    ):
        made = refused_caller(one, allowed)
        assert made is not None and made.outcome.error is not None and not made.ran
        assert made.outcome.error.code == "caller_not_allowed" and made.outcome.error.retryable
        assert said in made.message["content"] and made.message["is_error"] is True
