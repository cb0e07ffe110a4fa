"""A kit as an MCP bundle."""

import io
import json
import zipfile
from pathlib import Path

from tests.features.packing.test_forms import shop_kit
from vespe.features.packing.bundle import bundle, manifest
from vespe.features.packing.forms import read_kit
from vespe.features.packing.server_json import server_json


def test_a_bundle_holds_the_manifest_and_the_kit_and_is_the_same_each_time(tmp_path: Path) -> None:
    kit = read_kit(str(shop_kit(tmp_path)))
    ((name, data),) = bundle(kit).items()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert {"manifest.json", "kits/shop_tools/kit_config.json"} <= set(archive.namelist())
        assert json.loads(archive.read("manifest.json")) == manifest(kit)
    assert name == "shop-tools.mcpb" and bundle(kit)[name] == data


def test_the_client_asks_for_each_secret_and_keeps_it(tmp_path: Path) -> None:
    document = manifest(read_kit(str(shop_kit(tmp_path))))
    assert document["user_config"]["shop_key"]["sensitive"] is True
    assert document["server"]["mcp_config"]["env"] == {"SHOP_KEY": "${user_config.shop_key}"}


def test_what_a_secret_is_for_stands_in_the_clients_question(tmp_path: Path) -> None:
    directory = shop_kit(tmp_path)
    place = directory / "kit_config.json"
    config = json.loads(place.read_text(encoding="utf-8"))
    item = {"name": "SHOP_KEY", "description": "it pays", "docs_url": "https://h.org/"}
    place.write_text(json.dumps(config | {"secrets": [item]}), encoding="utf-8")
    kit = read_kit(str(directory))
    assert manifest(kit)["user_config"]["shop_key"]["description"] == "it pays; https://h.org/"
    registered = json.loads(server_json(kit)["server.json"])
    (variable,) = registered["packages"][0]["environmentVariables"]
    assert variable["description"] == "it pays; https://h.org/"
