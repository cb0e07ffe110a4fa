from typing import Any

import pytest

from vespe.tools import fields
from vespe.tools.names import UID_PATTERN

UID = "tool-a"
LEAST: dict[str, Any] = {"uid": UID, "name": "a", "schema": {"input": {}}}

HOSTILE = [
    "",
    "tool-",
    "tool",
    "tool--a",
    "tool-_a",
    "tool-A",
    "tool-a/b",
    "tool-a\\b",
    "tool-../a",
    "../tool-a",
    "/tool-a",
    "tool-a\n",
    "tool-a\0",
    "tool-a ",
    " tool-a",
    "tool-a.",
    "tool-a.json",
    "tool-é",
    "tool-a\u202eb",
    "tool-a\u200b",
    "tool-１",
    "Tool-a",
    "tool_a",
    "tool-a:b",
    "tool-a*",
    "tool-$(id)",
    "tool-;id",
    "tool-a'b",
    'tool-a"b',
    "tool-a|b",
    "tool-%2e%2e",
    "tool-a%00",
    "tool-~",
    "tool-#",
    "tool-a@b",
    "tool-a=b",
    "con",
    "-tool-a",
    "tool-" + "a" * 60,
    "tool-" + "a" * 10_000,
]


def found(
    document: dict[str, Any], *, uid: str = UID, kit_id: str | None = None
) -> list[tuple[str, str]]:
    return [(one[0], one[1]) for one in fields.found_in_fields(document, uid=uid, kit_id=kit_id)]


@pytest.mark.parametrize("uid", HOSTILE, ids=range(len(HOSTILE)))
def test_p13_a_hostile_uid_is_refused_whatever_the_document_says(uid: str) -> None:
    assert len(HOSTILE) == 40
    assert not UID_PATTERN.fullmatch(uid)
    assert any("a uid is" in message for _, message in found({**LEAST, "uid": uid}, uid=uid))


@pytest.mark.parametrize(
    "uid", ["tool-a", "tool-0", "tool-uid_write_file", "tool-" + "f" * 32, "tool-" + "a" * 59]
)
def test_p13_a_readable_uid_and_a_long_one_are_taken(uid: str) -> None:
    assert found({**LEAST, "uid": uid}, uid=uid) == []


def test_a_tool_of_a_kit_may_leave_the_kit_out_but_not_name_another() -> None:
    assert found(LEAST, kit_id="files") == []
    assert found({**LEAST, "kit_id": None}, kit_id="files") == []
    assert found({**LEAST, "kit_id": "files"}, kit_id="files") == []
    assert found({**LEAST, "kit_id": "files"}) == []
    ((pointer, message),) = found({**LEAST, "kit_id": "other"}, kit_id="files")
    assert pointer == "/kit_id"
    assert '"files"' in message


def test_everything_wrong_is_told_at_once() -> None:
    pointers = [
        pointer
        for pointer, _ in found(
            {"uid": 1, "name": 2, "tags": 3, "limits": {"timeout_s": 0, "max_output_bytes": 0}}
        )
    ]
    assert pointers == [
        "/uid",
        "/name",
        "/tags",
        "/limits/timeout_s",
        "/limits/max_output_bytes",
        "",
    ]


@pytest.mark.parametrize("seconds", [float("inf"), float("nan"), -0.0, 86_401, 10**400])
def test_a_deadline_is_a_sane_number(seconds: float) -> None:
    assert [pointer for pointer, _ in found({**LEAST, "limits": {"timeout_s": seconds}})] == [
        "/limits/timeout_s"
    ]


def test_long_values_stay_short_in_what_is_told() -> None:
    ((_, message),) = found({**LEAST, "name": "x" * 100_000})
    assert len(message) < 250
