"""Setting and removing one member: every other byte stays, whatever the file looks like."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vespe.documents import jsonc
from vespe.documents.jsonc import with_member, without_member
from vespe.errors import InvalidDocument
from vespe.models import JsonValue

STEPS = ["servers", "ours"]
ENTRY = {"command": "x", "args": ["a", "b"]}
STABLE = {
    "pretty": '{\n  "foo": true,\n  "servers": {\n    "other": {}\n  }\n}\n',
    "four spaces": '{\n    "servers": {\n        "other": {}\n    },\n    "z": 1\n}',
    "tabs": '{\n\t"servers": {\n\t\t"other": {}\n\t}\n}\n',
    "crlf": '{\r\n  "servers": {\r\n    "other": {}\r\n  }\r\n}\r\n',
    "bom": '\ufeff{\n  "servers": {\n    "other": {}\n  }\n}\n',
    "comments": '// top\n{\n  // before\n  "servers": {\n    "other": {} // note\n    // tail\n  } '
    "/* end */\n}\n// bottom\n",
    "trailing commas": '{\n  "servers": {\n    "other": {},\n  },\n}\n',
    "trailing comma and note": '{\n  "servers": {\n    "other": {}, // note\n  },\n}\n',
    "one line": '{"foo":1,"servers":{"other":{}}}',
    "one line, spaces": '{ "servers": { "other": {} } }\n',
    "empty object": '{\n  "servers": {}\n}\n',
    "empty in one line": '{"servers":{}}',
    "inline in lines": '{\n  "servers": {"other": {}},\n  "z": 1\n}\n',
    "inline with trailing comma": '{\n  "servers": {"other": {},},\n  "z": 1\n}\n',
    "no final newline": '{\n  "servers": {\n    "other": {"a": "}"}\n  }\n}',
}


@pytest.mark.parametrize("text", STABLE.values(), ids=STABLE.keys())
def test_adding_then_removing_gives_the_very_same_bytes(text: str) -> None:
    added = with_member(text, STEPS, ENTRY)
    assert jsonc.parse(added).value["servers"]["ours"] == ENTRY
    assert without_member(added, STEPS) == text


@pytest.mark.parametrize("text", STABLE.values(), ids=STABLE.keys())
def test_adding_keeps_every_character_that_stood_there_in_its_order(text: str) -> None:
    rest = iter(with_member(text, STEPS, ENTRY))
    assert all(character in rest for character in text)


@pytest.mark.parametrize("text", STABLE.values(), ids=STABLE.keys())
def test_line_ends_stay_of_one_kind_and_setting_twice_changes_nothing(text: str) -> None:
    added = with_member(text, STEPS, ENTRY)
    assert added.count("\n") == added.count("\r\n") or "\r" not in added
    assert with_member(added, STEPS, ENTRY) == added


def test_the_layout_of_the_neighbours_is_taken_over() -> None:
    text = '{\n\t"servers": {\n\t\t"other": {} // note\n\t}\n}\n'
    assert with_member(text, ["servers", "ours"], {"a": 1}) == (
        '{\n\t"servers": {\n\t\t"other": {}, // note\n\t\t"ours": {\n\t\t\t"a": 1\n\t\t}\n\t}\n}\n'
    )


@pytest.mark.parametrize(
    "text", ["", "  \n", "\ufeff", "{}", "{}\n", "{ }", "// only this\n{\n  // nothing yet\n}\n"]
)
def test_objects_on_the_way_are_made(text: str) -> None:
    added = with_member(text, STEPS, ENTRY)
    assert jsonc.parse(added).value == {"servers": {"ours": ENTRY}}
    assert added.startswith("\ufeff") == text.startswith("\ufeff") and added.count(
        "//"
    ) == text.count("//")


def test_a_value_is_replaced_in_its_place() -> None:
    text = '{\n  "servers": {\n    "ours": {"a": 1}, // mine\n    "b": 2\n  }\n}\n'
    assert with_member(text, ["servers", "ours", "a"], 5) == text.replace('"a": 1', '"a": 5')


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('{"a": 1, "x": 2, "b": 3}', '{"a": 1, "b": 3}'),
        ('{"x": 2, "b": 3}', '{"b": 3}'),
        ('{"a": 1, "x": 2}', '{"a": 1}'),
        ('{"a": 1, "x": 2,}', '{"a": 1,}'),
        ('{"x": 2}', "{}"),
        ('{ /* c */ "x": 2 }', "{ /* c */  }"),
        ('{\n  "x": 2,\n  "b": 3\n}', '{\n  "b": 3\n}'),
        (
            '{\n  "a": 1, // one\n  "x": 2 // two\n  // three\n}',
            '{\n  "a": 1 // one\n  // three\n}',
        ),
        ('{\r\n  "a": 1,\r\n  "x": 2\r\n}', '{\r\n  "a": 1\r\n}'),
        ('{\n  "a": 1, "x": 2,\n  "b": 3\n}', '{\n  "a": 1, "b": 3\n}'),
    ],
)
def test_a_member_is_taken_out_with_its_comma_and_its_lines(text: str, left: str) -> None:
    assert without_member(text, ["x"]) == left
    jsonc.parse(left)


def test_what_is_not_there_is_removed_without_a_trace() -> None:
    assert (
        without_member('{"a": 1 }', ["servers", "ours"]) == '{"a": 1 }'
        and without_member("", ["x"]) == ""
    )


@pytest.mark.parametrize(
    "text", ["[]", '{"servers": []}', '{"servers": 3, "a": 1}', '{"servers": {}']
)
def test_a_file_of_another_form_is_refused_and_never_overwritten(text: str) -> None:
    with pytest.raises(InvalidDocument):
        with_member(text, STEPS, ENTRY)


_TREES = st.recursive(
    st.none() | st.integers() | st.text(max_size=4),
    lambda inner: st.dictionaries(st.text(max_size=3), inner, max_size=4),
)


@given(
    _TREES.filter(lambda tree: isinstance(tree, dict)), st.sampled_from([None, 0, 1, 2, 4, "\t"])
)
def test_whatever_the_object_a_member_comes_and_goes(
    tree: JsonValue, indent: int | str | None
) -> None:
    text = json.dumps(tree, indent=indent, ensure_ascii=False)
    key = "a key that is not there"
    added = with_member(text, [key], ENTRY)
    assert jsonc.parse(added).value == {**tree, key: ENTRY}
    assert without_member(added, [key]) == text


@pytest.mark.parametrize(
    "case", ["claude-desktop-append", "claude-desktop-create", "zed-append", "zed-create"]
)
def test_anothers_recorded_edits_come_out_with_the_same_meaning(case: str, shared: Path) -> None:
    folder = shared / "corpus/configs/docker-mcp-gateway/add_del" / case
    original = next(folder.glob("original.*")).read_text(encoding="utf-8")
    after = json.loads((folder / "after-add.json").read_text(encoding="utf-8"))
    key = "context_servers" if case.startswith("zed") else "mcpServers"
    added = with_member(original, [key, "my-server"], after[key]["my-server"])
    assert jsonc.parse(added).value == after
    left = without_member(added, [key, "my-server"])
    assert jsonc.parse(left).value == json.loads(
        (folder / "after-del.json").read_text(encoding="utf-8")
    )
    assert original.count("//") == left.count("//")
