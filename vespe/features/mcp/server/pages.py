"""Lists in pages: a cursor names the last item before it, so that a list that changes is neither
skipped nor repeated.
"""

import json
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from vespe.documents import strict_json
from vespe.features.mcp.server.messages import INVALID_PARAMS, ProtocolError
from vespe.models import JsonObject
from vespe.tools.names import NAME_PATTERN

PAGE: Final = 500
"""Items a page."""
_AFTER: Final = "after:"


class Ready(Mapping[str, Any]):
    """A result that is JSON text already, for answers that are given often; it is only parsed for
    who asks what is in it.
    """

    __slots__ = ("_parsed", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._parsed: JsonObject | None = None

    def whole(self) -> JsonObject:
        """Return the result as a document."""
        if self._parsed is None:
            self._parsed = json.loads(self.text)
        return self._parsed

    def __getitem__(self, key: str) -> Any:
        return self.whole()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.whole())

    def __len__(self) -> int:
        return len(self.whole())


def joined(result: JsonObject, key: str, items: Iterable[str]) -> Ready:
    """Return a result with items that are JSON text already in its list `key`, which is empty."""
    empty = f'"{key}":[]'
    return Ready(
        strict_json.compact_json(result).replace(empty, f"{empty[:-1]}{','.join(items)}]", 1)
    )


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
            f"there is no cursor {cursor[:80]!r}: use the nextCursor of the previous page",
        )
    return bisect_right(names, name)
