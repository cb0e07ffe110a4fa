"""Names of files that are safe on every machine."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vespe import kit_names

SUBDIRECTORIES = json.loads((Path(__file__).parent / "cases/git/subdirectories.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", SUBDIRECTORIES, ids=lambda path: ascii(path)[:40])
def test_p9_odd_paths_are_unsafe(path: str) -> None:
    assert kit_names.unsafe(path)


@pytest.mark.parametrize(
    "path", ["main.py", "tool-a/config.json", ".gitignore", ".github/workflows/kit.yml", "a b/é.txt", "console", "日本"]
)
def test_plain_paths_are_safe(path: str) -> None:
    assert kit_names.unsafe(path) is None


@given(st.text(st.characters(exclude_categories=()), min_size=1))
def test_p9_no_safe_path_leads_out_or_moves_a_terminal(path: str) -> None:
    if kit_names.unsafe(path) is None:
        assert path.isprintable() and not path.startswith("/") and ".." not in path.split("/") and "\\" not in path


@pytest.mark.parametrize(("one", "other"), [("CaseA", "casea"), ("café", "café"), ("ﬁ", "fi"), ("STRASSE", "straße"), ("A/b", "a/B")])
def test_p9_names_that_some_file_system_takes_for_one_fold_alike(one: str, other: str) -> None:
    assert kit_names.folded(one) == kit_names.folded(other)
