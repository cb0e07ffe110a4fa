"""Texts with slots: `{name}` takes one whole input, `${env:NAME}` one declared secret, all else
stays as it is.
"""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from vespe.errors import InvalidArguments, Refused
from vespe.lazy import pattern
from vespe.records import dataclass
from vespe.schemas.subschemas import IN_PLACE, REFERENCES, References, children

_PIECE = pattern(r"\$\{env:(?P<secret>[A-Za-z_][A-Za-z0-9_]*)\}|\{(?P<name>[^{}]*)\}")
_LIKE_A_NAME = pattern(r"(?:env:.*|[A-Za-z_][A-Za-z0-9_.-]*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Slot:
    """The place of one input's whole value."""

    name: str


@dataclass(frozen=True, slots=True)
class Secret:
    """The place of one declared secret's value."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A parsed text: fixed pieces (`str`), slots and secrets, in order.

    `unknown` are the names in braces that name no input and so stay as they are; braces around what
    is no name (`{print $1}`, `{"a": 1}`) are not among them.
    """

    text: str
    pieces: tuple[str | Slot | Secret, ...]
    unknown: tuple[str, ...] = ()

    @property
    def slots(self) -> tuple[str, ...]:
        """The inputs that this text takes, each once, in order."""
        return tuple(dict.fromkeys(piece.name for piece in self.pieces if isinstance(piece, Slot)))

    @property
    def secrets(self) -> tuple[str, ...]:
        """The secrets that this text takes, each once, in order."""
        return tuple(
            dict.fromkeys(piece.name for piece in self.pieces if isinstance(piece, Secret))
        )

    @property
    def whole(self) -> str | None:
        """The input's name where the text is exactly one slot, else None."""
        only = self.pieces[0] if len(self.pieces) == 1 else None
        return only.name if isinstance(only, Slot) else None

    def render(
        self,
        inputs: Mapping[str, Any],
        *,
        encode: Callable[[Any], str] | None = None,
        secrets: Mapping[str, str] | None = None,
    ) -> str | None:
        """Fill the slots; None where an input is absent (null is a value).

        `encode` makes a slot's text of its value, by default `value_text`; fixed text and secrets
        do not pass through it. Without `secrets`, `${env:NAME}` stays as it is, for plans. What was
        put in is never read as a template. Raises Refused for a secret that `secrets` lacks.
        """
        if any(name not in inputs for name in self.slots):
            return None
        written = encode or value_text
        return "".join(_written(piece, inputs, written, secrets) for piece in self.pieces)


def _written(
    piece: str | Slot | Secret,
    inputs: Mapping[str, Any],
    encode: Callable[[Any], str],
    secrets: Mapping[str, str] | None,
) -> str:
    if isinstance(piece, Slot):
        return encode(inputs[piece.name])
    if isinstance(piece, Secret):
        return f"${{env:{piece.name}}}" if secrets is None else _value_of(piece.name, secrets)
    return piece


def parse(text: str, names: Collection[str]) -> Template:
    """Read a template whose slots may name the inputs `names`; every text is a template, so nothing
    is refused.
    """
    pieces: list[str | Slot | Secret] = []
    unknown: list[str] = []
    end = 0
    for found in _PIECE.finditer(text):
        name = found["name"]
        if name is not None and name not in names:
            if _LIKE_A_NAME.fullmatch(name):
                unknown.append(name)
            continue
        pieces += [
            text[end : found.start()],
            Secret(found["secret"]) if name is None else Slot(name),
        ]
        end = found.end()
    pieces.append(text[end:])
    return Template(
        text=text, pieces=tuple(p for p in pieces if p != ""), unknown=tuple(dict.fromkeys(unknown))
    )


def value_text(value: Any) -> str:
    """Write one value for a slot: a string as it is, everything else as compact JSON (`true`,
    `null`, `3`, `["a"]`).

    Raises InvalidArguments for what JSON cannot say (NaN, an infinity).
    """
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise InvalidArguments(f"a value cannot be written as JSON: {error}") from None


def substitute_secrets(value: Any, secrets: Mapping[str, str]) -> Any:
    """Return a copy of fixed `args` with `${env:NAME}` filled in every string; keys stay as they
    are.

    Raises Refused for a secret that `secrets` lacks: a missing one never becomes an empty or
    literal text.
    """
    if isinstance(value, str):
        return _PIECE.sub(
            lambda found: _value_of(found["secret"], secrets) if found["secret"] else found[0],
            value,
        )
    if isinstance(value, dict):
        return {key: substitute_secrets(item, secrets) for key, item in value.items()}
    return (
        [substitute_secrets(item, secrets) for item in value] if isinstance(value, list) else value
    )


def secret_names(value: Any) -> tuple[str, ...]:
    """Name every secret that the strings of fixed `args` take, each once, in order."""
    return tuple(
        dict.fromkeys(
            found["secret"]
            for text in _strings(value)
            for found in _PIECE.finditer(text)
            if found["secret"]
        )
    )


def input_names(schema: Any) -> frozenset[str]:
    """Name the inputs of an input schema: its properties, those of its combined parts and of what
    it refers to locally.
    """
    names: set[str] = set()
    seen: set[int] = set()
    references = References(schema)
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict) and id(part) not in seen:
            seen.add(id(part))
            properties = part.get("properties")
            names.update(properties if isinstance(properties, dict) else ())
            waiting += [below for steps, below in children(part) if steps[0] in IN_PLACE]
            waiting += [
                references.target(part[keyword]) for keyword in REFERENCES if keyword in part
            ]
    return frozenset(names)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)


def _value_of(name: str, secrets: Mapping[str, str]) -> str:
    if name not in secrets:
        raise Refused(
            f"`args` uses ${{env:{name}}}, which is not among the tool's `secrets`",
            hint=f'declare it: "secrets": ["{name}"]',
        )
    return secrets[name]
