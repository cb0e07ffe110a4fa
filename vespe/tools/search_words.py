"""The words of tools and of queries as search compares them: stems, what a query only says around
its need, and the parts of a query that asks for several things.
"""

import functools
import re
from typing import Final

from vespe.lazy import pattern
from vespe.tools import bm25

_AROUND: Final = frozenset(
    bm25.words(
        "i i'm i'd i've i'll me my mine we we're our ours us am was were been being do does did "
        "done doing "
        "have had having would could should may might must please help need needs want wants "
        "like let get got know tell what what's how why where who whom whose there here any some "
        "all one about so but not no just also more most than then them they he she his her him "
        "these those each such very too much many able way looking look give make made sure thing "
        "things really good best up out over don't can't isn't t s d ll re ve m"
    )
)
"""What people say around their need: these words are not asked for, if a query has any other."""
_PLURAL: Final = ("sses", "xes", "ches", "shes")
_ENDINGS: Final = (
    ("izations", ""),
    ("ization", ""),
    ("izing", ""),
    ("ized", ""),
    ("izer", ""),
    ("ational", ""),
    ("fulness", ""),
    ("iveness", ""),
    ("ations", ""),
    ("ation", ""),
    ("ators", ""),
    ("ator", ""),
    ("ating", ""),
    ("ated", ""),
    ("ate", ""),
    ("ment", ""),
    ("ingly", ""),
    ("edly", ""),
    ("ion", ""),
    ("ing", ""),
    ("er", ""),
    ("or", ""),
    ("ied", "y"),
    ("ed", ""),
    ("ically", "ic"),
    ("ally", ""),
    ("al", ""),
    ("ly", ""),
    ("ive", ""),
    ("able", ""),
    ("ness", ""),
    ("ity", ""),
    ("ize", ""),
    ("ise", ""),
    ("e", ""),
)
"""Endings of English words, the first that fits; what is left must have at least four letters."""
_SHORT_ENDINGS: Final = ("ing", "ed", "er", "e")
"""Of these, three letters may be left: `used`, `maker`."""
_DOUBLED: Final = "bdfgmnprt"
_PARTS: Final = pattern(
    r"(?<=[.!?;])\s+|\n+|, and "
    r"|\b(?:and then|then|and also|after that|finally|additionally|also)\b,?",
    re.IGNORECASE,
)
_GIVEN: Final = pattern(
    r"https?://\S+|[\w.+-]+@[\w-]+\.[\w.-]+|(?:~|\.{1,2})?(?:/[\w.@+-]+){2,}/?|[A-Za-z]:\\\S+"
)
"""What a query gives a tool and does not describe it by: addresses and paths."""
_EXTENSION: Final = pattern(r"\.([A-Za-z][A-Za-z0-9]{1,9})\Z")
_KINDS: Final = {
    "csv": "csv table",
    "doc": "word document",
    "docx": "word document",
    "gif": "image",
    "jpeg": "image",
    "jpg": "image",
    "md": "markdown",
    "mp3": "audio",
    "mp4": "video",
    "pdf": "pdf",
    "png": "image",
    "ppt": "powerpoint presentation",
    "pptx": "powerpoint presentation",
    "py": "python",
    "txt": "text",
    "wav": "audio",
    "xls": "excel spreadsheet",
    "xlsx": "excel spreadsheet",
    "yml": "yaml",
}
"""What a file is, by its extension; any other extension stands for itself."""


def search_words(text: str) -> list[str]:
    """Return the words of a text as search compares them: lower case, without common words, cut to
    their stems.
    """
    return [word for token in bm25.tokens(text) for word in _stems(token)]


def spaced_words(text: str) -> str:
    """Return the same words as one text, in which each stands between two spaces of its own: so a
    word is found by looking for it with them.
    """
    return "".join(map(_spaced, bm25.tokens(text)))


def query_words(query: str) -> list[str]:
    """Return the words that a query asks for, each once, in its order: not those around its need,
    and of the addresses and paths in it only what they are.
    """
    plain = list(dict.fromkeys(bm25.words(_GIVEN.sub(_kind_of, query))))
    asked = [word for word in plain if word not in _AROUND]
    return list(dict.fromkeys(map(stem, asked or plain)))


def query_parts(query: str) -> list[list[str]]:
    """Return the words of each part of a query that asks for several things, [] for one that does
    not.
    """
    parts = [words for part in _PARTS.split(query) if len(words := query_words(part)) > 1]
    return parts if len(parts) > 1 else []


def _kind_of(found: re.Match[str]) -> str:
    given = found[0]
    if given.lower().startswith("http"):
        return " url "
    if "@" in given and "/" not in given:
        return " email "
    extension = _EXTENSION.search(given)
    if extension is None:
        return " path "
    kind = extension[1].lower()
    return f" file {_KINDS.get(kind, kind)} "


@functools.lru_cache(maxsize=1 << 14)
def _spaced(token: str) -> str:
    return "".join(f" {word} " for word in _stems(token))


@functools.lru_cache(maxsize=1 << 14)
def _stems(token: str) -> tuple[str, ...]:
    return tuple(map(stem, bm25.words_of_token(token)))


@functools.lru_cache(maxsize=1 << 14)
def stem(word: str) -> str:
    """Cut a word in lower case to what its forms share: `summarizing`, `summarization`."""
    if len(word) < 4 or word.isdigit():
        return word
    if word.endswith("ies"):
        word = word[:-3] + "y"
    elif word.endswith(_PLURAL):
        word = word[:-2]
    for ending, instead in _ENDINGS:
        least = 3 if ending in _SHORT_ENDINGS else 4
        if word.endswith(ending) and len(word) - len(ending) + len(instead) >= least:
            word = word[: len(word) - len(ending)] + instead
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] in _DOUBLED:
        word = word[:-1]
    return word[:-1] + "i" if len(word) > 3 and word.endswith("y") else word
