"""KEY=VALUE is typed by the schema; what fits no type stays text, for the schema to refuse."""

import shlex
from pathlib import Path
from typing import Any

import pytest

from vespe.cli.tool.arguments import gather, misread
from vespe.errors import ParsingError, UsageError
from vespe.models import Tool

SCHEMA: dict[str, Any] = {
    "type": "object",
    "$defs": {"size": {"type": "integer"}},
    "properties": {
        "text": {"type": "string"},
        "count": {"type": "integer"},
        "ratio": {"type": "number"},
        "flag": {"type": "boolean"},
        "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "sizes": {"type": "array", "items": {"$ref": "#/$defs/size"}},
        "point": {"type": "object"},
        "size": {"$ref": "#/$defs/size"},
        "either": {"type": ["integer", "string"]},
        "level": {"enum": [1, 2]},
        "fixed": {"const": True},
    },
}
TOOL = Tool(uid="tool-x", name="x", description="X.", input_schema=SCHEMA)


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("text=3", "3"),
        ("text=a=b", "a=b"),
        ("text=", ""),
        ("count=3", 3),
        ("count=-3", -3),
        ("count=three", "three"),
        ("count=007", "007"),
        ("ratio=2.5", 2.5),
        ("ratio=NaN", "NaN"),
        ("flag=true", True),
        ("flag=yes", "yes"),
        ("maybe=null", None),
        ("maybe=4", 4),
        ('tags=["a"]', ["a"]),
        ("tags=a", ["a"]),
        ("sizes=4", [4]),
        ("sizes=[1", "[1"),
        ('point={"x": 1}', {"x": 1}),
        ("point=x", "x"),
        ("size=9", 9),
        ("either=9", "9"),
        ("level=2", 2),
        ("fixed=true", True),
        ("unknown=3", "3"),
        ("count:=4", 4),
        ('unknown:={"a": [1]}', {"a": [1]}),
    ],
)
def test_a_value_is_read_as_the_schema_types_it(word: str, value: Any) -> None:
    gathered = gather(TOOL, [word], None)
    assert gathered == {word.partition("=")[0].rstrip(":"): value}


def test_a_key_given_again_gathers_an_array() -> None:
    assert gather(TOOL, ["tags=a", "tags=b", 'tags=["c","d"]'], None) == {
        "tags": ["a", "b", "c", "d"]
    }


def test_a_key_given_again_is_a_mistake_where_the_schema_says_no_array() -> None:
    with pytest.raises(UsageError, match="count is given twice") as refused:
        gather(TOOL, ["count=1", "count=2"], None)
    assert refused.value.hint == (
        "give it once: `count` is an integer in the tool's schema, not a list"
    )


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["6"], "write a=6;"),
        (["6", "7"], "write a=6 b=7;"),
        (["b=7", "two words"], "write 'a=two words';"),
        (["a", "6"], "write a=6;"),
        (["b"], "write b=B;"),
        (["-a", "6"], "write KEY=VALUE, KEY:=JSON, KEY=@FILE, or --args JSON;"),
        (["a", "=", "6", "b=7"], "write a=6 b=7, without spaces around the equals sign"),
        (["a", "=", "6", "b", "=", "7"], "write a=6 b=7, without spaces around the equals sign"),
        (["1", "2", "3"], "write KEY=VALUE, KEY:=JSON, KEY=@FILE, or --args JSON;"),
    ],
)
def test_a_value_without_a_name_is_answered_with_the_words_that_were_meant(
    words: list[str], hint: str
) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
    tool = Tool(uid="tool-x", name="calc", description="X.", input_schema=schema)
    with pytest.raises(UsageError) as refused:
        gather(tool, words, None)
    more = " `vespe tool run calc --help` shows its arguments" if hint.endswith(";") else ""
    assert refused.value.hint == f"{hint}{more}"


def test_a_boolean_without_a_value_is_answered_with_true() -> None:
    with pytest.raises(UsageError) as refused:
        gather(TOOL, ["text=a", "flag"], None)
    assert "write flag=true;" in refused.value.hint


def test_a_second_value_of_a_list_is_answered_with_the_word_that_was_meant() -> None:
    with pytest.raises(UsageError) as refused:
        gather(TOOL, ["--tags", "a", "b"], None)
    assert "write tags=b;" in refused.value.hint


@pytest.mark.parametrize("word", ["text", "=x", ":=x", "a\x1bb=x"])
def test_a_word_that_is_no_pair_is_a_usage_error(word: str) -> None:
    with pytest.raises(UsageError):
        gather(TOOL, [word], None)


def test_pairs_are_laid_over_the_args_object() -> None:
    assert gather(TOOL, ["count=2"], '{"count": 1, "text": "a"}') == {"count": 2, "text": "a"}


def test_args_alone_go_to_the_call_as_they_came_even_when_broken() -> None:
    assert gather(TOOL, [], '{"count": ') == b'{"count": '


@pytest.mark.parametrize("word", ["text:={", "count:=NaN", "count:="])
def test_p19_what_is_said_to_be_json_and_is_not_never_becomes_text(word: str) -> None:
    with pytest.raises(ParsingError):
        gather(TOOL, [word], None)


def test_a_value_listed_by_the_schema_is_read_as_the_one_that_it_names() -> None:
    schema = {
        "type": "object",
        "properties": {"m": {"enum": ["a", 3, True, None, "7"]}},
        "additionalProperties": {"type": "integer"},
    }
    tool = Tool(uid="tool-x", name="x", description="X.", input_schema=schema)
    given = {
        word: gather(tool, [f"m={word}"], None) for word in ("a", "3", "true", "null", "7", "other")
    }
    assert [value["m"] for value in given.values() if isinstance(value, dict)] == [
        "a",
        3,
        True,
        None,
        "7",
        "other",
    ]
    assert gather(tool, ["more=5"], None) == {"more": 5}


def test_broken_args_under_pairs_are_refused_with_their_place() -> None:
    with pytest.raises(ParsingError, match="line 1"):
        gather(TOOL, ["count=1"], '{"count": ')


def test_files_are_read_for_a_value_and_for_the_whole(tmp_path: Path) -> None:
    (tmp_path / "draft").write_text("a draft\n", encoding="utf-8")
    (tmp_path / "args.json").write_text('{"count": 1}', encoding="utf-8")
    assert gather(TOOL, [f"text=@{tmp_path}/draft"], f"@{tmp_path}/args.json") == {
        "count": 1,
        "text": "a draft\n",
    }


def test_a_file_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        gather(TOOL, [f"text=@{tmp_path}/missing"], None)


def test_a_reference_that_turns_in_circles_ends() -> None:
    schema = {"type": "object", "properties": {"a": {"$ref": "#/properties/a"}}}
    tool = Tool(uid="tool-x", name="x", description="X.", input_schema=schema)
    assert gather(tool, ["a=1"], None) == {"a": "1"}


@pytest.mark.parametrize(
    ("words", "inputs"),
    [
        (("--count", "3"), {"count": 3}),
        (("--count=3", "text=a"), {"count": 3, "text": "a"}),
        (("--flag", "--text", "--odd"), {"flag": True, "text": "--odd"}),
        (("--no-flag",), {"flag": False}),
        (("--flag=false",), {"flag": False}),
        (("--tags", "a", "--tags", "b"), {"tags": ["a", "b"]}),
    ],
)
def test_an_option_is_an_input(words: tuple[str, ...], inputs: dict[str, Any]) -> None:
    assert gather(TOOL, words, None) == inputs


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("--cuont", "3"), "did you mean count"),
        (("--zzz",), "--help"),
        (("--count",), "count=VALUE"),
    ],
)
def test_an_option_that_is_not_an_input_or_lacks_its_value_is_a_usage_error(
    words: tuple[str, ...], hint: str
) -> None:
    with pytest.raises(UsageError) as refused:
        gather(TOOL, words, None)
    assert hint in refused.value.hint


@pytest.mark.parametrize(
    ("word", "how"),
    [
        (
            "sizes=1,2",
            "write sizes as JSON in quotes, such as sizes='[1, 2]', "
            "or give sizes= once for each item",
        ),
        ("point=x", """write point as JSON in quotes, such as point='{"name": "value"}'"""),
        ("count=x", ""),
        ("sizes=[true]", ""),
        ('point={"x": 1', "the JSON after point= is not JSON: Expecting ',' delimiter"),
    ],
)
def test_a_list_or_an_object_that_was_typed_as_text_is_told_how_it_is_typed_and_that_is_taken(
    word: str, how: str
) -> None:
    given = gather(TOOL, [word], None)
    assert isinstance(given, dict) and misread(TOOL, given, list(given)) == how
    if how.startswith("write "):
        right = gather(TOOL, shlex.split(how.partition("such as ")[2].partition(", or")[0]), None)
        assert isinstance(right, dict) and misread(TOOL, right, list(right)) == ""


@pytest.mark.parametrize(
    ("word", "point"),
    [
        ("point.x=1", {"x": 1}),
        ("point.x.y=true", {"x": {"y": True}}),
        ("point.x=it's", {"x": "it's"}),
    ],
)
def test_a_member_of_an_object_is_told_how_it_is_typed_and_that_is_taken(
    word: str, point: Any
) -> None:
    given = gather(TOOL, [word], None)
    assert isinstance(given, dict)
    how = misread(TOOL, given, list(given))
    assert gather(TOOL, shlex.split(how.removeprefix("write ")), None) == {"point": point}
    assert misread(TOOL, {"unknown.x": 1, "text.x": 1}, []) == ""


def test_json_that_breaks_off_is_told_how_its_input_is_typed() -> None:
    for word, how in (("sizes:=[1,a]", "sizes='[1, 2]'"), ("text:=a", "text=TEXT")):
        with pytest.raises(ParsingError) as caught:
            gather(TOOL, [word], None)
        assert how in caught.value.hint
