"""How a value is written into a path, a query, a header, a cookie or a form: OpenAPI's styles, most
of which are RFC 6570's.

https://spec.openapis.org/oas/v3.2.0.html#style-examples has the table.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from vespe.errors import InvalidArguments
from vespe.lazy import urls
from vespe.models import JsonValue
from vespe.tools import templates

Encode: TypeAlias = Callable[[str], str]
Pairs: TypeAlias = list[tuple[str, str]]

_DELIMITERS: Final = {
    "form": ",",
    "cookie": ",",
    "simple": ",",
    "spaceDelimited": " ",
    "pipeDelimited": "|",
    "tabDelimited": "\t",
}
_KEPT: Final = re.compile(r"%[0-9A-Fa-f]{2}|[:/?@!$'()*,;=]")
_PATH_DELIMITERS: Final = re.compile(r"[/?]")


def encoded(text: str) -> str:
    """Percent-encode all but RFC 3986's unreserved characters; raises InvalidArguments for a lone
    surrogate.
    """
    try:
        return urls.quote(text, safe="")
    except UnicodeEncodeError:
        raise InvalidArguments("a value holds a lone surrogate, which a URL cannot carry") from None


def encoded_but_reserved(text: str) -> str:
    """Percent-encode as `allowReserved` says: reserved characters and `%XX` stay, but for those
    that end or split a query.
    """
    made, end = [], 0
    for found in _KEPT.finditer(text):
        made += [encoded(text[end : found.start()]), found[0]]
        end = found.end()
    return "".join([*made, encoded(text[end:])])


def as_it_is(text: str) -> str:
    """Encode nothing, as headers and the parts of a multipart body want it."""
    return text


def _encoded_in_path(text: str) -> str:
    return _PATH_DELIMITERS.sub(lambda found: encoded(found[0]), encoded_but_reserved(text))


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """One way to write a value: OpenAPI's name of it, whether lists and objects are exploded, and
    how each text is encoded.
    """

    name: str
    explode: bool = False
    encode: Encode = encoded

    @classmethod
    def of(
        cls,
        said: Mapping[str, Any],
        *,
        default: str,
        encode: Encode = encoded,
        in_path: bool = False,
    ) -> "Style":
        """Read what a tool's `styles` or `encoding` says of one value."""
        name = said.get("style", default)
        if said.get("allow_reserved") and encode is encoded:
            encode = _encoded_in_path if in_path else encoded_but_reserved
        return cls(
            name=name,
            explode=said.get("explode", name in ("form", "cookie", "deepObject")),
            encode=encode,
        )

    def pairs(self, name: str, value: JsonValue) -> Pairs:
        """Write a value as the pairs of a query, a form or a cookie; null, and a list or an object
        of nothing, is none.
        """
        if value is None:
            return []
        if self.name == "json":
            return [(self.encode(name), self.encode(_json(value)))]
        if self.name == "deepObject" and isinstance(value, dict):
            return [
                pair for key, item in value.items() for pair in self._deep(f"{name}[{key}]", item)
            ]
        if isinstance(value, (list, dict)):
            return self._several(name, value)
        return [(self.encode(name), self.encode(templates.value_text(value)))]

    def text(self, value: JsonValue) -> str:
        """Write a value in the style `simple`, which has no name: for a path or a header."""
        if self.name == "json":
            return self.encode(_json(value))
        if isinstance(value, dict):
            between = "=" if self.explode else ","
            return ",".join(between.join(pair) for pair in self._members(value))
        return (
            self._delimiter().join(self._items(value))
            if isinstance(value, list)
            else self.encode(templates.value_text(value))
        )

    def segment(self, name: str, value: JsonValue) -> str:
        """Write a value for a path, in the styles `simple`, `label` and `matrix`."""
        if self.name == "label":
            joined = replace(self, name="simple").text(value)
            exploded = (
                [*map("=".join, self._members(value))]
                if isinstance(value, dict)
                else self._items(value)
            )
            return "." + (
                ".".join(exploded) if self.explode and isinstance(value, (dict, list)) else joined
            )
        if self.name == "matrix":
            pairs = replace(self, name="simple").pairs(name, value)
            return "".join(f";{key}={text}" if text else f";{key}" for key, text in pairs)
        return self.text(value)

    def _several(self, name: str, value: JsonValue) -> Pairs:
        if self.explode or self.name == "deepObject":
            if isinstance(value, dict):
                return self._members(value)
            return [(self.encode(name), text) for text in self._items(value)]
        texts = (
            [text for pair in self._members(value) for text in pair]
            if isinstance(value, dict)
            else self._items(value)
        )
        return [(self.encode(name), self._delimiter().join(texts))] if texts else []

    def _delimiter(self) -> str:
        delimiter = _DELIMITERS.get(self.name, ",")
        return delimiter if delimiter == "," else self.encode(delimiter)

    def _deep(self, name: str, value: JsonValue) -> Pairs:
        """Write what stands in an object as frameworks read it: the specification leaves all below
        its first level open.
        """
        if isinstance(value, dict):
            return [
                pair for key, item in value.items() for pair in self._deep(f"{name}[{key}]", item)
            ]
        if isinstance(value, list):
            return [(self.encode(name), text) for text in self._items(value)]
        return (
            [] if value is None else [(self.encode(name), self.encode(templates.value_text(value)))]
        )

    def _items(self, value: Any) -> list[str]:
        items = value if isinstance(value, list) else [value]
        return [self.encode(templates.value_text(item)) for item in items if item is not None]

    def _members(self, value: Mapping[str, Any]) -> Pairs:
        return [
            (self.encode(key), self.encode(templates.value_text(item)))
            for key, item in value.items()
            if item is not None
        ]


def _json(value: JsonValue) -> str:
    return (
        templates.value_text(value)
        if not isinstance(value, str)
        else templates.value_text([value])[1:-1]
    )
