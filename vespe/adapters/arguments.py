"""A call's arguments: a JSON text on OpenAI's side, an object on the others', and one key for what
is no JSON object.
"""

import json
from typing import Final

from vespe.documents import strict_json
from vespe.documents.strict_json import text_encoder
from vespe.errors import InvalidDocument
from vespe.models import JsonObject, JsonValue

KEY: Final = "vespe_arguments"
"""An input `{KEY: text}` holds, verbatim, arguments that are no JSON object;
`{KEY: {"custom": text}}` a custom call's input.
"""
CUSTOM: Final = "custom"
_ENCODER: Final = text_encoder(
    json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
)
"""Compact JSON as `documents.compact_json` writes it, with an encoder that is made once: there are
many calls.
"""


def to_input(arguments: JsonValue) -> JsonObject:
    """Return the input object of OpenAI's `arguments`; `""` and null are `{}`, and they alone.

    What is not one strict JSON object travels as `{"vespe_arguments": text}`. So does an object
    that itself reads as such a text's, or as a custom call's, so that `to_arguments` gives it back.
    """
    if arguments is None or arguments == "":
        return {}
    text = arguments if isinstance(arguments, str) else to_text(arguments)
    try:
        data = text.encode("utf-8")
        value = strict_json.parse_json(data, limit=len(data))
    except (InvalidDocument, UnicodeEncodeError):
        return {KEY: strict_json.repair_surrogates(text)}
    plain = isinstance(value, dict) and (
        value.keys() != {KEY} or (kept_text(value) is None and custom_text(value) is None)
    )
    return value if plain else {KEY: text}


def to_arguments(value: JsonValue) -> str:
    """Return OpenAI's `arguments` of an input: compact JSON, or the text that the input's one key
    holds.
    """
    kept = kept_text(value)
    return to_text({} if value is None else value) if kept is None else kept


def kept_text(value: JsonValue) -> str | None:
    """Return the text that was no JSON object when it set out, or None where `value` is an input
    like any other.

    A text that is a JSON object never sets out so: such an input is the vendor's own.
    """
    if not isinstance(value, dict) or value.keys() != {KEY} or not isinstance(value[KEY], str):
        return None
    text = strict_json.repair_surrogates(value[KEY])
    return text if to_input(text) == {KEY: text} else None


def custom_input(text: str) -> JsonObject:
    """Return the input that holds a custom call's text, for `custom_text` to give back."""
    return {KEY: {CUSTOM: text}}


def custom_text(value: JsonValue) -> str | None:
    """Return the text of a custom call's input, or None where `value` is another's."""
    inner = value[KEY] if isinstance(value, dict) and value.keys() == {KEY} else None
    if isinstance(inner, dict) and inner.keys() == {CUSTOM} and isinstance(inner[CUSTOM], str):
        return strict_json.repair_surrogates(inner[CUSTOM])
    return None


def to_text(value: JsonValue) -> str:
    """Return a value as compact JSON; raises InvalidDocument for what JSON cannot say or that is
    nested too deeply.
    """
    try:
        return strict_json.repair_surrogates(_ENCODER(value))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidDocument(f"cannot be represented in JSON: {error}", path="arguments") from None
