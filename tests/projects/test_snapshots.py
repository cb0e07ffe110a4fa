"""Snapshots: which tool each name means, and a readable difference."""

from pathlib import Path
from typing import Any

import pytest

from vespe.errors import InvalidDocument
from vespe.models import Entry, Row
from vespe.projects.snapshots import add_broken, diff_snapshots, read_snapshot, snapshot


def row(name: str | None, status: str = "available", scope: str = "a") -> Row:
    uid = f"tool-{scope}-{name}"
    entry = Entry(
        uid=uid,
        name=name,
        scope=scope,
        kit_id=None,
        type=None,
        description=None,
        path=f"/{scope}/{uid}",
    )
    return Row(entry=entry, status=status)


def fact(uid: str = "tool-1", scope: str = "a", digest: str = "v1:1") -> dict[str, Any]:
    return {"uid": uid, "scope": scope, "digest": digest}


def test_a_snapshot_maps_each_available_name_to_one_tool() -> None:
    asked: list[str] = []
    taken = snapshot(
        [
            row("two"),
            row("one", "shadowed", "b"),
            row("one"),
            row("x", "broken"),
            row(None, "broken"),
            row("y", "inactive"),
        ],
        lambda entry: asked.append(entry.path) or "d",  # type: ignore[func-returns-value]  # append gives None
    )
    assert list(taken.items()) == [
        ("one", {"uid": "tool-a-one", "scope": "a", "digest": "d"}),
        ("two", {"uid": "tool-a-two", "scope": "a", "digest": "d"}),
    ]
    assert asked == ["/a/tool-a-one", "/a/tool-a-two"]


def test_the_same_snapshot_has_no_difference() -> None:
    assert diff_snapshots({"one": fact()}, {"one": fact()}) == []


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ({}, {"n": fact()}, "+ n: a/tool-1"),
        ({"n": fact()}, {}, "- n: was a/tool-1"),
        ({"n": fact()}, {"n": fact(scope="b")}, "~ n: was a/tool-1, is now b/tool-1"),
        ({"n": fact()}, {"n": fact("tool-2")}, "~ n: was a/tool-1, is now a/tool-2"),
        (
            {"n": fact()},
            {"n": fact(digest="v1:2")},
            "~ n: a/tool-1 has changed: v1:1 before, v1:2 now",
        ),
        ({"n": "garbage"}, {"n": fact()}, "~ n: was unknown, is now a/tool-1"),
        ({"n": "garbage"}, {"n": "other"}, "~ n: unknown has changed: none before, none now"),
    ],
)
def test_each_difference_is_a_line(old: dict[str, Any], new: dict[str, Any], line: str) -> None:
    assert diff_snapshots(old, new) == [line]


def test_differences_come_by_name() -> None:
    assert [
        line[2] for line in diff_snapshots({"b": fact(), "d": fact()}, {"a": fact(), "c": fact()})
    ] == ["a", "b", "c", "d"]


def test_a_name_that_means_no_tool_is_kept_with_every_broken_tool_of_it() -> None:
    names = {"two": fact()}
    broken = add_broken(
        names, [row("x", "broken"), row("x", "broken", "b"), row("y"), row(None, "broken")]
    )
    assert [entry.uid for entry in broken] == ["tool-a-x", "tool-b-x"]
    assert names["x"] == {
        "uid": "tool-a-x, tool-b-x",
        "scope": "a",
        "digest": None,
        "status": "broken",
    }


def test_a_file_that_is_no_snapshot_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"tools": {"one": {}}}', encoding="utf-8")
    assert read_snapshot(str(tmp_path / "a.json")) == {"one": {}}
    (tmp_path / "b.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InvalidDocument, match="is not a snapshot"):
        read_snapshot(str(tmp_path / "b.json"))
