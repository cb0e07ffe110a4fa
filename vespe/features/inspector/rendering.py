"""Templates to pages: everything from a project is shown as text, and what a reader cannot see as
an escape. Owns Jinja2.
"""

import os
import time
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final
from urllib.parse import quote, urlencode

import jinja2
from markupsafe import Markup

from vespe.documents import strict_json
from vespe.documents.escaping import inert
from vespe.lazy import shlex
from vespe.models import JsonValue

PAGES: Final = os.path.join(os.path.dirname(__file__), "pages")
ASSETS: Final = {
    "style.css": "text/css; charset=utf-8",
    "script.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}


class Renderer:
    """The templates of one inspector, whose pages are all beneath `room`."""

    def __init__(self, room: str) -> None:
        self._room = room
        self._templates = jinja2.Environment(
            loader=jinja2.FileSystemLoader(PAGES, encoding="utf-8"),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            finalize=_shown,
            auto_reload=False,
        )
        self._templates.globals["url"] = self.url
        self._templates.filters |= {
            "json": as_json,
            "ms": milliseconds,
            "local": local_time,
            "count": counted,
            "bytes": byte_size,
            "path": quoted_path,
            "word": quoted_word,
        }
        self._templates.filters |= {"line": strict_json.compact_json, "moment": moment}

    def url(self, *words: str, **query: str | int | None) -> str:
        """Return the address of a page: each word is one part of the path, whatever is in it; a
        query of None is left out.
        """
        given = {key.rstrip("_"): value for key, value in query.items() if value not in (None, "")}
        return "/".join(("", self._room, *(quote(word, safe="") for word in words))) + (
            f"?{urlencode(given)}" if given else ""
        )

    def render(self, template: str, context: Mapping[str, Any]) -> bytes:
        """Return a page; what UTF-8 cannot say stands as an escape."""
        return (
            self._templates.get_template(template)
            .render(context)
            .encode("utf-8", "backslashreplace")
        )


def asset(name: str) -> bytes:
    """Return the bytes of one of ASSETS."""
    with open(os.path.join(PAGES, name), "rb") as file:
        return file.read()


def _shown(value: Any) -> Any:
    if isinstance(value, str) and not isinstance(value, Markup):
        return inert(value)
    return "" if value is None else value


def as_json(value: JsonValue) -> str:
    """Return a value as JSON over several lines, for people."""
    return strict_json.dump_json(value).rstrip("\n")


def milliseconds(value: float) -> str:
    """Return a duration with its unit: `0.4 ms`, `120 ms`, `2.1 s`."""
    if value >= 9_950:
        return f"{value / 1000:.0f} s"
    if value >= 995:
        return f"{value / 1000:.1f} s"
    return f"{value:.0f} ms" if value >= 9.95 else f"{value:.1f} ms"


def local_time(stamp: str) -> str:
    """Return the time of a log's line as a clock here says it; the day too, where it is not
    today.
    """
    try:
        at = datetime.fromisoformat(stamp).astimezone()
    except ValueError:
        return stamp
    today = time.strftime("%Y-%m-%d")
    return at.strftime("%H:%M:%S" if at.strftime("%Y-%m-%d") == today else "%b %d, %H:%M")


def moment(seconds: float) -> str:
    """Return a time in seconds of the epoch as `local_time` does."""
    return local_time(datetime.fromtimestamp(seconds).astimezone().isoformat())


def quoted_path(path: str) -> str:
    """Return a path as one word of a shell command that a reader copies; one that begins as an
    option does is a path all the same.
    """
    return shlex.quote(f"./{path}" if path.startswith("-") else path)


def quoted_word(text: str) -> str:
    """Return a name as one word of a shell command that a reader copies, after `--` where it begins
    as an option does.
    """
    return f"{'-- ' if text.startswith('-') else ''}{shlex.quote(text)}"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 tool`, `1,200 tools`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def byte_size(number: int) -> str:
    """Return a size in bytes for people."""
    return f"{number:,} B" if number < 10_000 else f"{number / 1024:,.0f} KiB"
