"""From what was found to a finding with its place."""

from pathlib import Path

from vespe.features.lint import RULES
from vespe.features.lint.base import Found
from vespe.features.lint.sources import Ignores, Source, Told, placed

RULE = RULES["schema-root"]


def told(source: Source, found: Found) -> Told:
    return Told(RULE, found, "error", source, "x")


def test_a_part_is_a_pointer_and_a_pointer_is_a_line(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text('{\n "schema": {"input": {\n  "type": 1}}}', encoding="utf-8")
    [finding] = placed(
        [told(Source(path=str(file)), Found(message="m", part="input_schema", pointer="/type"))]
    )
    assert (finding.pointer, finding.line, finding.column, finding.tool) == (
        "/schema/input/type",
        3,
        11,
        "x",
    )


def test_a_part_that_is_not_there_is_the_whole() -> None:
    source = Source(path="p", text="[{}, {}]", pointers={"": "/1"})
    [finding] = placed([told(source, Found(message="m", part="description", pointer="/x"))])
    assert (finding.pointer, finding.column) == ("/1", 6)


def test_what_stands_in_another_file_has_that_files_path_and_line() -> None:
    [finding] = placed(
        [
            told(
                Source(path="a/tool-x/config.json"),
                Found(message="m", file="lib/main.py", line=7, column=2),
            )
        ]
    )
    assert (finding.path, finding.pointer, finding.line, finding.column) == (
        "a/tool-x/lib/main.py",
        "",
        7,
        2,
    )


def test_a_file_that_is_gone_is_told_at_its_beginning(tmp_path: Path) -> None:
    [finding] = placed([told(Source(path=str(tmp_path / "gone")), Found(message="m", part="name"))])
    assert (finding.pointer, finding.line, finding.column) == ("/name", 1, 1)


def test_an_ignore_remembers_what_it_was_needed_for() -> None:
    ignores = Ignores(Source(path="p"), {"a": "why", "b": "why"})
    assert (ignores.holds("a"), ignores.holds("c"), ignores.used) == (True, False, {"a"})
