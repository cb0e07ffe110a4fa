"""Find tools by what somebody wants to do: by BM25 over bags of words, for very many tools over one
text of all their words.

Why not SQLite's full-text index: to make that of 10,000 tools takes half a second, which the first
search waits for, and it is made anew after each change. In a text that is 4 MB long a word is found
in 3 ms, and the words of each tool are kept by themselves (`kept_words.py`).
"""

import functools
import heapq
import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain
from typing import Any, Final, NamedTuple

from vespe.models import JsonObject, Tool
from vespe.records import dataclass
from vespe.tools import bm25
from vespe.tools.search_words import query_parts, query_words, search_words, spaced_words

IN_MEMORY: Final = 5_000
"""Up to so many tools bags of words answer within a millisecond; beyond, to make them takes too
long.
"""
LIMIT: Final = 10
_B: Final = 0.4
"""BM25's `b`: how far long descriptions count less. Lint's comparison of whole descriptions uses
the usual 0.75; for queries of one sentence 0.4 finds more (MetaTool, R@5 0.64 against 0.62).
"""
_COMMON: Final = 500
"""A word that more tools than this have tells little and costs much: it is asked for only if the
query has no rarer one.
"""
_WEIGHTS: Final = (6, 2, 1)
"""What a word of the heading, the body and the arguments counts."""
_K1: Final = bm25.K1 * 2
"""BM25's `k1`, for words of the body that count 2."""
_PARTS_COUNT: Final = 0.3
"""How much the best fit to one part of a query counts beside the fit to all of it."""
_FUSED: Final = 50
"""How many tools are looked at for each part of a query."""
_TEXT_WEIGHTS: Final = (3.0, 1.0, 0.5)
_TEXT_B: Final = 0.75
"""The weights and BM25's `b` in one text of all words."""


class Match(NamedTuple):
    """One tool that was found: its place in the sequence that was indexed, and its score, the best
    first.
    """

    number: int
    score: float


@dataclass(frozen=True, slots=True)
class Document:
    """What is known of a tool when it is searched, by what its words count: `heading` the most,
    `arguments` the least.
    """

    heading: str
    body: str = ""
    arguments: str = ""


def document_of(tool: Tool) -> Document:
    """Return what search knows of a tool: name, title and tags; description and `queries`;
    arguments and examples.
    """
    queries = tool.document.get("queries")
    asked = (
        [query for query in queries if isinstance(query, str)] if isinstance(queries, list) else []
    )
    title = tool.annotations.get("title")
    heading = " ".join((tool.name, title if isinstance(title, str) else "", *tool.tags))
    inputs = (example.get("input") for example in tool.examples)
    values = chain.from_iterable(value.values() for value in inputs if isinstance(value, dict))
    examples = (value[:100] for value in values if isinstance(value, str))
    return Document(
        heading,
        " ".join((tool.description, *asked)),
        " ".join((*_argument_texts(tool.input_schema), *examples)),
    )


def _argument_texts(schema: JsonObject) -> Iterator[str]:
    properties = schema.get("properties")
    for name, said in properties.items() if isinstance(properties, dict) else ():
        yield name
        if isinstance(said, dict) and isinstance(said.get("description"), str):
            yield said["description"]


def words_of_config(document: JsonObject) -> bytes:
    """Return `words_of` what search knows of a tool, from a config.json that may be wrong."""
    annotations, schema = document.get("annotations"), document.get("schema")
    title = annotations.get("title") if isinstance(annotations, dict) else None
    inputs = schema.get("input") if isinstance(schema, dict) else None
    values = (
        value
        for example in _list(document.get("examples"))
        if isinstance(example, dict) and isinstance(example.get("input"), dict)
        for value in example["input"].values()
    )
    return _joined(
        spaced_words(" ".join(_texts((document.get("name"), title, *_list(document.get("tags")))))),
        spaced_words(
            " ".join(_texts((document.get("description"), *_list(document.get("queries")))))
        ),
        "".join(map(_argument_words, _argument_texts(inputs if isinstance(inputs, dict) else {})))
        + "".join(spaced_words(value[:100]) for value in _texts(values)),
    )


def words_of(document: Document) -> bytes:
    """Return the words of a document for `TextIndex`."""
    return _joined(*map(spaced_words, (document.heading, document.body, document.arguments)))


def _joined(heading: str, body: str, arguments: str) -> bytes:
    return f"{heading}\t{body}\t{arguments}\n".encode()


@functools.lru_cache(maxsize=1 << 14)
def _argument_words(text: str) -> str:
    """Return the words of an argument's name or description: those of many tools are the same."""
    return spaced_words(text)


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _texts(values: Iterable[Any]) -> Iterator[str]:
    return (value for value in values if isinstance(value, str))


class ToolIndex:
    """Documents that can be searched, or the words of very many, as `words_of` gives them."""

    def __init__(
        self, documents: Sequence[Document] = (), *, words: Sequence[bytes] | None = None
    ) -> None:
        if words is None and len(documents) > IN_MEMORY:
            words = [words_of(document) for document in documents]
        self._words: _Words | _Text = _Words(documents) if words is None else _Text(words)

    def find(self, query: str, *, limit: int = LIMIT) -> list[Match]:
        """Return the documents that fit a query, the best first; those of one score keep their
        order. Of a query that asks for several things in turn, the fit to each counts too.
        """
        asked, parts = query_words(query), query_parts(query)
        if not parts:
            return self._words.find(asked, limit)
        whole = self._words.find(asked, max(limit, _FUSED))
        best: dict[int, float] = {}
        for words in parts:
            for number, score in self._words.find(words, _FUSED):
                best[number] = max(best.get(number, 0.0), score)
        if not whole or not best:
            return whole[:limit]
        scale = whole[0].score * _PARTS_COUNT / max(best.values())
        fits = {match.number: match.score * (1 - _PARTS_COUNT) for match in whole}
        scores = {
            number: fits.get(number, 0.0) + best.get(number, 0.0) * scale
            for number in fits.keys() | best.keys()
        }
        ranked = sorted(scores.items(), key=lambda found: (-found[1], found[0]))
        return [Match(*found) for found in ranked[:limit]]


def bag_of(document: Document) -> Counter[str]:
    """Return the words that a document is found by, and what each counts."""
    bag: Counter[str] = Counter()
    texts = (document.heading, document.body, document.arguments)
    for text, weight in zip(texts, _WEIGHTS, strict=True):
        for word in search_words(text):
            bag[word] += weight
    return bag


class _Words:
    """BM25 in memory."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._index = bm25.Index([bag_of(document) for document in documents], b=_B, k1=_K1)

    def find(self, wanted: Sequence[str], limit: int) -> list[Match]:
        rare = _rare({word: len(self._index.postings.get(word, ())) for word in wanted})
        return [Match(number, score) for number, score in self._index.find(rare, limit)]


class _Text:
    """BM25 over one text: a line of words for each document, with tabs between heading, body and
    arguments.
    """

    def __init__(self, words: Sequence[bytes]) -> None:
        self._text = b"".join(words)
        self._starts = [0, *accumulate(map(len, words))]
        self._average = self._text.count(b" ") / 2 / max(len(words), 1) or 1.0
        self._having = functools.lru_cache(maxsize=256)(self._look_for)

    def find(self, wanted: Sequence[str], limit: int) -> list[Match]:
        rare = _rare({word: len(self._having(word)) for word in wanted})
        size, scores = len(self._starts) - 1, dict[int, float]()
        for word in rare:
            having = self._having(word)
            rarity = max(math.log((size - len(having) + 0.5) / (len(having) + 0.5)), 1e-6)
            needle = _needle(word)
            for number in having:
                score = rarity * self._weight(number, needle)
                scores[number] = scores.get(number, 0.0) + score
        best = heapq.nsmallest(limit, scores.items(), key=lambda found: (-found[1], found[0]))
        return [Match(*found) for found in best]

    def _look_for(self, word: str) -> list[int]:
        """Return the numbers of the documents that have a word."""
        needle, text, starts = _needle(word), self._text, self._starts
        found, at = [], text.find(needle)
        while at >= 0:
            found.append(after := bisect_right(starts, at) - 1)
            at = text.find(needle, starts[after + 1])
        return found

    def _weight(self, number: int, needle: bytes) -> float:
        line = self._text[self._starts[number] : self._starts[number + 1]]
        times = sum(
            field.count(needle) * weight
            for field, weight in zip(line.split(b"\t"), _TEXT_WEIGHTS, strict=True)
        )
        length = line.count(b" ") / 2 / self._average
        norm = bm25.K1 * (1 - _TEXT_B + _TEXT_B * length)
        return times * (bm25.K1 + 1) / (times + norm)


def _needle(word: str) -> bytes:
    return f" {word} ".encode()


def _rare(having: Mapping[str, int]) -> list[str]:
    """Return the words to ask for, of the query's words with the number of documents that have
    each.
    """
    known = sorted((count, word) for word, count in having.items() if count)
    return [word for count, word in known if count <= _COMMON] or [word for _, word in known[:1]]


class Confusion(NamedTuple):
    """A tool that was wanted, one that was found before it, and how often."""

    wanted: str
    found: str
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """How well queries find their tools: the shares found among the first 1, 5 and 10, the mean
    reciprocal rank, what is confused.
    """

    queries: int
    recall: Mapping[int, float]
    mrr: float
    confused: tuple[Confusion, ...]


def evaluate(
    index: ToolIndex, names: Sequence[str], cases: Iterable[tuple[str, Sequence[Sequence[str]]]]
) -> Evaluation:
    """Judge an index whose documents have these `names`; a case is a query and, for each need of
    it, the names that are right.
    """
    ranks: list[int] = []
    confused: Counter[tuple[str, str]] = Counter()
    for query, needs in cases:
        found = [names[match.number] for match in index.find(query, limit=50)]
        for right in needs:
            rank = next((at for at, name in enumerate(found, 1) if name in right), 0)
            ranks.append(rank)
            if rank != 1 and right and found:
                confused[right[0], found[0]] += 1
    total = max(len(ranks), 1)
    recall = {most: sum(0 < rank <= most for rank in ranks) / total for most in (1, 5, 10)}
    pairs = tuple(Confusion(*pair, times) for pair, times in confused.most_common(10))
    return Evaluation(
        queries=len(ranks),
        recall=recall,
        mrr=sum(1 / rank for rank in ranks if rank) / total,
        confused=pairs,
    )


def read_cases(document: Any) -> list[tuple[str, list[list[str]]]]:
    """Return the cases of a file for `evaluate`:
    `{"queries": [{"query", "gold": [[name, …], …]}]}`. Raises ValueError with the place.
    """
    rows = document.get("queries") if isinstance(document, dict) else None
    if not isinstance(rows, list):
        raise ValueError('must be an object with a list "queries"')
    cases = []
    for number, row in enumerate(rows):
        query, gold = (row.get("query"), row.get("gold")) if isinstance(row, dict) else (None, None)
        if not isinstance(query, str) or not isinstance(gold, list) or not gold:
            raise ValueError(
                f'/queries/{number} must have a string "query" and a list "gold" of '
                "the names that are right"
            )
        needs = [[need] if isinstance(need, str) else need for need in gold]
        if not all(
            isinstance(need, list) and need and all(isinstance(name, str) for name in need)
            for need in needs
        ):
            raise ValueError(f"/queries/{number}/gold must hold names of tools, or lists of them")
        cases.append((query, needs))
    return cases
