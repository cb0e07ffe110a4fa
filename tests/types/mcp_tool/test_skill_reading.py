"""The tool that reads skills: what it asks for, and what it gives a model."""

import hashlib
from typing import Any

import pytest

from vespe.errors import InvalidArguments, Refused
from vespe.types.mcp_tool import skill_reading

TEXT = "---\nname: a\ndescription: b\n---\n"


def pin(path: str, data: bytes) -> dict[str, Any]:
    digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
    return {"uri": f"skill://a/{path}", "digest": digest, "size": len(data)}


PINS: dict[str, Any] = {
    "a": {
        "uri": "skill://a/SKILL.md",
        "frontmatter": "",
        "files": {"SKILL.md": pin("SKILL.md", TEXT.encode()), "dot.png": pin("dot.png", b"\xff")},
    }
}


def test_a_file_is_asked_for_by_its_address_and_never_without_the_skill_itself() -> None:
    main = skill_reading.request_of(PINS, {"skill": "a", "file": "SKILL.md"}, tool="t")
    assert main == {"tool": "t", "uri": "skill://a/SKILL.md"}
    other = skill_reading.request_of(PINS, {"skill": "a", "file": "./dot.png"}, tool="t")
    assert other["uri"] == "skill://a/dot.png"
    assert other["main"]["uri"] == "skill://a/SKILL.md" and "frontmatter" in other["main"]


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({"skill": "a", "file": "../b/SKILL.md"}, "no file"),
        ({"skill": "b", "file": "SKILL.md"}, "no skill"),
    ],
)
def test_what_was_not_approved_is_not_asked_for(inputs: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidArguments, match=said):
        skill_reading.request_of(PINS, inputs, tool="t")


def test_a_model_is_told_whose_skill_it_reads_and_which_files_it_has() -> None:
    read = {"contents": [{"uri": "skill://a/SKILL.md", "text": TEXT}]}
    given = skill_reading.result_of(PINS, {"skill": "a"}, read, kit="sea")
    assert given == {
        "server": "sea",
        "skill": "a",
        "file": "SKILL.md",
        "text": TEXT,
        "files": ["dot.png"],
    }
    dot = {"contents": [{"uri": "skill://a/dot.png", "blob": "/w=="}]}
    given = skill_reading.result_of(PINS, {"skill": "a", "file": "dot.png"}, dot, kit="sea")
    assert given == {"server": "sea", "skill": "a", "file": "dot.png", "base64": "/w=="}


def test_other_bytes_are_refused_with_the_command_that_shows_them() -> None:
    read = {"contents": [{"uri": "skill://a/SKILL.md", "text": TEXT + "x"}]}
    with pytest.raises(Refused) as refused:
        skill_reading.result_of(PINS, {"skill": "a"}, read, kit="sea")
    assert "vespe kit add-mcp sea --update" in refused.value.hint
