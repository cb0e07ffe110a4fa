"""Google's own types as judges, closed as those of `judges.py`. Their import takes seconds, so that
only the tests of Gemini's Interactions have it.
"""

import functools
from typing import Any

import jsonschema_rs
from google.genai import interactions
from pydantic import TypeAdapter

from tests.adapters.judges import closed

TYPES: dict[str, Any] = {
    "step": interactions.Step,
    "request": interactions.CreateModelInteraction,
    "event": interactions.InteractionSSEEvent,
    "interaction": interactions.Interaction,
    "tool": interactions.Function,
}


@functools.cache
def judge(kind: str) -> Any:
    """Give the validator of one of Google's types."""
    return jsonschema_rs.validator_for(closed(TypeAdapter(TYPES[kind]).json_schema()))


def complaint(kind: str, value: Any) -> str:
    """What Google's type has against a value, "" where it takes it."""
    return next(
        (f"{error.message} at {error.instance_path}" for error in judge(kind).iter_errors(value)),
        "",
    )
