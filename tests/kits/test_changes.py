"""What an update changes, tool by tool."""

import json
from pathlib import Path

import pytest

from tests.support.ondisk import python_tool, write_kit
from vespe.files import walk
from vespe.kits import changes, store
from vespe.kits.changes import KitChange


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    for side in ("old", "new"):
        python_tool(write_kit(tmp_path / side, "rain") / "tool-a", "now", "return 1")
    return tmp_path / "old/rain", tmp_path / "new/rain"


def compared(pair: tuple[Path, Path]) -> KitChange:
    old, new = ((str(side), walk.scan(str(side), visit=store.raw_digest).files) for side in pair)
    return changes.compare("rain", old=old, new=new)


def test_what_is_the_same_is_not_listed(pair: tuple[Path, Path]) -> None:
    change = compared(pair)
    assert (change.tools, change.files, dict(change.fields), change.verdict) == (
        (),
        (),
        {},
        "compatible",
    )


def test_a_script_is_shown_as_a_diff_and_its_verdict_is_unknown(pair: tuple[Path, Path]) -> None:
    (pair[1] / "tool-a/main.py").write_text("def now(**inputs):\n    return 2\n", encoding="utf-8")
    (tool,) = compared(pair).tools
    assert tool.verdict == "unknown" and tool.files == ("changed tool-a/main.py",)
    assert "-    return 1\n+    return 2" in tool.diffs[0]


@pytest.mark.parametrize("data", [b"\0binary", b"\xff", b"x" * 200_000])
def test_what_is_no_short_text_is_said_not_to_be_shown(
    data: bytes, pair: tuple[Path, Path]
) -> None:
    (pair[1] / "tool-a/data").write_bytes(data)
    (tool,) = compared(pair).tools
    assert tool.files == ("added tool-a/data",) and "tool-a/data is not shown" in tool.diffs[0]


def test_an_executable_bit_and_a_permission_are_changes(pair: tuple[Path, Path]) -> None:
    (pair[1] / "tool-a/main.py").chmod(0o755)
    config = pair[1] / "tool-a/config.json"
    config.write_text(
        json.dumps(
            json.loads(config.read_text(encoding="utf-8")) | {"permissions": {"write": ["/"]}}
        ),
        encoding="utf-8",
    )
    (tool,) = compared(pair).tools
    assert "mode of tool-a/main.py: may now be executed" in tool.files
    assert tool.to_json()["fields"] == {"permissions": {"old": None, "new": {"write": ["/"]}}}


def test_a_kit_that_allows_itself_more_says_so(pair: tuple[Path, Path]) -> None:
    config = pair[1] / "kit_config.json"
    config.write_text(
        json.dumps(
            json.loads(config.read_text(encoding="utf-8")) | {"allow_hosts": ["evil.example"]}
        ),
        encoding="utf-8",
    )
    change = compared(pair)
    assert dict(change.fields) == {"allow_hosts": (None, ["evil.example"])} and change.files == (
        "changed kit_config.json",
    )


@pytest.mark.parametrize("end", ["\u2028", "\x85", "\x0b", "\x0c", "\r"])
def test_p7_what_only_some_programs_take_for_a_line_s_end_is_a_change_that_is_shown(
    end: str, pair: tuple[Path, Path]
) -> None:
    for side, between in zip(pair, ("\n", end), strict=True):
        (side / "tool-a/main.py").write_bytes(
            f"def now():\n    # asked first{between}    check()\n".encode()
        )
    (tool,) = compared(pair).tools
    assert f"+    # asked first{end}    check()" in tool.diffs[0].split("\n")


def test_p7_a_field_that_no_table_knows_is_shown_too(pair: tuple[Path, Path]) -> None:
    for path in (pair[1] / "tool-a/config.json", pair[1] / "kit_config.json"):
        path.write_text(
            json.dumps(json.loads(path.read_text(encoding="utf-8")) | {"x-note": "new"}),
            encoding="utf-8",
        )
    change = compared(pair)
    assert change.fields["x-note"] == change.tools[0].fields["x-note"] == (None, "new")
