"""A kit as it is read for packing."""

from pathlib import Path

import pytest

from tests.support.ondisk import write_kit, write_tool
from vespe.errors import InvalidDocument, NotFound
from vespe.features.packing.forms import PackedKit, read_kit


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    return shop_kit(tmp_path)


def shop_kit(tmp_path: Path) -> Path:
    """Write a kit with two tools, one of which asks for a secret."""
    directory = write_kit(
        tmp_path, "shop_tools", homepage="https://github.com/acme/tools", license="MIT"
    )
    number = {
        "type": "object",
        "properties": {"id": {"type": "integer", "description": "Its number."}},
        "required": ["id"],
    }
    shell = {"type": "shell_command", "entrypoint": "true"}
    write_tool(
        directory / "tool-get",
        "get_item",
        implementation=shell,
        schema=number,
        annotations={"readOnlyHint": True},
    )
    write_tool(
        directory / "tool-buy",
        "buy_item",
        implementation=shell,
        schema=number,
        secrets=["SHOP_KEY"],
    )
    return directory


def test_a_kit_is_read_with_its_tools_files_and_secrets(kit: Path) -> None:
    read = read_kit(str(kit))
    assert isinstance(read, PackedKit)
    assert [tool.name for tool in read.tools] == ["buy_item", "get_item"] and read.secrets == (
        "SHOP_KEY",
    )
    assert (
        "tool-get/config.json" in read.files
        and read.dashed == "shop-tools"
        and read.version == "1.0.0"
    )


def test_what_is_no_kit_is_said(kit: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="is not a kit"):
        read_kit(str(tmp_path))
    (kit / "kit_config.json").write_text('{"kit_id": 3}', encoding="utf-8")
    with pytest.raises(InvalidDocument, match="kit_id"):
        read_kit(str(kit))
