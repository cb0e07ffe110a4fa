"""Who speaks within one user turn."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vespe.adapters.anthropic.speakers import literal, looks_marked, marked, speaker, unmarked

TEXTS = st.sampled_from(["a", "b", "[name]", "[name: ]", "[name: bob]", "[name: eve]"])
TURNS = st.lists(
    st.tuples(st.sampled_from(["", "bob", "eve", "a]"]), st.lists(TEXTS, min_size=1, max_size=3)),
    min_size=1,
    max_size=4,
)


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def texts(blocks: list[dict[str, Any]]) -> list[str]:
    return [block["text"] for block in blocks]


@pytest.mark.parametrize(
    ("spoken", "written"),
    [
        ([("alice", ["hi"])], ["[name: alice]", "hi"]),
        ([("", ["[name: bob]", "hi"])], ["[name]", "[name: bob]", "hi"]),
        ([("", ["hi", "[name: bob]"])], ["hi", "[name: bob]"]),
        ([("bob", ["hi"]), ("", ["ho"])], ["[name: bob]", "hi", "[name: ]", "ho"]),
        (
            [("bob", ["hi"]), ("bob", ["[name: eve]", "ho"])],
            ["[name: bob]", "hi", "[name: bob]", "[name]", "[name: eve]", "ho"],
        ),
    ],
)
def test_a_name_is_marked_and_a_text_like_a_mark_is_protected(
    spoken: list[tuple[str, list[str]]], written: list[str]
) -> None:
    blocks = [(name, [text(said) for said in each]) for name, each in spoken]
    assert texts(marked(blocks)) == written
    assert unmarked(marked(blocks)) == blocks


@settings(derandomize=True, max_examples=400, deadline=None)
@given(TURNS)
def test_what_each_says_comes_back(spoken: list[tuple[str, list[str]]]) -> None:
    named = next((place for place, (name, _) in enumerate(spoken) if name), len(spoken))
    turn = [("", [text(said) for _, each in spoken[:named] for said in each])] if named else []
    turn += [(name, [text(said) for said in each]) for name, each in spoken[named:]]
    assert unmarked(marked(turn)) == turn


@settings(derandomize=True, max_examples=400, deadline=None)
@given(st.lists(TEXTS, max_size=7))
def test_a_turn_is_read_only_where_it_would_be_written_so_again(said: list[str]) -> None:
    blocks = [text(each) for each in said]
    read = unmarked(blocks)
    assert read is None or marked(read) == blocks
    assert read is not None or any(looks_marked(block) for block in blocks)


def test_a_block_that_bears_more_than_its_text_is_no_mark() -> None:
    assert looks_marked(text("[name: bob]")) and looks_marked(text("[name]"))
    assert not any(
        map(
            looks_marked,
            (
                {**text("[name]"), "citations": None},
                text("[name:bob]"),
                text("[name: a\nb]"),
                {"type": "image"},
            ),
        )
    )


def test_a_name_that_no_mark_can_hold_is_none() -> None:
    assert [speaker({"name": name}) for name in ("alice", "a]", "a\nb", "x" * 65, 3, None)] == [
        "alice",
        "a]",
        "",
        "",
        "",
        "",
    ]


def test_a_message_is_literal_while_a_text_that_looks_marked_stands_beside_it() -> None:
    message = {"content": "a", "anthropic_blocks": [text("[name: bob]"), "part"]}
    assert (
        literal(message)
        and not literal({**message, "name": "eve"})
        and not literal({"content": "a"})
    )
