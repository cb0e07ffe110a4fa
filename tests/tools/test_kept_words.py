"""The words of tools that are kept for search: they save time where they are surely right."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.ondisk import write_tool

# each search is a process of its own, as it is for users
SCRIPT = """
import json, os, sys
from vespe.tools import catalog, kept_rows, kept_words
directory, settings = sys.argv[1], json.loads(sys.argv[2])
forks, opened = [], []

def note(event, given):
    if event == "open" and str(given[0]).endswith("/config.json"):
        opened.append(given[0].split("/")[-2])

os.register_at_fork(after_in_parent=lambda: forks.append(1))
sys.addaudithook(note)
kept_words._processors = lambda: 2
kept_words._MANY = settings.get("many", 2_000)
kept_rows._SETTLED_NS = settings.get("settled_ns", 0)
if "helper" in settings:
    kept_words._answer = lambda *_: os._exit(settings["helper"])
rows = kept_words.words_in(directory, catalog.list_tools(directory)[0])
words = {uid: row.words.decode() for uid, row in rows.items()}
print(json.dumps([len(forks), opened, words]))
"""


class Searched(NamedTuple):
    forks: int
    opened: list[str]
    words: dict[str, str]


def search(tools: Path, **settings: int) -> Searched:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tools), json.dumps(settings)],
        stdout=subprocess.PIPE,
        check=True,
        encoding="utf-8",
    )
    return Searched(*json.loads(done.stdout))


@pytest.fixture
def tools(home: Path, tmp_path: Path) -> Path:
    for name in ("ant", "bee", "cat", "dog", "eel"):
        write_tool(tmp_path / f"tools/tool-{name}", name, description=f"Feed one {name}.")
    return tmp_path / "tools"


def kept(home: Path) -> Path:
    (path,) = (home / "cache/vespe/words").iterdir()
    return path


def rewrite(tool: Path, changes: Mapping[str, str]) -> None:
    """Change the text of a config.json in its place, and set its time back."""
    path = tool / "config.json"
    status, text = path.stat(), path.read_text(encoding="utf-8")
    for old, new in changes.items():
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def test_only_what_changed_is_read_again(tools: Path, home: Path) -> None:
    first = search(tools)
    assert sorted(first.words) == sorted(first.opened) and " feed " in first.words["tool-ant"]
    before = kept(home).stat().st_mtime_ns
    assert search(tools) == (0, [], first.words) and kept(home).stat().st_mtime_ns == before
    rewrite(tools / "tool-bee", {"Feed": "Wash"})
    again = search(tools)
    assert again.opened == ["tool-bee"] and " wash " in again.words["tool-bee"]
    (tools / "tool-cat/config.json").unlink()
    shutil.rmtree(tools / "tool-eel")
    write_tool(tools / "tool-fox", "fox")
    assert sorted(search(tools).words) == ["tool-ant", "tool-bee", "tool-dog", "tool-fox"]
    assert search(tools).opened == ["tool-cat"]  # it may have come back


def test_a_stamp_that_is_young_is_not_kept(tools: Path) -> None:
    settings = {"settled_ns": 3_000_000_000}
    first = search(tools, **settings)
    assert sorted(search(tools, **settings).opened) == sorted(first.words)


@pytest.mark.parametrize("damage", [b"", b"\n", b"not what was kept", b"0" * 64 + b"\n[]\n", None])
def test_what_is_kept_and_broken_or_cannot_be_written_costs_time_only(
    tools: Path, home: Path, damage: bytes | None
) -> None:
    first = search(tools)
    if damage is None:
        shutil.rmtree(kept(home).parent)
        (home / "cache/vespe/words").write_text("a file in the way", encoding="utf-8")
    else:
        kept(home).write_bytes(damage)
    assert search(tools) == first


def test_a_second_process_reads_half_of_very_many_files(tools: Path, home: Path) -> None:
    alone = search(tools)
    kept(home).unlink()
    together = search(tools, many=2)
    assert together.words == alone.words
    assert (alone.forks, together.forks) == (0, 1)
    assert len(together.opened) == 2 and search(tools, many=2) == (0, [], alone.words)


def test_what_the_second_process_does_not_answer_is_read_by_the_first(
    tools: Path, home: Path
) -> None:
    alone = search(tools)
    kept(home).unlink()
    for code in (0, 1):
        assert search(tools, many=2, helper=code, settled_ns=10**18).words == alone.words
