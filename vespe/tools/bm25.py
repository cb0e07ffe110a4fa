"""BM25 over short texts, to tell how alike two of them are; pure."""

import functools
import heapq
import math
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from typing import Final, NamedTuple

from vespe.lazy import pattern

K1: Final = 1.2
B: Final = 0.75
BACKGROUND: Final = 30
"""Documents that are thought of as there besides, with none of the words: among three documents,
what two share is no common word.
"""
MOST_COMPARED: Final = 100_000
"""Pairs of documents; more would take seconds."""
_WORD: Final = pattern(r"[^\W_]+")
_HUMP: Final = pattern(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_STOP: Final = frozenset(
    (
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "by",
        "can",
        "for",
        "from",
        "has",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "of",
        "on",
        "or",
        "that",
        "the",
        "their",
        "this",
        "to",
        "use",
        "used",
        "uses",
        "using",
        "when",
        "which",
        "will",
        "with",
        "you",
        "your",
    )
)


class Pair(NamedTuple):
    """Two documents and how alike they are, from 0 (no word in common) to 1 (the same words)."""

    first: int
    second: int
    alike: float


def words(text: str) -> list[str]:
    """Return the words of a text or a name in lower case: humps and underscores part words, and the
    commonest are left out.
    """
    return [word for token in tokens(text) for word in words_of_token(token)]


@functools.lru_cache(maxsize=1 << 14)
def words_of_token(token: str) -> tuple[str, ...]:
    """Return the words of a run of letters and digits. Texts repeat theirs: to remember them halves
    the time that 10,000 tools take to be split into words.
    """
    plain = (
        (token,) if token.islower() or token.isdigit() else _HUMP.sub(" ", token).lower().split()
    )
    return tuple(sys.intern(_stem(word)) for word in plain if word not in _STOP)


def tokens(text: str) -> list[str]:
    """Return the runs of letters and digits in a text."""
    return _WORD.findall(text)


def _stem(word: str) -> str:
    """Take a plural's or a verb's s off: `gets`, `get`."""
    return (
        word[:-1]
        if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is"))
        else word
    )


class Index:
    """Documents as bags of words, ready to be compared.

    Each document is a list of words, or how often each one stands there; a word that counts double
    stands twice. `k1` and `b` are BM25's: how soon a word's repetition counts no more, and how far
    long documents count less.
    """

    def __init__(
        self,
        documents: Sequence[Sequence[str] | Mapping[str, int]],
        *,
        b: float = B,
        k1: float = K1,
    ) -> None:
        self.bags = [Counter(document) for document in documents]
        self.postings: dict[str, list[int]] = {}
        for number, bag in enumerate(self.bags):
            for word in bag:
                self.postings.setdefault(word, []).append(number)
        lengths = [bag.total() for bag in self.bags]
        average = (sum(lengths) / len(lengths) if lengths else 0.0) or 1.0
        self._b, self._k1 = b, k1
        self._weights = [
            self._weighed(bag, length / average)
            for bag, length in zip(self.bags, lengths, strict=True)
        ]

    def rarity(self, word: str) -> float:
        """Return a word's inverse document frequency, never below 0."""
        having = len(self.postings.get(word, ()))
        return math.log(1 + (BACKGROUND + len(self.bags) - having + 0.5) / (having + 0.5))

    def _weighed(self, bag: Counter[str], length: float) -> dict[str, float]:
        norm = self._k1 * (1 - self._b + self._b * length)
        return {
            word: self.rarity(word) * count * (self._k1 + 1) / (count + norm)
            for word, count in bag.items()
        }

    def score(self, query: int, document: int) -> float:
        """Return BM25 of one document for the words of another."""
        weights = self._weights[document]
        return sum(
            count * weights[word] for word, count in self.bags[query].items() if word in weights
        )

    def alike(self, first: int, second: int) -> float:
        """Return how alike two documents are: each one's score for the other, as a part of the
        score for itself; the lesser counts.
        """
        itself, other = self._itself[first], self._itself[second]
        if not (itself and other):
            return float(self.bags[first] == self.bags[second])
        return min(1.0, self.score(first, second) / itself, self.score(second, first) / other)

    def find(self, wanted: Iterable[str], limit: int) -> list[tuple[int, float]]:
        """Return the documents that have any of these words, as (number, score), the best first."""
        scores: dict[int, float] = {}
        for word in wanted:
            for number in self.postings.get(word, ()):
                scores[number] = scores.get(number, 0.0) + self._weights[number][word]
        return heapq.nsmallest(limit, scores.items(), key=lambda found: (-found[1], found[0]))

    @cached_property
    def _itself(self) -> list[float]:
        return [self.score(number, number) for number in range(len(self.bags))]

    def pairs(self, least: float) -> list[Pair]:
        """Return the pairs that are at least so alike, the most alike first.

        All pairs that share a word are compared, from the rarest word on, until MOST_COMPARED of
        them have been: among thousands of documents, those that share common words alone are not.
        """
        found = [
            Pair(a, b, alike) for a, b in self._candidates() if (alike := self.alike(a, b)) >= least
        ]
        return sorted(found, key=lambda pair: (-pair.alike, pair.first, pair.second))

    def _candidates(self) -> Iterator[tuple[int, int]]:
        size = len(self.bags)
        near: set[int] = set()
        for having in sorted(self.postings.values(), key=len):
            if len(near) + len(having) * (len(having) - 1) // 2 > MOST_COMPARED:
                break
            near.update(a * size + b for a, b in combinations(having, 2))
        return (divmod(pair, size) for pair in sorted(near))
