"""The exact number of tokens of a text, where tiktoken is installed and has its data on this
machine; never a download.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from vespe.documents import strict_json
from vespe.errors import InvalidDocument, StorageError
from vespe.files import atomic
from vespe.lazy import hashlib, tempfile, tiktoken
from vespe.models import JsonObject, JsonValue
from vespe.records import dataclass, json_of

ENCODING: Final = "o200k_base"
"""The encoding of OpenAI's models since GPT-4o; other vendors' differ by some percent and are not
public.
"""
_ADDRESS: Final = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
_SHA256: Final = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
_LIMIT: Final = 16 * 1024 * 1024


def exact_count(environ: Mapping[str, str] | None = None) -> Callable[[str], int] | None:
    """Return the function that counts a text's tokens, or None where tiktoken or its data is not
    here.

    The data is what tiktoken itself once kept (TIKTOKEN_CACHE_DIR, DATA_GYM_CACHE_DIR, or its
    directory below the temporary one); where the file is missing or has other bytes, tiktoken would
    fetch it, so it is not asked.
    """
    given = os.environ if environ is None else environ
    named = given.get("TIKTOKEN_CACHE_DIR", given.get("DATA_GYM_CACHE_DIR"))
    directory = os.path.join(tempfile.gettempdir(), "data-gym-cache") if named is None else named
    if not directory or not _is_whole(
        os.path.join(directory, hashlib.sha1(_ADDRESS.encode("ascii")).hexdigest())
    ):
        return None
    try:
        encoding = tiktoken.get_encoding(ENCODING)
    except ImportError:
        return None
    return lambda text: len(
        encoding.encode(strict_json.repair_surrogates(text), disallowed_special=())
    )


def _is_whole(path: str) -> bool:
    try:
        return hashlib.sha256(atomic.read_bytes(path, limit=_LIMIT)).hexdigest() == _SHA256
    except (InvalidDocument, StorageError):
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """The characters and tokens of one definition, or of several; `exact` says that the tokens are
    counted, not estimated.
    """

    characters: int
    tokens: int
    exact: bool

    def to_json(self) -> JsonObject:
        """Return the size as `tool list --size --json` prints it."""
        return json_of(self)


def size_of(definition: JsonValue, *, count: Callable[[str], int] | None = None) -> Size:
    """Measure a definition as compact JSON; `count` counts a text's tokens, without it they are
    estimated (`token_estimate`).

    What a vendor adds around definitions, and how it lays them out for its model, is not public and
    not in the figure.
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


CHARACTERS_PER_TOKEN: Final = 4
"""What English text and JSON come to in the common tokenizers, give or take a fifth."""


def tokens_of(characters: int) -> int:
    """Estimate the tokens of so many characters, rounded up."""
    return -(-characters // CHARACTERS_PER_TOKEN)
