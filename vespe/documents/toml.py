"""Setting and removing one table of a TOML file, whose comments and layout stay. The owner of
tomlkit.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from vespe.errors import InvalidDocument
from vespe.lazy import pattern, tomlkit, tomllib
from vespe.models import JsonObject

_BARE: Final = pattern(r"[A-Za-z0-9_-]+")
_PLACE: Final = pattern(r"\(at line (\d+), column (\d+)\)")
_BOM: Final = "\ufeff"


def read_toml(text: str, *, path: str = "") -> JsonObject:
    """Read TOML; raises InvalidDocument with the line and column of what is wrong."""
    try:
        return tomllib.loads(text.removeprefix(_BOM))
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        line, column = (int(place[1]), int(place[2])) if place else (0, 0)
        reason = _PLACE.sub("", str(error)).strip()
        raise InvalidDocument(
            f"is not TOML: {reason}", path=path, line=line, column=column
        ) from None


TomlValue: TypeAlias = str | list[str] | dict[str, str]


def with_table(
    text: str, above: str, name: str, *, values: Mapping[str, TomlValue], path: str = ""
) -> str:
    """Return `text` with the table `[above.name]` holding `values`; its other keys stay, a new
    table comes last.

    Raises InvalidDocument for what is no TOML, or holds something else than tables there.
    """
    before = read_toml(text, path=path)
    tables = _tables(before, above, path=path)
    wanted = {**before, above: {**tables, name: {**tables.get(name, {}), **values}}}
    if before == wanted:
        return text
    newline = "\r\n" if "\r\n" in text else "\n"
    made = _appended(text, f"{_key(above)}.{_key(name)}", values, newline)
    # it is there already, or the others are in one line
    if name in tables or _meaning(made) != wanted:
        document: Any = tomlkit.parse(text.removeprefix(_BOM))
        known = tables.get(name, {})
        changed = {key: value for key, value in values.items() if known.get(key) != value}
        document[above].setdefault(name, tomlkit.inline_table()).update(_inline(changed))
        made = _BOM[: text.startswith(_BOM)] + re.sub(r"\r?\n", newline, tomlkit.dumps(document))
    return _checked(made, wanted, path=path)


def without_table(text: str, above: str, name: str, *, path: str = "") -> str:
    """Return `text` without the table `[above.name]` and those beneath it; the same text where
    there is none. Raises as `with_table`.
    """
    before = read_toml(text, path=path)
    tables = _tables(before, above, path=path)
    if name not in tables:
        return text
    document: Any = tomlkit.parse(text.removeprefix(_BOM))
    del document[above][name]
    left = {key: value for key, value in tables.items() if key != name}
    if not left:
        del document[above]
    made = _with_what_follows(text, _BOM[: text.startswith(_BOM)] + tomlkit.dumps(document))
    rest = {key: value for key, value in before.items() if key != above}
    return _checked(made, rest | ({above: left} if left else {}), path=path)


def _tables(document: JsonObject, above: str, *, path: str) -> dict[str, Any]:
    found = document.get(above, {})
    if not isinstance(found, dict) or not all(isinstance(table, dict) for table in found.values()):
        raise InvalidDocument(
            f"contains something other than tables in `{above}`", path=path, hint="edit it by hand"
        )
    return found


def _appended(text: str, header: str, values: Mapping[str, TomlValue], newline: str) -> str:
    gap = "" if not text.strip(f"{_BOM} \t\r\n") or text.endswith(newline * 2) else newline
    end = "" if not text or text.endswith("\n") else newline
    lines = (f"{_key(key)} = {_value(value)}{newline}" for key, value in values.items())
    return f"{text}{end}{gap}[{header}]{newline}{''.join(lines)}"


def _inline(values: Mapping[str, TomlValue]) -> dict[str, Any]:
    """Write tables among the values in one line each, as `_value` does."""
    made: dict[str, Any] = dict(values)
    for key, value in values.items():
        if isinstance(value, dict):
            made[key] = tomlkit.inline_table()
            made[key].update(value)
    return made


def _value(value: TomlValue) -> str:
    if not isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    members = (f"{_key(name)} = {json.dumps(value[name], ensure_ascii=False)}" for name in value)
    return f"{{ {', '.join(members)} }}"


def _with_what_follows(text: str, made: str) -> str:
    """Put back the comments after a table, which tomlkit takes for a part of it; of two blank lines
    that meet, one goes.
    """
    before, after = (re.findall(r"[^\n]*\n|[^\n]+", one) for one in (text, made))
    start = next(
        (at for at, (old, new) in enumerate(zip(before, after, strict=False)) if old != new),
        min(len(before), len(after)),
    )
    end = len(before) - len(after) + start
    if before[end:] != after[start:]:
        return made
    while end > start and before[end - 1].strip()[:1] in ("", "#"):
        end -= 1
    if start and not before[start - 1].strip() and (end == len(before) or not before[end].strip()):
        start -= 1
    return "".join(before[:start] + before[end:])


def _meaning(text: str) -> JsonObject | None:
    try:
        return tomllib.loads(text.removeprefix(_BOM))
    except tomllib.TOMLDecodeError:
        return None


def _checked(made: str, wanted: JsonObject, *, path: str) -> str:
    """Read what was made: where it does not say exactly what it should, the file is left alone."""
    if _meaning(made) != wanted:
        raise InvalidDocument(
            "is written in a form that cannot be edited here", path=path, hint="edit it by hand"
        )
    return made


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else json.dumps(name, ensure_ascii=False)
