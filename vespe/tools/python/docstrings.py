"""Google, NumPy and reST docstrings, read into a summary, a description, parameters and what is
returned.
"""

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from vespe.records import dataclass

_PARAMETERS = (
    "args",
    "arguments",
    "params",
    "parameters",
    "keyword args",
    "keyword arguments",
    "other parameters",
    "attributes",
)
_RETURNS = ("returns", "return", "yields", "yield")
_KEPT = (
    "note",
    "warning",
    "warnings",
    "important",
    "caution",
    "attention",
    "danger",
    "hint",
    "tip",
)
_LEFT_OUT = (
    "notes",
    "raises",
    "raise",
    "warns",
    "example",
    "examples",
    "see also",
    "references",
    "todo",
    "methods",
    "receives",
    "usage",
)
_KINDS: Mapping[str, str] = {
    **dict.fromkeys(_PARAMETERS, "parameters"),
    **dict.fromkeys(_RETURNS, "returns"),
    **dict.fromkeys(_KEPT, "kept"),
    **dict.fromkeys(_LEFT_OUT, "left out"),
}
_GOOGLE_TITLE = re.compile(r"([A-Za-z]+(?: [A-Za-z]+)?)\s*:\s*")
_GOOGLE_RETURNS_INLINE = re.compile(r"(?:Returns?|Yields?)\s*:\s+(\S.*)")
_GOOGLE_ITEM = re.compile(
    r"(\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?:\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))?\s*:(?:\s+(.*))?"
)
_NUMPY_ITEM = re.compile(r"(\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?()")
_UNDERLINE = re.compile(r"\s*(?:-{3,}|={3,})\s*")
_FIELD = re.compile(r"\s*[:@](\w+)(?:\s+([^:]*?))?\s*:(?:\s+(.*))?")
_FIELD_KINDS: Mapping[str, str] = {
    **dict.fromkeys(
        ("param", "parameter", "arg", "argument", "key", "keyword", "ivar", "var", "cvar"),
        "parameters",
    ),
    **dict.fromkeys(("return", "returns", "yield", "yields"), "returns"),
    **dict.fromkeys(
        ("type", "rtype", "vartype", "raise", "raises", "except", "exception", "meta"), "left out"
    ),
}
_LEADING_TYPE = re.compile(r"[\w.]+(?:\[[^:]*\])?(?:\s*\|\s*[\w.]+(?:\[[^:]*\])?)*\s*:\s+")
_KEEPS_ITS_LINES = re.compile(r"\s|[-*+•] |\d+[.)] |>>>|\||```")


@dataclass(frozen=True, slots=True, kw_only=True)
class Docstring:
    """What a docstring says: its first paragraph, the paragraphs after it, each parameter, and what
    is returned.

    `parameters` is in the order of the text; stars before a name are left off. Types in the text
    are left out: annotations are what counts.
    """

    summary: str = ""
    description: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)
    returns: str = ""

    @property
    def text(self) -> str:
        """The summary and the description, a blank line between them."""
        return "\n\n".join(part for part in (self.summary, self.description) if part)


def parse(text: str | None) -> Docstring:
    """Read a docstring in Google, NumPy or reST (Sphinx) style, or in none; never raises.

    Sections on errors, examples and references are left out; notes and warnings stay in the
    description.
    """
    lines = inspect.cleandoc(text or "").expandtabs(4).split("\n")
    prose: list[str] = []
    parameters: dict[str, str] = {}
    returns = ""
    for kind, body in _blocks(lines):
        if kind == "prose":
            prose += body
        elif kind == "parameters":
            parameters.update(_items(body))
        elif kind == "returns":
            returns = returns or _returns(body)
    summary, _, description = _flow(prose).partition("\n\n")
    return Docstring(
        summary=summary, description=description, parameters=parameters, returns=returns
    )


def _blocks(lines: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    position = 0
    while position < len(lines):
        for opens in (_field_block, _numpy_block, _google_block):
            found = opens(lines, position)
            if found is not None:
                kind, body, position = found
                yield kind, body
                break
        else:
            yield "prose", [lines[position]]
            position += 1


_Block = tuple[str, list[str], int]


def _field_block(lines: Sequence[str], position: int) -> _Block | None:
    matched = _FIELD.fullmatch(lines[position])
    kind = _FIELD_KINDS.get(matched[1]) if matched else None
    if matched is None or kind is None:
        return None
    end = position + 1
    while end < len(lines) and _continues_field(lines, position, end):
        end += 1
    first = matched[3] or ""
    name = (matched[2] or "").split(" ")[-1]
    rest = _dedented(lines[position + 1 : end])
    if kind == "parameters":
        return kind, [f"{name}: {first}", *(f"  {line}" for line in rest)], end
    return kind, ["", *[f"  {line}" for line in (first, *rest)]], end


def _continues_field(lines: Sequence[str], start: int, position: int) -> bool:
    line = lines[position]
    if line.strip():
        deeper = _indent(line) > _indent(lines[start])
        return deeper or bool(lines[position - 1].strip() and not _FIELD.fullmatch(line))
    following = next((later for later in lines[position:] if later.strip()), "")
    return bool(following) and _indent(following) > _indent(lines[start])


def _numpy_block(lines: Sequence[str], position: int) -> _Block | None:
    kind = _KINDS.get(lines[position].strip().lower())
    if kind is None or not _underlined(lines, position):
        return None
    end = position + 2
    while end < len(lines) and not _underlined(lines, end):
        end += 1
    body = _dedented(lines[position + 2 : end])
    if kind == "parameters":
        return kind, _numpy_items(body), end
    if kind == "returns":
        return kind, _numpy_returns(body), end
    return _titled(kind, lines[position].strip(), body, end)


def _underlined(lines: Sequence[str], position: int) -> bool:
    return (
        bool(lines[position].strip())
        and position + 1 < len(lines)
        and _UNDERLINE.fullmatch(lines[position + 1]) is not None
    )


def _numpy_items(body: Sequence[str]) -> list[str]:
    """Rewrite NumPy items as Google ones: the name and a colon, then the indented text."""
    found = ((line, _NUMPY_ITEM.fullmatch(line)) for line in body)
    return [f"{matched[1]}:" if matched else line for line, matched in found]


def _numpy_returns(body: list[str]) -> list[str]:
    """Leave out the lines that only name a type, where indented text stands below them."""
    indented = [line for line in body if line[:1] in ("", " ")]
    return _dedented(indented) if any(indented) else body


def _google_block(lines: Sequence[str], position: int) -> _Block | None:
    line = lines[position].strip()
    inline = _GOOGLE_RETURNS_INLINE.fullmatch(line)
    titled = _GOOGLE_TITLE.fullmatch(line)
    kind = "returns" if inline else _KINDS.get(titled[1].lower()) if titled else None
    end = position + 1
    while end < len(lines) and (
        not lines[end].strip() or _indent(lines[end]) > _indent(lines[position])
    ):
        end += 1
    body = _dedented(lines[position + 1 : end])
    if kind is None or not (inline or any(body)):
        return None
    if inline:
        return kind, [inline[1], *body], end
    return _titled(kind, line.rstrip(": "), body, end)


def _titled(kind: str, title: str, body: list[str], end: int) -> _Block:
    if kind != "kept":
        return kind, body, end
    stripped = [line for line in body if line]
    return "prose", ["", f"{title}: {stripped[0]}" if stripped else "", *stripped[1:], ""], end


def _items(body: Sequence[str]) -> Iterator[tuple[str, str]]:
    names: list[str] = []
    text: list[str] = []
    for line in body:
        matched = _GOOGLE_ITEM.fullmatch(line) if line[:1] != " " else None
        if matched is None:
            text.append(line)
            continue
        yield from ((name, _item_text(text)) for name in names)
        names, text = [name.strip(" *") for name in matched[1].split(",")], [matched[2] or ""]
    yield from ((name, _item_text(text)) for name in names)


def _item_text(lines: Sequence[str]) -> str:
    return _flow([lines[0], *_dedented(lines[1:])])


def _returns(body: Sequence[str]) -> str:
    """The text of a section on what is returned, without the type that may lead it; a lone word is
    only a type.
    """
    text = _flow([body[0], *_dedented(body[1:])]) if body else ""
    text = _LEADING_TYPE.sub("", text, count=1) if _LEADING_TYPE.match(text) else text
    return text if " " in text else ""


def _flow(lines: Sequence[str]) -> str:
    """Join wrapped lines into paragraphs; lists, code and whatever is indented keep their lines."""
    paragraphs: list[list[str]] = [[]]
    for line in lines:
        if line.strip():
            paragraphs[-1].append(line.rstrip())
        elif paragraphs[-1]:
            paragraphs.append([])
    joined = (
        "\n".join(p) if any(_KEEPS_ITS_LINES.match(line) for line in p) else " ".join(p)
        for p in paragraphs
        if p
    )
    return "\n\n".join(joined).strip()


def _dedented(lines: Sequence[str]) -> list[str]:
    margin = min((_indent(line) for line in lines if line.strip()), default=0)
    return [line[margin:].rstrip() for line in lines]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
