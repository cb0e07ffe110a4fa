"""The skills of a server in a session with it: all pages are listed, and a file is read only of a
skill that is what it was.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.support import skill_server
from vespe.errors import Refused
from vespe.tools import mcp_skills
from vespe.types.mcp_tool import exchange, server_kits


def ask(place: Path, request: dict[str, Any], command: list[str]) -> Any:
    surroundings = exchange.Surroundings(
        directory=str(place), environment={"PATH": os.environ["PATH"]}, timeout_s=60
    )
    server = exchange.Server(command=tuple(command))
    return exchange.ask(server, request, surroundings, name="sea", kit="sea").document


def test_skills_are_listed_page_by_page_and_their_files_read_after_them(tmp_path: Path) -> None:
    command = skill_server.write(tmp_path / "skills.json")
    entries = ask(tmp_path, {}, command)["skills"]
    assert [one["uri"] for one in entries] == [skill_server.URI, "skill://x/SKILL.md"]
    found, _ = mcp_skills.of_entries(entries, tool="read_skill")
    pin = mcp_skills.pinned(found)["tides"]
    main = pin["files"]["SKILL.md"] | {"frontmatter": pin["frontmatter"]}
    request = {"tool": "resources/read", "uri": skill_server.MORE, "main": main}
    result = ask(tmp_path, request, command)["result"]
    assert mcp_skills.content_of(result, skill_server.MORE) == b"high at noon\n"
    skill_server.serve_as(tmp_path / "skills.json", skill_server.URI, "another")
    (tmp_path / "read").unlink()
    with pytest.raises(Refused, match=r"SKILL\.md is not what was approved"):
        ask(tmp_path, request, command)
    assert (tmp_path / "read").read_text(encoding="utf-8").split() == [skill_server.URI]


def test_a_server_without_skills_is_not_asked_for_them(tmp_path: Path) -> None:
    from tests.support.mcp_servers import ByHand

    server = ByHand(tmp_path / "server")
    assert ask(tmp_path, {}, list(server.command))["skills"] == []


def test_of_a_list_of_thousands_the_first_are_read_and_it_is_said_that_there_are_more(
    tmp_path: Path,
) -> None:
    place = tmp_path / "skills.json"
    command = skill_server.write(place)
    assert ask(tmp_path, {}, command)["has_more_skills"] is False
    said = json.loads(place.read_text(encoding="utf-8"))
    place.write_text(json.dumps({**said, "more": [{"uri": "x"}] * 3000}), encoding="utf-8")
    answer = ask(tmp_path, {}, command)
    assert len(answer["skills"]) == 1000 and answer["has_more_skills"] is True
    skills = server_kits.ask_server("sea", {"command": command}, timeout_s=None, root=str(tmp_path))
    assert "the server lists more skills; Vespe reads the first 1000" in skills.left_out
    assert len(skills.left_out) < 30
