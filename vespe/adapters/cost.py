"""The exact number of tokens of a text, where tiktoken is installed and has its data on this machine; never a download."""

import hashlib
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from vespe.documents import strict_json
from vespe.errors import InvalidDocument, StorageError
from vespe.lazy import deferred

if TYPE_CHECKING:
    import tempfile

    tiktoken: Any
else:
    tempfile = deferred("tempfile")
    tiktoken = deferred("tiktoken")

ENCODING: Final = "o200k_base"
"""The encoding of OpenAI's models since GPT-4o; other vendors' differ by some percent and are not public."""
_ADDRESS: Final = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
_SHA256: Final = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
_LIMIT: Final = 16 * 1024 * 1024


def exact_count(environ: Mapping[str, str] | None = None) -> Callable[[str], int] | None:
    """Give the function that counts a text's tokens, or None where tiktoken or its data is not here.

    The data is what tiktoken itself once kept (TIKTOKEN_CACHE_DIR, DATA_GYM_CACHE_DIR, or its directory below the temporary one);
    where the file is missing or has other bytes, tiktoken would fetch it, so it is not asked.
    """
    given = os.environ if environ is None else environ
    named = given.get("TIKTOKEN_CACHE_DIR", given.get("DATA_GYM_CACHE_DIR"))
    directory = os.path.join(tempfile.gettempdir(), "data-gym-cache") if named is None else named
    if not directory or not _is_whole(os.path.join(directory, hashlib.sha1(_ADDRESS.encode("ascii")).hexdigest())):
        return None
    try:
        encoding = tiktoken.get_encoding(ENCODING)
    except ImportError:
        return None
    return lambda text: len(encoding.encode(strict_json.repair_surrogates(text), disallowed_special=()))


def _is_whole(path: str) -> bool:
    try:
        return hashlib.sha256(strict_json.read_bytes(path, limit=_LIMIT)).hexdigest() == _SHA256
    except (InvalidDocument, StorageError):
        return False
