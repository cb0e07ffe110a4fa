"""YAML between text and data, with a safe loader, and the positions of its values."""

from collections.abc import Iterator
from typing import Any

from vespe import defaults
from vespe.documents.strict_json import decode_utf8
from vespe.errors import InvalidDocument
from vespe.lazy import yaml
from vespe.models import JsonValue


def parse_yaml(data: bytes | str, *, path: str = "", limit: int = defaults.MAX_FILE_BYTES) -> JsonValue:
    """Read one YAML document with the safe loader; aliases are refused, since nine lines of them can make 10^9 leaves."""
    if len(data) > limit:
        raise InvalidDocument(f"is larger than {limit} bytes", path=path)
    text = decode_utf8(data, path) if isinstance(data, bytes) else data
    try:
        _refuse_yaml_bombs(text, path)
        return yaml.safe_load(text)
    except InvalidDocument:
        raise
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", None) or str(error)
        raise InvalidDocument(f"is not YAML: {reason}", path=path, line=mark.line + 1 if mark else 0) from None
    except (ValueError, RecursionError) as error:
        raise InvalidDocument(f"is not YAML: {error}", path=path) from None


def yaml_positions(data: bytes | str) -> Iterator[tuple[tuple[str | int, ...], tuple[int, int]]]:
    """Return the steps to each value of a YAML document with its line and column, from 1; raises as `parse_yaml` does."""
    text = decode_utf8(data, "") if isinstance(data, bytes) else data
    try:
        _refuse_yaml_bombs(text, "")
        waiting: list[tuple[tuple[str | int, ...], Any]] = [((), yaml.compose(text, Loader=yaml.SafeLoader))]
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise error if isinstance(error, InvalidDocument) else InvalidDocument(f"is not YAML: {error}") from None
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
    """Read the events one by one, so that what would take PyYAML minutes (it is quadratic in depth) ends at its 65th level."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        line = event.start_mark.line + 1 if event.start_mark else 0
        if isinstance(event, yaml.AliasEvent):
            raise InvalidDocument("uses a YAML alias, which Vespe does not read", path=path, line=line)
        if depth > defaults.MAX_JSON_DEPTH:
            raise InvalidDocument(f"is nested deeper than {defaults.MAX_JSON_DEPTH} levels", path=path, line=line)
