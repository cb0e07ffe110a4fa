"""Each tool's description.md as a resource."""

from pathlib import Path

import pytest

from tests.support.ondisk import write_tool
from vespe.features.mcp.server import resources
from vespe.features.mcp.server.messages import ProtocolError
from vespe.tools import directory as tool_directory

URI = "vespe://tools/echo/description.md"


def test_a_description_is_listed_and_read(tmp_path: Path) -> None:
    tool = tool_directory.load(
        write_tool(
            tmp_path / "tool-echo", implementation={"type": "shell_command", "entrypoint": "true"}
        )
    )
    entry = resources.resource_of(tool)
    assert entry is not None and entry["uri"] == URI
    assert resources.contents(URI, {"echo": tool})["contents"][0]["text"].startswith("# echo")


def test_a_tool_without_one_has_no_resource_and_a_link_is_not_followed(tmp_path: Path) -> None:
    directory = write_tool(
        tmp_path / "tool-echo", implementation={"type": "shell_command", "entrypoint": "true"}
    )
    tool = tool_directory.load(directory)
    (directory / "description.md").unlink()
    assert resources.resource_of(tool) is None
    (directory / "description.md").symlink_to("/etc/passwd")
    with pytest.raises(ProtocolError, match="symbolic link"):
        resources.contents(URI, {"echo": tool})


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "file:///etc/passwd",
        "vespe://tools/none/description.md",
        "vespe://tools/echo/config.json",
    ],
)
def test_what_is_no_resource_is_refused(uri: str, tmp_path: Path) -> None:
    with pytest.raises(ProtocolError):
        resources.contents(uri, {})
