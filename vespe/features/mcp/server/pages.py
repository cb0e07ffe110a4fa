"""Lists in pages: a cursor names the last item before it, so that a list that changes is neither
skipped nor repeated.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Final

from vespe.documents import strict_json
from vespe.features.mcp.server.messages import INVALID_PARAMS, ProtocolError
from vespe.models import JsonObject
from vespe.tools.fields import NAME_PATTERN

PAGE: Final = 500
"""Items a page."""
_AFTER: Final = "after:"


class Ready(dict[str, object]):
    """A result whose JSON text is kept beside it, for answers that are given often."""

    __slots__ = ("text",)

    def __init__(self, result: JsonObject) -> None:
        super().__init__(result)
        self.text = strict_json.compact_json(result)


def page(
    names: Sequence[str], cursor: str | None, *, key: str, item: Callable[[str], JsonObject | None]
) -> JsonObject:
    """Return `{key: items}` of the page after `cursor`, and `nextCursor` where there are more;
    `names` are sorted.

    Raises ProtocolError for a cursor that this function never gave.
    """
    start = first(names, cursor)
    chosen = names[start : start + PAGE]
    found: JsonObject = {key: [made for name in chosen if (made := item(name)) is not None]}
    return found | {"nextCursor": f"{_AFTER}{chosen[-1]}"} if start + PAGE < len(names) else found


def first(names: Sequence[str], cursor: str | None) -> int:
    """Return the index where the page after `cursor` begins; raises ProtocolError as `page`
    does.
    """
    if cursor is None:
        return 0
    name = cursor.removeprefix(_AFTER)
    if not cursor.startswith(_AFTER) or not NAME_PATTERN.fullmatch(name):
        raise ProtocolError(
            INVALID_PARAMS,
            f"there is no cursor {cursor[:80]!r}: take the nextCursor of the page before",
        )
    return bisect_right(names, name)
