"""A kit that is served from its directory, as a plugin's client starts it."""

import json
from pathlib import Path

import pytest

from tests.features.packing.test_forms import shop_kit
from tests.support.ondisk import vespe
from tests.support.stdio_client import served
from vespe.errors import UsageError
from vespe.projects.kit_project import project_of_kit

KITS = Path(__file__).parents[2] / "kits"


@pytest.mark.usefixtures("home")
def test_a_packed_plugin_serves_its_kit_where_the_client_works(tmp_path: Path) -> None:
    packed = vespe(
        "kit",
        "pack",
        str(KITS / "file_io_without_git"),
        "--as",
        "plugin",
        "-o",
        "plugin",
        cwd=tmp_path,
    )
    assert packed.returncode == 0, packed.stderr
    entry = json.loads((tmp_path / "plugin/.mcp.json").read_text(encoding="utf-8"))["mcpServers"][
        "file-io-without-git"
    ]
    options = [
        word.replace("${CLAUDE_PLUGIN_ROOT}", str(tmp_path / "plugin"))
        for word in entry["args"][2:]
    ]
    work = tmp_path / "work"
    work.mkdir()
    (work / "note.txt").write_text("here", encoding="utf-8")
    with served(work, *options) as client:
        client.hello()
        assert client.call("read_file", path="note.txt")["content"][0]["text"] == "here"
        assert "write_file" in client.names()


@pytest.mark.usefixtures("home")
def test_a_kit_in_a_directory_of_another_name_is_told_what_to_call_it(tmp_path: Path) -> None:
    shop_kit(tmp_path).rename(tmp_path / "other")
    with pytest.raises(UsageError, match="is called other"):
        project_of_kit(str(tmp_path / "other"))
