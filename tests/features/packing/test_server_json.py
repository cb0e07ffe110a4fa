"""A kit as an entry of the MCP registry."""

import hashlib
import json
from pathlib import Path

import pytest

from tests.features.packing.test_forms import shop_kit
from vespe.errors import InvalidDocument
from vespe.features.packing.bundle import bundle
from vespe.features.packing.forms import read_kit
from vespe.features.packing.server_json import server_json


def test_an_entry_names_the_bundle_of_a_release_with_its_digest(tmp_path: Path) -> None:
    kit = read_kit(str(shop_kit(tmp_path)))
    document = json.loads(server_json(kit)["server.json"])
    (package,) = document["packages"]
    assert document["name"] == "io.github.acme/shop-tools" and len(document["description"]) <= 100
    assert (
        package["identifier"]
        == "https://github.com/acme/tools/releases/download/v1.0.0/shop-tools.mcpb"
    )
    assert package["fileSha256"] == hashlib.sha256(bundle(kit)["shop-tools.mcpb"]).hexdigest()
    assert package["environmentVariables"] == [
        {"name": "SHOP_KEY", "isRequired": True, "isSecret": True}
    ]


def test_a_kit_without_a_repository_is_told_what_it_lacks(tmp_path: Path) -> None:
    directory = shop_kit(tmp_path)
    text = (
        (directory / "kit_config.json")
        .read_text(encoding="utf-8")
        .replace("github.com/acme", "example.com/acme")
    )
    (directory / "kit_config.json").write_text(text, encoding="utf-8")
    with pytest.raises(InvalidDocument, match="homepage"):
        server_json(read_kit(str(directory)))
