"""Setting and removing one table of a TOML file as text; every other byte of it stays."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from vespe.errors import InvalidDocument
from vespe.lazy import tomllib
from vespe.models import JsonObject

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_HEADER: Final = re.compile(r"[ \t]*\[(?P<name>[^\[\]]+)\][ \t]*(?:#.*)?")
_PLACE: Final = re.compile(r"\(at line (\d+), column (\d+)\)")


def read_toml(text: str, *, path: str = "") -> JsonObject:
    """Read TOML; raises InvalidDocument with the line and column of what is wrong."""
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        line, column = (int(place[1]), int(place[2])) if place else (0, 0)
        reason = _PLACE.sub("", str(error)).strip()
        raise InvalidDocument(f"is not TOML: {reason}", path=path, line=line, column=column) from None


def with_table(text: str, above: str, name: str, *, values: Mapping[str, str | list[str]], path: str = "") -> str:
    """Return `text` with the table `[above.name]` holding `values`; its other keys stay, a new table comes last.

    Raises InvalidDocument for what is no TOML, or holds the table in a form that cannot be edited as lines.
    """
    before = read_toml(text, path=path)
    lines, newline = _lines(text), "\r\n" if "\r\n" in text else "\n"
    written = [f"{_key(key)} = {json.dumps(value, ensure_ascii=False)}{newline}" for key, value in values.items()]
    span = _span(lines, above, name)
    if span is None:
        gap = "" if not text.strip("\ufeff \t\r\n") or text.endswith(newline * 2) else newline
        end = "" if not text or text.endswith("\n") else newline
        made = text + end + gap + f"[{_key(above)}.{_key(name)}]{newline}" + "".join(written)
    else:
        kept = [statement for statement in _statements(lines[span[0] + 1 : span[1]]) if not _sets(statement, values)]
        made = "".join([*lines[: span[0] + 1], *written, *kept, *lines[span[1] :]])
    wanted = _tables(before, above)
    wanted[name] = {**wanted.get(name, {}), **values}
    return _checked(made, {**before, above: wanted}, above=above, path=path)


def without_table(text: str, above: str, name: str, *, path: str = "") -> str:
    """Return `text` without the table `[above.name]` and those beneath it; the same text where there is none. Raises as `with_table`."""
    before = read_toml(text, path=path)
    if name not in _tables(before, above):
        return text
    lines = _lines(text)
    while (span := _span(lines, above, name, beneath=True)) is not None:
        start, end = span
        if start and not lines[start - 1].strip() and (end == len(lines) or not lines[end].strip()):
            start -= 1
        del lines[start:end]
    left = {key: value for key, value in _tables(before, above).items() if key != name}
    rest = {key: value for key, value in before.items() if key != above}
    return _checked("".join(lines), rest | ({above: left} if left else {}), above=above, path=path)


def _tables(document: JsonObject, above: str) -> dict[str, Any]:
    found = document.get(above, {})
    return dict(found) if isinstance(found, dict) else {}


def _checked(made: str, wanted: JsonObject, *, above: str, path: str) -> str:
    """Read what was made: where it does not say exactly what it should, the file is left alone."""
    try:
        seen = read_toml(made, path=path)
    except InvalidDocument:
        seen = {}
    if {**seen, above: _tables(seen, above)} != {**wanted, above: _tables(wanted, above)}:
        raise InvalidDocument(f"holds `{above}` in a form that cannot be edited line by line", path=path, hint="edit it by hand")
    return made


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else json.dumps(name, ensure_ascii=False)


def _span(lines: list[str], above: str, name: str, *, beneath: bool = False) -> tuple[int, int] | None:
    """The lines of the table's header and statements; `beneath` finds a table below it too. Comments after it belong to what follows."""
    start: int | None = None
    end = 0
    for statement in _statements(lines):
        if start is None and _names_table(statement, [above, name], beneath=beneath):
            start = end
        elif start is not None and statement.lstrip().startswith("["):
            break
        end += len(_lines(statement))
    if start is None:
        return None
    while end > start + 1 and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1
    return start, end


def _names_table(statement: str, wanted: list[str], *, beneath: bool) -> bool:
    header = _HEADER.fullmatch(statement.rstrip("\r\n").removeprefix("\ufeff"))
    keys = _keys(header["name"]) if header else []
    return keys == wanted or (beneath and keys[: len(wanted)] == wanted)


def _keys(dotted: str) -> list[str]:
    """Return the keys of a header, as TOML itself reads them."""
    try:
        document: Any = tomllib.loads(f"[{dotted}]")
    except tomllib.TOMLDecodeError:
        return []
    keys: list[str] = []
    while isinstance(document, dict) and document:
        keys.append(next(iter(document)))
        document = document[keys[-1]]
    return keys


def _statements(lines: list[str]) -> Iterator[str]:
    """Join the lines of each statement: a value may go on for several; a header, a comment and a blank line are one each."""
    waiting = ""
    for line in lines:
        waiting += line
        if waiting == line and line.lstrip("\ufeff \t").startswith(("[", "#")):
            yield waiting
            waiting = ""
            continue
        try:
            tomllib.loads(waiting.removeprefix("\ufeff"))
        except tomllib.TOMLDecodeError:
            continue
        yield waiting
        waiting = ""
    if waiting:
        yield waiting


def _sets(statement: str, values: Mapping[str, object]) -> bool:
    try:
        return bool(tomllib.loads(statement).keys() & values.keys()) if statement.strip() and statement.lstrip()[0] != "[" else False
    except tomllib.TOMLDecodeError:
        return False
