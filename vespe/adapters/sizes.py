"""What tool definitions cost a model that is shown them: characters, and tokens counted or estimated; pure."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from vespe.adapters.token_estimate import tokens_of
from vespe.documents import strict_json
from vespe.models import JsonObject, JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """The characters and tokens of one definition, or of several; `exact` says that the tokens are counted, not estimated."""

    characters: int
    tokens: int
    exact: bool

    def to_json(self) -> JsonObject:
        """Give the size as `tool list --size --json` prints it."""
        return {"characters": self.characters, "tokens": self.tokens, "exact": self.exact}


def size_of(definition: JsonValue, *, count: Callable[[str], int] | None = None) -> Size:
    """Measure a definition as compact JSON; `count` counts a text's tokens, without it they are estimated (`token_estimate`).

    What a vendor adds around definitions, and how it lays them out for its model, is not public and not in the figure.
    """
    text = strict_json.compact_json(definition)
    tokens = tokens_of(len(text)) if count is None else count(text)
    return Size(characters=len(text), tokens=tokens, exact=count is not None)


def total(sizes: Iterable[Size]) -> Size:
    """Add sizes up; exact where all are."""
    every = list(sizes)
    return Size(
        characters=sum(size.characters for size in every),
        tokens=sum(size.tokens for size in every),
        exact=all(size.exact for size in every),
    )
