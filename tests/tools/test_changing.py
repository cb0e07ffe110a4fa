"""Single keys of a tool's config.json."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import python_tool
from vespe.errors import NotFound, UsageError
from vespe.tools import changing


@pytest.fixture
def tool(tmp_path: Path) -> Path:
    python_tool(tmp_path / "tool-a", "a", "return 1")
    return tmp_path / "tool-a"


def changed(tool: Path, *pairs: str, unset: tuple[str, ...] = ()) -> Any:
    document = json.loads((tool / "config.json").read_text(encoding="utf-8"))
    return changing.change_document(document, pairs, unset, path=str(tool), kit=None)


def test_a_value_has_the_type_that_the_key_takes(tool: Path) -> None:
    after = changed(tool, "limits.timeout_s=30", "description=123", "version=1.0.0", 'tags=["a"]')
    assert (after["limits"], after["description"]) == ({"timeout_s": 30}, "123")
    assert (after["version"], after["tags"]) == ("1.0.0", ["a"])
    assert changed(tool, "schema.input.properties.x.type=integer")["schema"]["input"][
        "properties"
    ] == {"x": {"type": "integer"}}


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        ("limits.timeout_s=0", "above 0"),
        ("limits.timout_s=3", "no key 'timout_s'"),
        ("descripton=x", "no key 'descripton'"),
        ("name=b", "vespe tool rename"),
        ("uid=tool-b", "the name of the tool's directory"),
        ("schema.input={}", "must have"),
        ("description.x=1", "is not an object"),
        ("nothing", "is not KEY=VALUE"),
        ("=1", "is not KEY=VALUE"),
        ("a..b=1", "is not a key"),
        ("tags:=x", "is not JSON"),
    ],
)
def test_what_no_tool_can_have_is_refused(tool: Path, pair: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        changed(tool, pair)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("pair", "hint"),
    [
        ("read_only=true", "did you mean annotations.readOnlyHint?"),
        ("readonly=true", "did you mean annotations.readOnlyHint?"),
        ("timeout=3", "did you mean limits.timeout_s?"),
        ("colour=3", "a tool has $schema, annotations, "),
    ],
)
def test_a_key_that_is_inside_another_is_suggested_with_it(
    tool: Path, pair: str, hint: str
) -> None:
    with pytest.raises(UsageError) as caught:
        changed(tool, pair)
    assert caught.value.hint.startswith(hint)


def test_a_key_is_removed_with_what_it_leaves_empty(tool: Path) -> None:
    document = changed(tool, "limits.timeout_s=30", "limits.max_output_bytes=100")
    (tool / "config.json").write_text(json.dumps(document), encoding="utf-8")
    assert changed(tool, unset=("limits.timeout_s",))["limits"] == {"max_output_bytes": 100}
    assert "limits" not in changed(tool, unset=("limits.timeout_s", "limits.max_output_bytes"))
    with pytest.raises(NotFound, match=r"does not set limits\.worker"):
        changed(tool, unset=("limits.worker",))
    with pytest.raises(UsageError, match="cannot be removed"):
        changed(tool, unset=("schema.input",))


def test_what_was_wrong_before_can_be_put_right_one_by_one(tool: Path) -> None:
    document = json.loads((tool / "config.json").read_text(encoding="utf-8"))
    broken = {**document, "limits": {"timeout_s": -1}, "tags": 1}
    (tool / "config.json").write_text(json.dumps(broken), encoding="utf-8")
    assert changed(tool, "limits.timeout_s=5")["limits"] == {"timeout_s": 5}


def test_a_diff_shows_the_lines_that_changed(tool: Path) -> None:
    before = changed(tool)
    assert changing.diff_of(before, before) == ""
    lines = changing.diff_of(before, {**before, "version": "2"}).splitlines()
    assert lines[:2] == ["--- config.json", "+++ config.json (changed)"]
    assert '+  "version": "2"' in lines
