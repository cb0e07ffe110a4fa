import json
from pathlib import Path

import pytest

from vespe.models import Tool
from vespe.tools import search
from vespe.tools.search import Document, ToolIndex, document_of, evaluate, read_cases

NOTES = Document("append_note", "Add a line of text to the notes of today.")
MAIL = Document("send_mail", "Send an e-mail to somebody.")
WEATHER = Document("get_forecast", "Tell the weather of the next days for a city.")
TOOLS = [NOTES, MAIL, WEATHER]


@pytest.fixture(params=["memory", "fts5"])
def index(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ToolIndex:
    if request.param == "fts5":
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


def test_an_index_of_very_many_tools_is_kept_and_used_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "IN_MEMORY", 0)
    first = ToolIndex(TOOLS, cache=str(tmp_path / "cache")).find("weather")
    (kept,) = (tmp_path / "cache").iterdir()
    before = kept.stat().st_mtime_ns
    assert ToolIndex(TOOLS, cache=str(tmp_path / "cache")).find("weather") == first
    assert kept.stat().st_mtime_ns == before


def test_an_index_of_a_key_asks_for_no_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "IN_MEMORY", 0)
    cache = str(tmp_path / "cache")
    first = ToolIndex(TOOLS, cache=cache, key="a").find("weather")
    nothing = [Document("")] * len(TOOLS)
    assert ToolIndex(nothing, cache=cache, key="a").find("weather") == first
    assert ToolIndex(nothing, cache=cache, key="b").find("weather") == []
    assert search.key_of(["1", "2"]) != search.key_of(["2", "1"]) and search.key_of(["1", ""]) == ""


@pytest.mark.parametrize("damage", [b"", b"not a database", None])
def test_a_cache_that_is_broken_or_cannot_be_written_costs_time_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: bytes
) -> None:
    monkeypatch.setattr(search, "IN_MEMORY", 0)
    cache = tmp_path / "cache"
    if damage is None:
        cache.write_text("a file in the place of the directory", encoding="utf-8")
    else:
        ToolIndex(TOOLS, cache=str(cache))
        next(cache.iterdir()).write_bytes(damage)
    assert TOOLS[ToolIndex(TOOLS, cache=str(cache)).find("weather")[0].number] is WEATHER


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
