"""`vespe kit skill`: a server's skills are listed without it, and read only as they were
approved.
"""

import json
from pathlib import Path

import pytest

from tests.features.mcp.server.test_task_calls import ask
from tests.support import skill_server
from tests.support.ondisk import vespe
from tests.support.stdio_client import MODERN, served
from vespe.kits import lock as kit_lock
from vespe.kits import mcp_snapshots


@pytest.fixture
def place(project: Path, tmp_path: Path) -> Path:
    """A project with an active kit of a server that has a skill."""
    place = tmp_path / "skills.json"
    words = ["kit", "add-mcp", "sea", "--activate", "--yes", "--", *skill_server.write(place)]
    added = vespe(*words, cwd=project)
    assert added.returncode == 0, added.stderr
    assert "skill://tides/SKILL.md: Tell the tides. (2 files)" in added.stderr
    assert "skill://x/SKILL.md is left out" in added.stderr
    assert "read_skill reads its 1 skill" in added.stderr
    return place


def test_a_skill_is_pinned_read_when_it_is_loaded_and_refused_once_it_differs(
    place: Path, project: Path
) -> None:
    locked = json.loads(Path(kit_lock.project_lock(project)).read_text(encoding="utf-8"))
    pins = locked["mcp_servers"]["sea"]["skills"]
    assert pins["tool"] == "read_skill" and list(pins["files"]) == [skill_server.URI]
    assert not (project / "read").exists()
    listed = json.loads(vespe("kit", "skill", "sea", "--json", cwd=project).stdout)
    assert [(one["name"], one["files"]) for one in listed["skills"]] == [
        ("tides", ["SKILL.md", "references/TABLE.md"])
    ]
    assert not (project / "read").exists()
    read = vespe("kit", "skill", "sea", "tides", cwd=project)
    assert read.returncode == 0 and read.stdout == skill_server.TEXT, read.stderr
    more = vespe("kit", "skill", "sea", "tides", "references/TABLE.md", cwd=project)
    assert more.stdout == "high at noon\n"

    skill_server.serve_as(place, skill_server.URI, skill_server.TEXT.replace("See", "Pay"))
    refused = vespe("kit", "skill", "sea", "tides", cwd=project)
    assert refused.returncode == 6 and "Pay" not in refused.stdout + refused.stderr
    assert "is not what was approved, and nothing of it is shown" in refused.stderr
    assert "`vespe kit add-mcp sea --update`" in refused.stderr
    (project / "read").unlink()
    other = vespe("kit", "skill", "sea", "tides", "references/TABLE.md", cwd=project)
    assert other.returncode == 6 and "SKILL.md is not what was approved" in other.stderr
    seen = (project / "read").read_text(encoding="utf-8").split()
    assert seen == [skill_server.URI], "a file of a skill that differs was read"


def test_models_read_skills_by_a_tool_and_are_told_whose_they_are(
    place: Path, project: Path
) -> None:
    with served(project) as client:
        assert client.names() == ["read_skill", "tide"]
        call = {"name": "read_skill", "arguments": {"skill": "tides"}}
        said = ask(client, "tools/call", MODERN, **call)["structuredContent"]
        assert said["server"] == "sea" and said["text"] == skill_server.TEXT
        skill_server.serve_as(place, skill_server.URI, "other")
        answer = ask(client, "tools/call", MODERN, **call)
        assert answer["isError"] and "not what was approved" in json.dumps(answer)


def test_a_file_of_more_than_a_mebibyte_is_read_complete(project: Path, tmp_path: Path) -> None:
    place, text = tmp_path / "skills.json", "high at noon, ä\n" * 100_000
    server = skill_server.write(place)
    said = json.loads(place.read_text(encoding="utf-8"))
    said["listed"][skill_server.MORE] = text
    place.write_text(json.dumps(said), encoding="utf-8")
    assert (
        vespe("kit", "add-mcp", "sea", "--activate", "--yes", "--", *server, cwd=project).returncode
        == 0
    )
    words = ("kit", "skill", "sea", "tides", "references/TABLE.md")
    read = vespe(*words, cwd=project)
    assert (read.returncode, read.stdout == text) == (0, True), read.stderr
    # The kits that were made before have the limit of every tool: what is cut is said.
    [config] = Path(mcp_snapshots.directory()).glob("*/sea/*skills-of*/config.json")
    document = json.loads(config.read_text(encoding="utf-8"))
    assert document.pop("limits")["max_output_bytes"] > len(text.encode())
    config.write_text(json.dumps(document), encoding="utf-8")
    cut = vespe(*words, cwd=project)
    assert cut.returncode == 0 and "cut by vespe" in cut.stdout, cut.stderr
    assert "the whole output is in " in cut.stderr and "Traceback" not in cut.stderr


def test_a_server_s_own_tools_never_take_the_place_of_the_one_that_reads(
    project: Path, tmp_path: Path
) -> None:
    place = tmp_path / "skills.json"
    server = skill_server.write(place)
    said = json.loads(place.read_text(encoding="utf-8"))
    takes = {"skill": {"type": "string"}, "file": {"type": "string"}}
    schema = {"type": "object", "properties": takes}
    said["tools"] = [
        {"name": name, "description": "Mine.", "inputSchema": schema}
        for name in ("read_skill", "read_skill_sea")
    ]
    place.write_text(json.dumps(said), encoding="utf-8")
    added = vespe("kit", "add-mcp", "sea", "--activate", "--yes", "--", *server, cwd=project)
    assert "read_skill_sea_2 reads its 1 skill" in added.stderr, added.stderr
    read = vespe("kit", "skill", "sea", "tides", cwd=project)
    assert read.returncode == 0 and read.stdout == skill_server.TEXT, read.stderr
    # A kit that names one of the server's tools as the one that reads has none.
    [kept] = Path(mcp_snapshots.directory()).glob("*/sea/mcp_skills.json")
    kept.write_text(
        kept.read_text(encoding="utf-8").replace("read_skill_sea_2", "read_skill_sea"),
        encoding="utf-8",
    )
    forged = vespe("kit", "skill", "sea", "tides", cwd=project)
    assert forged.returncode == 3 and "forged" not in forged.stdout + forged.stderr


def test_an_update_of_an_active_kit_says_that_it_is_active(place: Path, project: Path) -> None:
    said = json.loads(place.read_text(encoding="utf-8"))
    said["listed"][skill_server.MORE] = "low at noon\n"
    place.write_text(json.dumps(said), encoding="utf-8")
    updated = vespe("kit", "add-mcp", "sea", "--update", "--yes", cwd=project)
    assert updated.returncode == 0 and "references/TABLE.md has other bytes" in updated.stderr
    assert "active: sea" in updated.stderr and "kit activate" not in updated.stderr


def test_what_is_not_there_is_named(place: Path, project: Path) -> None:
    for words, said in (
        (("sea", "no"), "`vespe kit skill sea` lists its skills"),
        (("sea", "tides", "../x"), "it has SKILL.md, references/TABLE.md"),
        (("nokit",), "nokit"),
    ):
        done = vespe("kit", "skill", *words, cwd=project)
        assert done.returncode in (3, 5) and said in done.stderr, done.stderr
