"""Sections of a changelog that others have written too."""

from vespe.features.releases import changelog
from vespe.kits.compared_versions import Comparison
from vespe.schemas.comparison.contracts import Change

CHANGES = (
    Change(
        part="input",
        verdict="breaking",
        message="`maxLength`\nis 3",
        example={"text": "aaaa"},
        has_example=True,
    ),
    Change(
        part="input",
        verdict="breaking",
        message='callers may send {"text": "b"}',
        example={"text": "b"},
        has_example=True,
    ),
    Change(part="command", verdict="unknown", message="runs another file"),
)
LINES = changelog.lines_of([Comparison(tool="say", uid="tool-say", changes=CHANGES)])


def test_each_change_is_a_line_with_the_value_that_shows_it() -> None:
    assert LINES == [
        '- **Breaking:** `say` `maxLength` is 3, such as `{"text":"aaaa"}`',
        '- **Breaking:** `say` callers may send {"text": "b"}',
        "- `say` runs another file",
    ]


def test_a_first_section_makes_the_file() -> None:
    made = changelog.with_section("", "0.1.0", "2026-11-27", ["- `say` is new"])
    assert made == "# Changelog\n\n## 0.1.0 (2026-11-27)\n\n- `say` is new\n"
    assert changelog.has_section(made, "0.1.0") and not changelog.has_section(made, "0.1.0.1")
    assert "No tool changed.\n" in changelog.with_section("", "0.1.1", "2026-11-27", [])


def test_a_section_stands_before_the_others_whose_bytes_stay() -> None:
    rest = "## 0.1.0\n\n* mine  \n\n\n[link]: x\n"
    made = changelog.with_section(f"# Log\n\nWords.\n\n{rest}", "0.2.0", "2026-11-27", ["- a"])
    assert made == f"# Log\n\nWords.\n\n## 0.2.0 (2026-11-27)\n\n- a\n\n{rest}"


def test_what_was_written_as_unreleased_comes_into_the_section_and_the_heading_stays() -> None:
    before = "# Log\n\n## [Unreleased]\n\n- by hand\n\n## 0.1.0\n\n- x\n"
    made = changelog.with_section(before, "0.2.0", "2026-11-27", ["- a"])
    assert made == (
        "# Log\n\n## [Unreleased]\n\n## 0.2.0 (2026-11-27)\n\n- by hand\n- a\n\n## 0.1.0\n\n- x\n"
    )
    again = changelog.with_section(made, "0.3.0", "2026-11-28", ["- b"])
    assert again.startswith("# Log\n\n## [Unreleased]\n\n## 0.3.0 (2026-11-28)\n\n- b\n\n## 0.2.0")


def test_line_ends_stay_as_they_are() -> None:
    made = changelog.with_section("# Log\r\n\r\n## 0.1.0\r\n", "0.2.0", "2026-11-27", ["- a"])
    assert "\n" not in made.replace("\r\n", "")
