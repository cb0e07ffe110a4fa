"""Kits that bring their skills: served with their tools, and gone with one of them."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from tests.features.mcp.server.test_task_calls import ask
from tests.support.ondisk import python_tool, vespe, write_kit
from tests.support.stdio_client import MODERN, LineClient, served
from vespe.features.mcp.server import skills
from vespe.files.locations import user_data_dir

URI = "skill://tides/SKILL.md"


@pytest.fixture
def tides(project: Path) -> Path:
    """An active kit of two tools."""
    kit = write_kit(Path(user_data_dir(), "kits"), "tides", description="Tides of the sea.")
    for name in ("high", "low"):
        python_tool(kit / f"tool-{name}", name, "return 1", kit_id="tides")
    assert vespe("kit", "activate", "tides", cwd=project).returncode == 0
    assert vespe("trust", "--yes", cwd=project).returncode == 0
    return kit


def listed(client: LineClient) -> list[Any]:
    found: list[Any] = ask(client, "skills/list", MODERN)["skills"]
    return found


def test_a_kit_serves_what_kit_pack_writes(tides: Path, project: Path, tmp_path: Path) -> None:
    with served(project) as client:
        extensions = ask(client, "server/discover", MODERN)["capabilities"]["extensions"]
        assert extensions["io.modelcontextprotocol/skills"] == {}
        (entry,) = listed(client)
        (content,) = ask(client, "resources/read", MODERN, uri=URI)["contents"]
        assert ask(client, "skills/get", MODERN, uri=URI)["skill"] == entry
        unknown = ask(client, "skills/get", MODERN, uri="skill://no/SKILL.md")
        assert unknown["code"] == -32602
    packed = vespe(
        "kit", "pack", "tides", "--as", "skill", "-o", str(tmp_path / "out"), cwd=project
    )
    assert packed.returncode == 0, packed.stderr
    data = (tmp_path / "out/tides/SKILL.md").read_bytes()
    assert content["text"].encode() == data and content["mimeType"] == "text/markdown"
    assert entry["uri"] == URI and entry["frontmatter"]["name"] == "tides"
    digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
    assert entry["resources"] == [{"uri": URI, "digest": digest, "size": len(data)}]


def test_a_skill_is_gone_with_one_of_its_tools(tides: Path, project: Path) -> None:
    with served(project, "--tool", "high") as client:
        assert client.names() == ["high"] and listed(client) == []
        assert ask(client, "resources/read", MODERN, uri=URI)["code"] == -32602
    with served(project) as client:
        assert len(listed(client)) == 1
        python_tool(project / ".vespe/tools/tool-low", "low", "return 2")
        assert listed(client) == []


def test_a_skill_names_its_tools_as_this_project_does(tides: Path, project: Path) -> None:
    config = project / ".vespe/config.json"
    text = config.read_text(encoding="utf-8")
    renamed = text.rstrip().removesuffix("}") + ', "tools": {"tides/low": {"as": "ebb"}}}'
    config.write_text(renamed, encoding="utf-8")
    assert vespe("trust", "--yes", cwd=project).returncode == 0
    with served(project) as client:
        names = client.names()
        text = ask(client, "resources/read", MODERN, uri=URI)["contents"][0]["text"]
    assert "ebb" in names and "## ebb" in text and "## low" not in text


def test_tools_of_no_kit_have_no_skill() -> None:
    assert list(skills.skills_of([])) == [] and skills.page([], None)["skills"] == []
