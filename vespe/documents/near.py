"""The words of a list that a mistyped one may have meant."""

from collections.abc import Iterable
from typing import Final

from vespe.lazy import difflib

_SHORTEST: Final = 2


def near(word: str, known: Iterable[str], *, most: int = 3) -> list[str]:
    """Return the known words that `word` begins, or that begin it, else those spelled like it,
    whatever the case of their letters; the nearest first.
    """
    wanted, words = word.lower(), {name: name.lower() for name in known}
    begun = [
        name
        for name, small in words.items()
        if len(wanted) >= _SHORTEST <= len(small)
        and (small.startswith(wanted) or wanted.startswith(small))
    ]
    if begun:
        return begun[:most]
    close = difflib.get_close_matches(wanted, dict.fromkeys(words.values()), n=most)
    return [name for one in close for name, small in words.items() if small == one][:most]


def suggest(word: str, known: Iterable[str]) -> str:
    """Return `did you mean x or y?`, or "" where nothing is near."""
    found = near(word, known)
    return f"did you mean {' or '.join(found)}?" if found else ""


def join_words(words: Iterable[str], *, most: int = 12, see: str = "", apart: str = ", ") -> str:
    """Return words as a list that says how many it leaves out, and what to `see` for them:
    `a, b and 3 more (see FILE)`.
    """
    every = list(words)
    rest = len(every) - most
    return apart.join(every[:most]) + (
        f" and {rest} more" + (f" ({see})" if see else "") if rest > 0 else ""
    )


def choice(word: str, known: Iterable[str]) -> str:
    """Return a hint for a word that is not in a list: the nearest of its words, else all of
    them.
    """
    words = list(known)
    return suggest(word, words) or f"there are {join_words(words, most=40)}"
