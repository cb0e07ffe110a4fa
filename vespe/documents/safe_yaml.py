"""YAML between text and data, with a safe loader, and the positions of its values."""

import math
from collections.abc import Iterator
from typing import Any, Final

from vespe import defaults
from vespe.documents.strict_json import decode_utf8
from vespe.errors import InvalidDocument
from vespe.lazy import pattern, yaml
from vespe.models import JsonValue

_LONG_NUMBER: Final = pattern(r"[-+]?[0-9][0-9A-Fa-fxob_:.]{1000,}")
"""What PyYAML may take for one number: it is quadratic in the places of one with colons."""
_HALF: Final = pattern("[\ud800-\udfff]")
_OF_CONSTRUCTORS: Final = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What PyYAML's constructors raise for `!!int ''`, `!!bool x`, `!!timestamp x` and the like."""


def parse_yaml(
    data: bytes | str, *, path: str = "", limit: int = defaults.MAX_FILE_BYTES
) -> JsonValue:
    """Read one YAML document with the safe loader; aliases are refused, since nine lines of them
    can make 10^9 leaves, and numbers and text that no JSON can say.
    """
    if len(data) > limit:
        raise InvalidDocument(f"is larger than {limit} bytes", path=path)
    text = decode_utf8(data, path) if isinstance(data, bytes) else data
    try:
        _refuse_yaml_bombs(text, path)
        return _said(yaml.safe_load(text), path)
    except InvalidDocument:
        raise
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", None) or str(error)
        raise InvalidDocument(
            f"is not YAML: {reason}", path=path, line=mark.line + 1 if mark else 0
        ) from None
    except _OF_CONSTRUCTORS as error:
        raise InvalidDocument(f"is not YAML: {error}", path=path) from None


def yaml_positions(data: bytes | str) -> Iterator[tuple[tuple[str | int, ...], tuple[int, int]]]:
    """Return the steps to each value of a YAML document with its line and column, from 1; raises as
    `parse_yaml` does.
    """
    text = decode_utf8(data, "") if isinstance(data, bytes) else data
    try:
        _refuse_yaml_bombs(text, "")
        waiting: list[tuple[tuple[str | int, ...], Any]] = [
            ((), yaml.compose(text, Loader=yaml.SafeLoader))
        ]
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise (
            error
            if isinstance(error, InvalidDocument)
            else InvalidDocument(f"is not YAML: {error}")
        ) from None
    while waiting:
        steps, node = waiting.pop()
        if node is None:
            continue
        yield steps, (node.start_mark.line + 1, node.start_mark.column + 1)
        if isinstance(node, yaml.MappingNode):
            waiting += [((*steps, str(key.value)), value) for key, value in node.value]
        elif isinstance(node, yaml.SequenceNode):
            waiting += [((*steps, index), value) for index, value in enumerate(node.value)]


def _refuse_yaml_bombs(text: str, path: str) -> None:
    """Read the events one by one, so that what would take PyYAML minutes (it is quadratic in depth)
    ends at its 65th level.
    """
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(
            event, yaml.CollectionEndEvent
        )
        line = event.start_mark.line + 1 if event.start_mark else 0
        if (
            isinstance(event, yaml.ScalarEvent)
            and (event.tag or event.implicit[0])
            and _LONG_NUMBER.fullmatch(event.value)
        ):
            raise InvalidDocument(
                "has a number of more than 1,000 characters", path=path, line=line
            )
        if isinstance(event, yaml.AliasEvent):
            raise InvalidDocument(
                "uses a YAML alias, which Vespe does not read", path=path, line=line
            )
        if depth > defaults.MAX_JSON_DEPTH:
            raise InvalidDocument(
                f"is nested deeper than {defaults.MAX_JSON_DEPTH} levels", path=path, line=line
            )


def _said(value: Any, path: str) -> Any:
    """Return a value as JSON says it: the halves of a character that stand as two escapes are one.
    Refuses `.nan`, `.inf` and a lone half.
    """
    if isinstance(value, dict):
        return {_said(key, path): _said(one, path) for key, one in value.items()}
    if isinstance(value, list):
        return [_said(one, path) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidDocument("has a number that JSON cannot represent", path=path)
    if isinstance(value, str) and _HALF.search(value):
        return value.encode("utf-16", "surrogatepass").decode("utf-16")  # may raise ValueError
    return value


def parse_any_yaml(data: str, *, path: str = "") -> JsonValue:
    """Read a stranger's YAML as data that JSON can say, by YAML 1.2's core schema: `no` is a
    string, `200:` a key that is one.

    Of documents the first; of a key that comes twice the last; aliases and `<<` within bounds.
    Raises InvalidDocument.
    """
    builder = _Builder(path)
    try:
        for event in yaml.parse(data, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            if isinstance(event, yaml.DocumentEndEvent):
                break
            builder.take(event)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", None) or str(error)
        raise InvalidDocument(
            f"is not YAML: {reason}", path=path, line=mark.line + 1 if mark else 0
        ) from None
    except (ValueError, RecursionError) as error:
        raise (
            error
            if isinstance(error, InvalidDocument)
            else InvalidDocument(f"is not YAML: {error}", path=path)
        ) from None
    return builder.value


class _Builder:
    """Makes data of YAML's events, without the nodes between: so it is quick, and every bound is
    kept as it goes.
    """

    def __init__(self, path: str) -> None:
        self.value: Any = None
        self._path, self._count, self._added = path, 0, 0
        self._open: list[tuple[Any, str | None, int]] = []
        self._keys: list[Any] = []
        self._anchors: dict[str, tuple[Any, int]] = {}

    def take(self, event: Any) -> None:
        """Take one event."""
        if isinstance(event, yaml.ScalarEvent):
            is_key = bool(self._open) and self._keys[-1] is _NO_KEY
            value = (
                event.value
                if is_key or event.style or event.tag == "tag:yaml.org,2002:str"
                else _plain(event.value)
            )
            self._put(value, event.anchor, 1)
        elif isinstance(event, yaml.CollectionStartEvent):
            if len(self._open) >= MAX_FOREIGN_DEPTH:
                line = event.start_mark.line + 1 if event.start_mark else 0
                raise InvalidDocument(
                    f"is nested deeper than {MAX_FOREIGN_DEPTH} levels", path=self._path, line=line
                )
            is_mapping = isinstance(event, yaml.MappingStartEvent)
            self._open.append(({} if is_mapping else [], event.anchor, self._count))
            self._keys.append(_NO_KEY if is_mapping else None)
        elif isinstance(event, yaml.CollectionEndEvent):
            made, anchor, before = self._open.pop()
            self._keys.pop()
            self._put(made, anchor, self._count - before + 1)
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)

    def _alias(self, event: Any) -> None:
        if event.anchor not in self._anchors:
            raise InvalidDocument(
                f"uses the alias *{event.anchor} before its anchor",
                path=self._path,
                line=event.start_mark.line + 1,
            )
        value, size = self._anchors[event.anchor]
        self._added += size
        if self._added > _MAX_ALIASED:
            line = event.start_mark.line + 1
            raise InvalidDocument(
                f"repeats more than {_MAX_ALIASED} values by its aliases",
                path=self._path,
                line=line,
            )
        self._count += size
        self._put(value, None, 0)

    def _put(self, value: Any, anchor: str | None, size: int) -> None:
        self._count += size == 1 or not isinstance(value, (dict, list))
        if anchor:
            self._anchors[anchor] = (value, max(size, 1))
        if not self._open:
            self.value = value
            return
        holder = self._open[-1][0]
        if isinstance(holder, list):
            holder.append(value)
        elif self._keys[-1] is _NO_KEY:
            self._keys[-1] = (
                value if isinstance(value, str) else "" if value is None else str(value)[:200]
            )
        else:
            key, self._keys[-1] = self._keys[-1], _NO_KEY
            if key == "<<" and isinstance(value, (dict, list)):
                self._merge(holder, value)
            else:
                holder[key] = value

    def _merge(self, holder: dict[str, Any], value: Any) -> None:
        for one in value if isinstance(value, list) else [value]:
            for key, item in one.items() if isinstance(one, dict) else ():
                holder.setdefault(key, item)


_NO_KEY: Final = object()
"""Stands where a mapping waits for its next key."""
_MAX_ALIASED: Final = 300_000
MAX_FOREIGN_DEPTH: Final = 150
"""How deep a stranger's document may be nested; what is made of it keeps to narrower bounds."""
_NUMBER: Final = pattern(
    r"[-+]?(?:[0-9]{1,400}|(?P<float>(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]{1,4})?))"
)
_WORDS: Final = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}


def _plain(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    number = _NUMBER.fullmatch(text) if text[0] in "-+.0123456789" else None
    if number is None:
        return text
    made = float(text) if number["float"] else int(text)
    return text if made in (float("inf"), float("-inf")) else made
