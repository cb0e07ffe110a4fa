"""What is pinned of the skills of an MCP server, and what is taken for what was pinned."""

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from vespe.errors import Refused
from vespe.tools import mcp_skills

CASES: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "cases/mcp/skill_entries.json")
    .read_text(encoding="utf-8")
    .replace('"SHA"', f'"sha256:{"0" * 64}"')
)
TEXT = b"---\nname: tides\ndescription: Tides.\nversion: 1.0\nday: 2026-01-02\n---\n\nLook.\n"
HEAD = {"name": "tides", "description": "Tides.", "version": 1, "day": "2026-01-02"}


def entry(uri: str = "skill://tides/SKILL.md", data: bytes = TEXT, **more: Any) -> dict[str, Any]:
    """An entry of `skills/list` with one file."""
    digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
    files = [{"uri": uri, "digest": digest, "size": len(data)}]
    return {"uri": uri, "frontmatter": HEAD, "resources": files, **more}


def pins(*entries: Any) -> Any:
    return mcp_skills.pinned(mcp_skills.of_entries(entries, tool="read_skill")[0])


@pytest.mark.parametrize("name", CASES)
def test_an_entry_that_cannot_be_pinned_is_left_out_with_the_reason(name: str) -> None:
    found, left_out = mcp_skills.of_entries([CASES[name]["entry"]], tool="read_skill")
    if CASES[name]["problem"]:
        assert not found.skills and CASES[name]["problem"] in left_out[0]
    else:
        assert list(found.skills) == ["refunds"] and not left_out


def test_skills_of_one_name_are_told_apart_by_their_paths() -> None:
    entries = [entry("skill://north/tides/SKILL.md"), entry("skill://south/tides/SKILL.md")]
    found, _ = mcp_skills.of_entries(reversed(entries), tool="read_skill")
    assert list(found.skills) == ["north/tides", "south/tides"]
    again, left_out = mcp_skills.of_entries([*entries, entries[0]], tool="read_skill")
    assert again == found and "twice" in left_out[0]
    # Where only the scheme tells two apart, it is part of their names.
    other = entry("docs://north/tides/SKILL.md")
    found, left_out = mcp_skills.of_entries([*entries, other], tool="read_skill")
    assert list(found.skills) == ["docs://north/tides", "skill://north/tides", "south/tides"]
    assert not left_out and set(mcp_skills.pinned(found)) == set(found.skills)


def test_what_is_kept_and_locked_of_skills_can_be_read_again() -> None:
    found, _ = mcp_skills.of_entries([entry()], tool="read_skill")
    assert mcp_skills.from_json(json.loads(json.dumps(found.to_json()))) == found
    assert mcp_skills.is_pins(found.pins()) and found.pins()["tool"] == "read_skill"
    assert mcp_skills.from_json({}) == mcp_skills.NONE and mcp_skills.NONE.pins() == {}
    pinned = found.pins()
    described, _ = mcp_skills.of_entries(
        [entry(frontmatter={**HEAD, "description": "Other."})], tool="read_skill"
    )
    assert described.pins() != pinned and described.pins()["files"] == pinned["files"]
    uri = "skill://tides/SKILL.md"
    for wrong in (
        None,
        {"tool": "a b", "files": {}, "frontmatter": {}},
        {"tool": "a", "files": {}},
        {"tool": "a", "files": {"x": 1}, "frontmatter": {"x": "d"}},
        {**pinned, "frontmatter": {}},
        {**pinned, "frontmatter": {uri: 1}},
    ):
        assert not mcp_skills.is_pins(wrong)


def test_of_more_skills_than_a_kit_takes_the_rest_is_one_sentence() -> None:
    many = [entry(f"skill://n{n}/tides/SKILL.md") for n in range(mcp_skills.MAX_SKILLS + 300)]
    found, left_out = mcp_skills.of_entries([*many, *([{}] * 50)], tool="read_skill")
    assert len(found.skills) == mcp_skills.MAX_SKILLS and len(left_out) == 22
    assert left_out[20] == "30 more skills are left out"
    assert left_out[21].startswith("300 more skills are left out: a kit has at most 200 skills")


def test_skills_that_are_too_large_to_store_are_left_out_and_smaller_ones_are_not() -> None:
    large = {**HEAD, "more": "x" * 400_000}
    entries = [entry(frontmatter=large), entry("skill://b/tides/SKILL.md")]
    found, (left_out,) = mcp_skills.of_entries(entries, tool="read_skill")
    assert [one["uri"] for one in found.skills.values()] == ["skill://b/tides/SKILL.md"]
    assert left_out.startswith("1 more skill is left out") and "384 KiB" in left_out


@pytest.mark.parametrize("value", ["0x" + "f" * 6000, ".nan", "!!bool x", "59:" * 9000 + "1"])
def test_a_frontmatter_that_json_cannot_say_is_not_the_one_that_was_approved(value: str) -> None:
    data = TEXT.replace(b"1.0", value.encode())
    pin = pins(entry(data=data))["tides"]
    with pytest.raises(Refused, match="its frontmatter is not the one"):
        mcp_skills.check(data, pin["files"]["SKILL.md"], frontmatter=pin["frontmatter"])


def test_changes_name_what_is_new_gone_and_different() -> None:
    old, _ = mcp_skills.of_entries([entry(), entry("skill://a/tides/SKILL.md")], tool="r")
    other = {**HEAD, "description": "Other."}
    new, _ = mcp_skills.of_entries(
        [entry(data=b"x", frontmatter=other), entry("skill://b/tides/SKILL.md")], tool="r"
    )
    lines = "\n".join(mcp_skills.changes(old, new))
    assert "- skill skill://a/tides/SKILL.md: the server no longer has it" in lines
    assert "+ skill skill://b/tides/SKILL.md: Tides. (1 file)" in lines
    assert "skill://tides/SKILL.md: SKILL.md has other bytes" in lines
    assert '+ {"name":"tides","description":"Other."' in lines
    assert not list(mcp_skills.changes(old, old))


def test_bytes_that_were_pinned_are_given_and_no_others() -> None:
    pin = pins(entry())["tides"]
    file, head = pin["files"]["SKILL.md"], pin["frontmatter"]
    assert mcp_skills.check(TEXT, file, frontmatter=head) == TEXT
    for data, said in [
        (None, "does not give"),
        (TEXT + b" ", "bytes"),
        (TEXT.replace(b"Look", b"Hook"), "SHA-256"),
    ]:
        with pytest.raises(Refused, match=said) as refused:
            mcp_skills.check(data, file, frontmatter=head)
        assert "Hook" not in str(refused.value)


@pytest.mark.parametrize(
    "data", [TEXT.replace(b"Tides.", b"Money."), b"no head", b"---\n[\n---\n", b"\xff"]
)
def test_a_head_that_is_not_the_entrys_is_refused(data: bytes) -> None:
    pin = pins(entry(data=data))["tides"]
    with pytest.raises(Refused, match="frontmatter"):
        mcp_skills.check(data, pin["files"]["SKILL.md"], frontmatter=pin["frontmatter"])


def test_content_is_that_of_the_address_that_was_asked_for() -> None:
    blob = base64.b64encode(b"\xff").decode()
    result = {"contents": ["x", {"uri": "a", "text": "é"}, {"uri": "b", "blob": blob}]}
    assert mcp_skills.content_of(result, "a") == "é".encode()
    assert mcp_skills.content_of(result, "b") == b"\xff"
    assert mcp_skills.content_of(result, "c") is None
    assert mcp_skills.content_of({"contents": [{"uri": "a", "blob": "%"}]}, "a") is None


def test_the_reading_tool_names_the_skills_and_their_server() -> None:
    found, _ = mcp_skills.of_entries([entry()], tool="read_skill")
    said = mcp_skills.reader("sea", found)
    assert "`sea`" in said["description"] and "- tides: Tides." in said["description"]
    assert said["inputSchema"]["properties"]["skill"]["enum"] == ["tides"]
    assert mcp_skills.file_of(mcp_skills.pinned(found), "tides", "./SKILL.md")
    assert mcp_skills.file_of(mcp_skills.pinned(found), "tides", "../x") is None
    assert mcp_skills.file_of(mcp_skills.pinned(found), "no", "SKILL.md") is None
