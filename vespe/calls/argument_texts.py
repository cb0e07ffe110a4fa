"""Arguments as the texts that patterns are matched with: values that are equal have the same ones,
however a model wrote them.

`1`, `1.0` and `1e0` are one number, and the members of an object have no order.
"""

import functools
from collections.abc import Iterator
from typing import Final

from vespe.documents import strict_json
from vespe.errors import InvalidDocument
from vespe.models import JsonValue

_MOST_MEMBERS: Final = 64


def plain_value(value: JsonValue) -> JsonValue:
    """Return a value as its equals are: whole numbers without a fraction, members in the order of
    their names.
    """
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: plain_value(value[key]) for key in sorted(value)}
    return [plain_value(item) for item in value] if isinstance(value, list) else value


def texts_of(value: JsonValue, *, in_any_order: bool) -> Iterator[str]:
    """Return the texts of one argument: a text is itself, anything else is compact JSON, as it is
    and as its equals are.

    `in_any_order` adds those with each member of an object at its beginning and at its end, for a
    pattern that says what stands there.
    """
    if isinstance(value, str):
        yield value
        return
    yield strict_json.compact_json(value)
    plain = plain_value(value)
    yield strict_json.compact_json(plain)
    if in_any_order and isinstance(plain, dict) and len(plain) <= _MOST_MEMBERS:
        for key in plain:
            others = {name: item for name, item in plain.items() if name != key}
            yield strict_json.compact_json({key: plain[key], **others})
            yield strict_json.compact_json({**others, key: plain[key]})


@functools.lru_cache(1024)
def patterns_of(pattern: str) -> tuple[str, ...]:
    """Return a pattern as it is and, where it is JSON itself, as the text of an equal value."""
    try:
        value = strict_json.parse_json(pattern.encode("utf-8", "surrogatepass"))
    except InvalidDocument:
        return (pattern,)
    plain = pattern if isinstance(value, str) else strict_json.compact_json(plain_value(value))
    return (pattern,) if plain == pattern else (pattern, plain)
