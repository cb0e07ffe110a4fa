"""What an update changes, tool by tool."""

import json
from pathlib import Path

import pytest

from tests.ondisk import python_tool, write_kit
from vespe import file_walk, kit_changes, kit_store
from vespe.kit_changes import KitChange


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    for side in ("old", "new"):
        python_tool(write_kit(tmp_path / side, "rain") / "tool-a", "now", "return 1")
    return tmp_path / "old/rain", tmp_path / "new/rain"


def compared(pair: tuple[Path, Path]) -> KitChange:
    old, new = ((str(side), file_walk.scan(str(side), visit=kit_store.raw_digest).files) for side in pair)
    return kit_changes.compare("rain", old=old, new=new)


def test_what_is_the_same_is_not_listed(pair: tuple[Path, Path]) -> None:
    change = compared(pair)
    assert (change.tools, change.files, dict(change.fields), change.verdict) == ((), (), {}, "compatible")


def test_a_script_is_shown_as_a_diff_and_its_verdict_is_unknown(pair: tuple[Path, Path]) -> None:
    (pair[1] / "tool-a/main.py").write_text("def now(**inputs):\n    return 2\n", encoding="utf-8")
    (tool,) = compared(pair).tools
    assert tool.verdict == "unknown" and tool.files == ("changed tool-a/main.py",)
    assert "-    return 1\n+    return 2" in tool.diffs[0]


@pytest.mark.parametrize("data", [b"\0binary", b"\xff", b"x" * 200_000])
def test_what_is_no_short_text_is_named_without_a_diff(data: bytes, pair: tuple[Path, Path]) -> None:
    (pair[1] / "tool-a/data").write_bytes(data)
    (tool,) = compared(pair).tools
    assert tool.files == ("added tool-a/data",) and tool.diffs == ()


def test_an_executable_bit_and_a_permission_are_changes(pair: tuple[Path, Path]) -> None:
    (pair[1] / "tool-a/main.py").chmod(0o755)
    config = pair[1] / "tool-a/config.json"
    config.write_text(json.dumps(json.loads(config.read_text(encoding="utf-8")) | {"permissions": {"write": ["/"]}}), encoding="utf-8")
    (tool,) = compared(pair).tools
    assert "mode of tool-a/main.py: may now be executed" in tool.files
    assert tool.to_json()["fields"] == {"permissions": {"old": None, "new": {"write": ["/"]}}}


def test_a_kit_that_allows_itself_more_says_so(pair: tuple[Path, Path]) -> None:
    config = pair[1] / "kit_config.json"
    config.write_text(json.dumps(json.loads(config.read_text(encoding="utf-8")) | {"allow_hosts": ["evil.example"]}), encoding="utf-8")
    change = compared(pair)
    assert dict(change.fields) == {"allow_hosts": (None, ["evil.example"])} and change.files == ("changed kit_config.json",)
