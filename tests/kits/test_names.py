"""Names of files that are safe on every machine."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vespe.kits import names

SUBDIRECTORIES = json.loads(
    (Path(__file__).parents[1] / "cases/git/subdirectories.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("path", SUBDIRECTORIES, ids=lambda path: ascii(path)[:40])
def test_p9_odd_paths_are_unsafe(path: str) -> None:
    assert names.unsafe(path)


@pytest.mark.parametrize(
    "path",
    [
        "main.py",
        "tool-a/config.json",
        ".gitignore",
        ".github/workflows/kit.yml",
        "a b/é.txt",
        "console",
        "日本",
    ],
)
def test_plain_paths_are_safe(path: str) -> None:
    assert names.unsafe(path) is None


@pytest.mark.parametrize(
    "path",
    [
        "a\u00a0",
        "\u3000a",
        "a\ufe0f",
        "a\u034f",
        "a\u3164",
        "\u2800",
        "a\u200d",
        "a\U000e0041",
        "a\U000e0100",
    ],
)
def test_p9_what_the_eye_does_not_see_is_in_no_name(path: str) -> None:
    assert "invisible" in (names.unsafe(path) or "")


@pytest.mark.parametrize("path", ["aux .txt", "NUL  ", "clock$", "com1  .a.b", "lpt\u00b2 .x"])
def test_p9_a_device_is_one_before_blanks_too(path: str) -> None:
    assert names.unsafe(path)


@given(st.text(st.characters(exclude_categories=()), min_size=1))
def test_p9_no_safe_path_leads_out_or_moves_a_terminal(path: str) -> None:
    if names.unsafe(path) is None:
        assert (
            path.isprintable()
            and not path.startswith("/")
            and ".." not in path.split("/")
            and "\\" not in path
        )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("CaseA", "casea"),
        ("café", "café"),
        ("ﬁ", "fi"),
        ("STRASSE", "straße"),
        ("A/b", "a/B"),
        ("\u0131", "i"),
        ("\u017f", "s"),
    ],
)
def test_p9_names_that_some_file_system_takes_for_one_fold_alike(one: str, other: str) -> None:
    assert names.folded(one) == names.folded(other)
