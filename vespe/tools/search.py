"""Find tools by what somebody wants to do: BM25 in memory, SQLite's full-text index for very many
tools.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

from vespe import defaults
from vespe.errors import StorageError
from vespe.files import atomic
from vespe.lazy import hashlib, sqlite3
from vespe.models import JsonObject, Tool
from vespe.records import dataclass
from vespe.tools import bm25
from vespe.tools.search_words import query_parts, query_words, search_words
from vespe.tools.validation_cache import code_digest

IN_MEMORY: Final = 5_000
"""Up to so many tools an index in memory answers within a millisecond; beyond, SQLite's is used."""
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
_CACHE_FORMAT: Final = 2


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


class ToolIndex:
    """Documents that can be searched; `cache` is a directory in which an index of very many is kept
    (None: only in memory). `key` stands for the content of all documents: where an index of that
    key is kept, none of them is asked for.
    """

    def __init__(
        self,
        documents: Sequence[Document],
        *,
        cache: str | None = None,
        key: str = "",
    ) -> None:
        large = len(documents) > IN_MEMORY
        self._words: _Words | _FullText = (
            _FullText(documents, cache, key) if large else _Words(documents)
        )

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


class _FullText:
    """SQLite's FTS5 over the same words, in a file of the cache if it can be written there."""

    def __init__(self, documents: Sequence[Document], cache: str | None, key: str) -> None:
        self._size = len(documents)
        self._database = self._opened(documents, cache, key)

    def _opened(
        self, documents: Sequence[Document], cache: str | None, key: str
    ) -> "sqlite3.Connection":
        if cache is None:
            return _filled(sqlite3.connect(":memory:", check_same_thread=False), documents)
        path = os.path.join(cache, f"{key or _digest(documents)}.sqlite")
        try:
            atomic.private_directory(cache)
            if not os.path.exists(path):
                _build(path, documents)
            database = sqlite3.connect(
                f"file:{path}?mode=ro&immutable=1", uri=True, check_same_thread=False
            )
            (count,) = database.execute("SELECT count FROM made").fetchone()
            if count != self._size:
                raise sqlite3.DatabaseError("another index")
        except (OSError, StorageError, sqlite3.Error):
            # A cache that is full, broken or not ours costs time and nothing else.
            return _filled(sqlite3.connect(":memory:", check_same_thread=False), documents)
        return database

    def find(self, wanted: Sequence[str], limit: int) -> list[Match]:
        rare = _rare({word: self._having(word) for word in wanted})
        if not rare:
            return []
        query = " OR ".join(f'"{word}"' for word in rare)
        rows = self._database.execute(
            "SELECT rowid, bm25(tools, 3.0, 1.0, 0.5) FROM tools WHERE tools MATCH ? ORDER BY 2, "
            "rowid LIMIT ?",
            (query, limit),
        )
        return [Match(number, -score) for number, score in rows]

    def _having(self, word: str) -> int:
        row = self._database.execute("SELECT doc FROM words WHERE term = ?", (word,)).fetchone()
        return row[0] if row else 0


def _rare(having: Mapping[str, int]) -> list[str]:
    """Return the words to ask for, of the query's words with the number of documents that have
    each.
    """
    known = sorted((count, word) for word, count in having.items() if count)
    return [word for count, word in known if count <= _COMMON] or [word for _, word in known[:1]]


def key_of(digests: Iterable[str]) -> str:
    """Return the key of an index of tools, by the digests of their config.json; "" where one of
    those is not known.
    """
    known = list(digests)
    about = (str(_CACHE_FORMAT), defaults.VERSION, code_digest(), *known)
    return hashlib.sha256("\n".join(about).encode()).hexdigest()[:32] if all(known) else ""


def _digest(documents: Iterable[Document]) -> str:
    digest = hashlib.sha256(str(_CACHE_FORMAT).encode())
    for document in documents:
        for text in (document.heading, document.body, document.arguments):
            data = text.encode("utf-8", "replace")
            digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()[:32]


def _build(path: str, documents: Sequence[Document]) -> None:
    """Make the index beside its place and rename it: a reader sees a whole one or none."""
    aside = f"{path}.{os.getpid()}.tmp"
    try:
        database = sqlite3.connect(aside)
        with database:
            _filled(database, documents)
        database.close()
        os.replace(aside, path)
    finally:
        if os.path.exists(aside):
            os.unlink(aside)


def _filled(database: "sqlite3.Connection", documents: Sequence[Document]) -> "sqlite3.Connection":
    database.execute("PRAGMA journal_mode = OFF")
    database.execute(
        "CREATE VIRTUAL TABLE tools USING fts5(heading, body, arguments, content='', "
        "tokenize='unicode61 remove_diacritics 0')"
    )
    database.execute("CREATE VIRTUAL TABLE words USING fts5vocab(tools, row)")
    database.execute("CREATE TABLE made (count INTEGER)")
    rows = (
        (
            number,
            *(
                " ".join(search_words(text))
                for text in (document.heading, document.body, document.arguments)
            ),
        )
        for number, document in enumerate(documents)
    )
    database.executemany(
        "INSERT INTO tools (rowid, heading, body, arguments) VALUES (?, ?, ?, ?)", rows
    )
    database.execute("INSERT INTO made VALUES (?)", (len(documents),))
    database.commit()
    return database


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
