import json
import sqlite3
from pathlib import Path

import pytest

from vespe.models import JsonObject, Tool
from vespe.tools import directory, search
from vespe.tools.search import Document, ToolIndex, document_of, evaluate, read_cases
from vespe.tools.search_words import query_parts, query_words, search_words

NOTES = Document("append_note", "Add a line of text to the notes of today.")
MAIL = Document("send_mail", "Send an e-mail to somebody.")
WEATHER = Document("get_forecast", "Tell the weather of the next days for a city.")
TOOLS = [NOTES, MAIL, WEATHER]


@pytest.fixture(params=["bags", "text"])
def index(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ToolIndex:
    if request.param == "text":
        monkeypatch.setattr(search, "IN_MEMORY", 0)
    return ToolIndex(TOOLS)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("weather in Paris", WEATHER),
        ("sending mails", MAIL),
        ("appended a note", NOTES),
        ("which cities have rain tomorrow weather", WEATHER),
    ],
)
def test_a_tool_is_found_by_the_stems_of_its_words(
    index: ToolIndex, query: str, found: Document
) -> None:
    assert TOOLS[index.find(query)[0].number] is found


@pytest.mark.parametrize(
    "query", ["", "zebra", '"', "a OR b", "NEAR(", "\x00", "weather*" * 0, "ÄÖ"]
)
def test_a_query_without_a_known_word_finds_nothing(index: ToolIndex, query: str) -> None:
    assert index.find(query) == []


def test_no_more_are_given_than_asked_for(index: ToolIndex) -> None:
    assert len(index.find("text mail weather", limit=2)) == 2


def test_everything_that_says_what_a_tool_is_for_is_searched() -> None:
    tool = Tool(
        uid="tool-a",
        name="tide",
        description="",
        input_schema={"properties": {"harbour": {"description": "name of the port"}}},
        tags=("sailing",),
        annotations={"title": "Ebb and flood"},
        examples=({"input": {"harbour": "Bergen"}},),
        document={"queries": ["when can I leave with my boat", 3]},
    )
    known = ToolIndex([document_of(tool)])
    assert all(
        known.find(word)
        for word in ("tide", "harbour", "port", "sailing", "flood", "Bergen", "boat")
    )


def test_a_word_of_most_tools_is_asked_for_only_where_there_is_no_rarer_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(search, "_COMMON", 1)
    documents = [
        Document(f"tool_{number}", "shared" + " rare" * (number == 3)) for number in range(5)
    ]
    known = ToolIndex(documents)
    assert [match.number for match in known.find("shared rare")] == [3]
    assert len(known.find("shared")) == 5


def test_one_text_of_all_words_scores_as_sqlites_full_text_index_does(shared: Path) -> None:
    document = json.loads((shared / "corpus/search/metatool.json").read_text(encoding="utf-8"))
    documents = [
        Document(tool["name"], tool["description"], f"file {tool['name'][:3]} Größe")
        for tool in document["tools"]
    ]
    index = ToolIndex(words=[search.words_of(one) for one in documents])
    database = sqlite3.connect(":memory:")
    database.execute(
        "CREATE VIRTUAL TABLE tools USING fts5(heading, body, arguments, content='', "
        "tokenize='unicode61 remove_diacritics 0')"
    )
    for number, one in enumerate(documents):
        fields = (one.heading, one.body, one.arguments)
        row = (number, *(" ".join(search_words(field)) for field in fields))
        database.execute(
            "INSERT INTO tools (rowid, heading, body, arguments) VALUES (?, ?, ?, ?)", row
        )
    queries = ["größe", *(row["query"] for row in document["queries"][:50])]
    for query in queries:
        if query_parts(query):
            continue
        asked = " OR ".join(f'"{word}"' for word in query_words(query))
        expected = database.execute(
            "SELECT rowid, -bm25(tools, 3.0, 1.0, 0.5) FROM tools WHERE tools MATCH ? "
            "ORDER BY 2 DESC, rowid LIMIT 10",
            (asked,),
        ).fetchall()
        found = index.find(query)
        assert [match.score for match in found] == pytest.approx([score for _, score in expected])
        assert {match.number for match in found[:3]} == {number for number, _ in expected[:3]}
    database.close()


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"schema": [], "tags": {}, "examples": 3, "queries": "a", "annotations": []},
        {"schema": {"input": []}, "tags": [1], "examples": [1, {"input": 2}], "queries": [None]},
        {"schema": {"input": {"properties": []}}, "annotations": {"title": 1}},
    ],
)
def test_a_config_that_is_wrong_is_searched_by_what_is_right_in_it(config: JsonObject) -> None:
    known = ToolIndex(words=[search.words_of_config({"name": "tide", **config})])
    assert [match.number for match in known.find("tide")] == [0]


def test_a_config_has_the_words_that_its_tool_has() -> None:
    config: JsonObject = {
        "uid": "tool-a",
        "name": "tideTable",
        "description": "Tells the tide.",
        "tags": ["sailing boats"],
        "queries": ["when can I leave"],
        "annotations": {"title": "Ebb and flood"},
        "schema": {
            "input": {"properties": {"harbour": {"description": "name of the port"}, "on": True}}
        },
        "examples": [{"input": {"harbour": "Bergen " * 30, "on": 3}}],
    }
    judged = directory.Judged(json.dumps(config).encode())
    tool = directory.tool_of(judged, "/tools/tool-a", scope="s", kit_id=None)
    assert search.words_of_config(config) == search.words_of(document_of(tool))


def test_an_evaluation_counts_ranks_and_names_what_is_confused() -> None:
    cases = [
        ("weather", [["get_forecast"]]),
        ("send text", [["append_note"]]),
        ("zebra", [["send_mail"]]),
    ]
    judged = evaluate(ToolIndex(TOOLS), ["append_note", "send_mail", "get_forecast"], cases)
    assert judged.queries == 3
    assert judged.recall[1] <= judged.recall[5] == pytest.approx(2 / 3)
    assert {pair.wanted for pair in judged.confused} <= {"append_note"}


@pytest.mark.parametrize(
    "document",
    [
        {},
        [],
        {"queries": {}},
        {"queries": [1]},
        {"queries": [{"query": "a"}]},
        {"queries": [{"query": "a", "gold": []}]},
        {"queries": [{"query": "a", "gold": [[]]}]},
        {"queries": [{"query": "a", "gold": [[1]]}]},
    ],
)
def test_a_file_of_cases_that_is_wrong_is_told_with_the_place(document: object) -> None:
    with pytest.raises(ValueError, match="quer"):
        read_cases(document)


def test_gold_may_be_names_or_lists_of_names() -> None:
    assert read_cases({"queries": [{"query": "a", "gold": ["x", ["y", "z"]]}]}) == [
        ("a", [["x"], ["y", "z"]])
    ]


@pytest.mark.parametrize("in_memory", [True, False])
def test_metatools_queries_find_their_tools(
    shared: Path, monkeypatch: pytest.MonkeyPatch, in_memory: bool
) -> None:
    monkeypatch.setattr(search, "IN_MEMORY", 5_000 if in_memory else 0)
    document = json.loads((shared / "corpus/search/metatool.json").read_text(encoding="utf-8"))
    tools = [Document(tool["name"], tool["description"]) for tool in document["tools"]]
    judged = evaluate(
        ToolIndex(tools), [tool["name"] for tool in document["tools"]], read_cases(document)
    )
    assert judged.recall[5] >= (0.65 if in_memory else 0.63)


def test_a_word_of_the_name_counts_more_than_one_of_an_argument(index: ToolIndex) -> None:
    named, described, argued = (
        Document("tide", "Tell when."),
        Document("when", "Tell the tide."),
        Document("harbour", "Tell when.", "tide"),
    )
    found = ToolIndex([argued, described, named]).find("tide")
    assert [match.number for match in found] == [2, 1, 0]


def test_the_fit_to_one_of_several_things_that_are_asked_for_counts(index: ToolIndex) -> None:
    notes = [Document(f"note_{n}", "Add a line of text to the notes of today.") for n in range(4)]
    rains = [Document(f"rain_{n}", "Tell of rain, snow, hail and fog.") for n in range(4)]
    known = ToolIndex([*notes, *rains, Document("mail", "Send mail.")])
    wish = "Add the line of text about snow to the notes of today"
    scores = [
        {match.number: match.score for match in known.find(asked)}[8]
        for asked in (f"{wish} and mail", f"{wish}. Then send a mail")
    ]
    assert scores[1] > scores[0] > 0
