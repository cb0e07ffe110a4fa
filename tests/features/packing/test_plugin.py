"""A kit as a plugin of four clients."""

import json
from pathlib import Path

from tests.features.packing.test_forms import shop_kit
from vespe.features.packing.forms import read_kit
from vespe.features.packing.plugin import plugin


def test_each_client_finds_its_manifest_the_skill_and_the_server(tmp_path: Path) -> None:
    files = plugin(read_kit(str(shop_kit(tmp_path))))
    manifests = [
        json.loads(files[path])
        for path in files
        if path.endswith("plugin.json") or path == "gemini-extension.json"
    ]
    assert (
        len(manifests) == 4
        and {one["name"] for one in manifests} == {"shop-tools"}
        and {one["version"] for one in manifests} == {"1.0.0"}
    )
    assert "skills/shop-tools/SKILL.md" in files and "kits/shop_tools/kit_config.json" in files


def test_each_client_is_told_where_the_kit_is_and_what_the_secret_is_in_its_own_words(
    tmp_path: Path,
) -> None:
    files = plugin(read_kit(str(shop_kit(tmp_path))))
    assert json.loads(files[".cursor-plugin/plugin.json"])["mcpServers"] == "./mcp.json"
    assert json.loads(files[".codex-plugin/plugin.json"])["mcpServers"] == "./codex-mcp.json"
    for path, place, more in (
        (".mcp.json", "${CLAUDE_PLUGIN_ROOT}/", {"env": {"SHOP_KEY": "${SHOP_KEY}"}}),
        ("mcp.json", "${CURSOR_PLUGIN_ROOT}/", {"env": {"SHOP_KEY": "${env:SHOP_KEY}"}}),
        ("gemini-extension.json", "${extensionPath}/", {"env": {"SHOP_KEY": "${SHOP_KEY}"}}),
        ("codex-mcp.json", "", {"cwd": ".", "env_vars": ["SHOP_KEY"]}),
    ):
        entry = json.loads(files[path])["mcpServers"]["shop-tools"]
        # these two give their model structured content, as the table of clients says
        bounded = ["--results", "bounded"] if path in (".mcp.json", "codex-mcp.json") else []
        assert entry == {
            "command": "vespe",
            "args": ["mcp", "serve", "--kit-dir", f"{place}kits/shop_tools", *bounded],
            **more,
        }, path


def test_no_path_of_this_machine_and_no_value_of_a_secret_is_in_it(tmp_path: Path) -> None:
    files = plugin(read_kit(str(shop_kit(tmp_path))))
    assert not [path for path, data in files.items() if str(tmp_path).encode() in data]
