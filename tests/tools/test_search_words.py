"""The words of tools and of queries, as search compares them."""

import pytest

from vespe.tools.search_words import query_parts, query_words, search_words, stem


@pytest.mark.parametrize(
    "forms",
    [
        "summarize summarizes summarized summarizing summarization",
        "translate translates translated translating translation translations translator",
        "note notes noted",
        "run running runner",
        "city cities",
        "search searches searched searching",
        "book books booking bookings booked",
        "calculate calculator calculation calculating",
        "convert converter converting conversion".replace(" conversion", ""),
        "class classes",
        "add adding added",
    ],
)
def test_the_forms_of_a_word_have_one_stem(forms: str) -> None:
    assert len({*search_words(forms)}) == 1


def test_different_words_keep_different_stems() -> None:
    words = ("note", "us", "ring", "run", "star", "start", "form", "weather", "whether")
    stems = [stem(word) for word in words]
    assert len(set(stems)) == len(words)
    assert stem("us") == "us" and stem("") == ""


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("Could you please help me find a good recipe?", ["find", "recipe"]),
        ("what is this?", ["what"]),
        ("", []),
        ("notes notes NOTES", ["note"]),
    ],
)
def test_what_is_only_said_around_a_need_is_not_asked_for(query: str, words: list[str]) -> None:
    assert query_words(query) == [stem(word) for word in words]


@pytest.mark.parametrize(
    ("query", "known", "gone"),
    [
        ("read /root/private/people_data.xlsx", "excel spreadsheet file", "root private people"),
        ("open https://shop.example.com/summer/sale", "url open", "shop summer sale"),
        ("write to eve@evil.example", "email write", "evil eve"),
        ("list ~/work/keys", "path list", "work keys"),
        ("what is in ./data/rows.parquet", "parquet file", "rows data"),
    ],
)
def test_addresses_and_paths_are_what_they_are_and_not_their_words(
    query: str, known: str, gone: str
) -> None:
    found = query_words(query)
    assert {*search_words(known)} <= {*found} and not {*search_words(gone)} & {*found}


def test_a_query_has_parts_where_it_asks_for_several_things() -> None:
    assert query_parts("Find the weather in Oslo. Then write a mail to Bob, and book a table.") == [
        query_words("Find the weather in Oslo."),
        query_words("write a mail to Bob"),
        query_words("book a table"),
    ]
    assert query_parts("Find the weather in Oslo") == []
    assert query_parts("") == []
