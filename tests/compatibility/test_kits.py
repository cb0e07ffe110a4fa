"""Kits of 0.2, from every source, are found, verified, synced, updated, packed and removed."""

import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.compatibility.world import FILES, World, edit, read, write
from vespe.testing import example_results

LOCKED = ("from_file", "in_folder", "tides", "weather")
ROOTS = {
    **dict.fromkeys(LOCKED, "lock"),
    "desk": "user",
    "linked": "link",
    "of_user": "user_lock",
    "own_kit": "user",
    "pets": "user",
}
PET = "kits/pets/tool-pets-getpet-9c820bbb9b/config.json"


def digests(world: World) -> dict[str, str]:
    """The digests that the project's lock names."""
    kits = read(world.shop / ".vespe/kits.lock.json")["kits"]
    return {kit_id: kit["digest"].removeprefix("v1:") for kit_id, kit in kits.items()}


def stored(world: World, kit_id: str) -> Path:
    """The directory of a kit of the project's lock in the store."""
    return world.user("data") / f"store/v1-{digests(world)[kit_id]}"


def test_every_kit_is_found_in_its_root(frozen: World) -> None:
    kits = {
        kit["kit_id"]: kit
        for kit in frozen.json("kit", "list")["kits"]
        if kit["root_kind"] != "shipped"
    }
    assert {kit_id: kit["root_kind"] for kit_id, kit in kits.items()} == ROOTS
    assert {kit_id for kit_id, kit in kits.items() if kit["problem"]} == set()
    assert {kit_id for kit_id, kit in kits.items() if not kit["active"]} == {"pets"}
    assert (
        kits["linked"]["path"] == str(frozen.root / "mine/linked")
        and kits["desk"]["version"] == "1.2"
    )


def test_every_byte_that_was_installed_is_verified(world: World) -> None:
    verified = world.json("kit", "verify")["kits"]
    assert {kit["kit_id"]: (kit["files"], kit["signer"] is not None) for kit in verified} == {
        kit_id: (7, kit_id in ("tides", "weather")) for kit_id in LOCKED
    }
    world.start("kit", "verify", "--user")
    script = stored(world, "tides") / "tides/tool-example_of_tides/example_of_tides.py"
    write(script, script.read_text(encoding="utf-8") + "\n")
    assert "example_of_tides.py" in world.run("kit", "verify", code=4).err
    assert (
        "example_of_tides.py" in world.run("tool", "run", "example_of_tides", "text=a", code=4).err
    )


def test_an_approval_of_a_kit_is_what_lets_its_tools_run(world: World) -> None:
    assert json.loads(world.run("tool", "run", "example_of_weather", "text=a b").out)["words"] == 2
    (world.user("state") / f"trust/kit-{digests(world)['weather']}.json").unlink()
    refused = world.run("tool", "run", "example_of_weather", "text=a b", code=6)
    assert "have not approved" in refused.err and "vespe kit sync" in refused.err


def test_a_machine_that_has_all_of_a_lock_has_nothing_to_sync(world: World) -> None:
    world.add("mine", "packed").sources()
    before = (world.shop / ".vespe/kits.lock.json").read_bytes()
    synced = world.json("kit", "sync", "--locked", "--yes")
    assert {kit["kit_id"]: kit["installed"] for kit in synced["kits"]} == dict.fromkeys(
        LOCKED, False
    )
    assert (synced["moved"], synced["mcp_servers"]) == ([], [{"kit_id": "desk", "made": False}])
    assert (world.shop / ".vespe/kits.lock.json").read_bytes() == before
    # The kit that 0.2 stored by its name is the same one, and no second kit that is in the way.
    (desk,) = [kit for kit in world.json("kit", "list")["kits"] if kit["kit_id"] == "desk"]
    assert "mcp_kits" in desk["path"] and desk["problem"] is None
    assert "hidden by" not in world.run("doctor").out


def test_a_machine_that_has_nothing_of_a_lock_gets_the_same_bytes(world: World) -> None:
    world.add("mine", "packed").sources()
    for place in ("tides", "weather", "from_file", "in_folder"):
        stored(world, place).chmod(0o755)
        shutil.rmtree(stored(world, place))
    for approval in (world.user("state") / "trust").glob("kit-*.json"):
        approval.unlink()
    shutil.rmtree(world.user("data") / "kits/desk")
    synced = world.json("kit", "sync", "--locked", "--yes")
    assert {kit["kit_id"]: kit["installed"] for kit in synced["kits"]} == dict.fromkeys(
        LOCKED, True
    )
    assert synced["mcp_servers"] == [{"kit_id": "desk", "made": True}]
    for kit_id, digest in digests(world).items():
        kept = FILES / f"home/data/vespe/store/v1-{digest}/{kit_id}"
        files = [file.relative_to(kept) for file in kept.rglob("*") if file.is_file()]
        assert files and all(
            (kept / file).read_bytes() == (stored(world, kit_id) / kit_id / file).read_bytes()
            for file in files
        )


def test_a_lock_leads_to_the_next_version_of_its_signer(world: World) -> None:
    world.sources()
    outdated = world.json("kit", "list", "--outdated")["kits"]
    assert {kit["kit_id"]: kit["newer"] for kit in outdated} == {
        "tides": "v1.1.0",
        "weather": "v1.1.0",
    }
    (change,) = world.json("kit", "update", "weather", "--to", "v1.1.0", "--dry-run")["kits"]
    locked = read(world.shop / ".vespe/kits.lock.json")["kits"]["weather"]
    assert (change["from"], change["signer"], change["changed"]) == (
        locked["commit"],
        locked["signer"],
        True,
    )
    assert [tool["verdict"] for tool in change["tools"]] == ["compatible"]


def test_a_signer_who_is_not_the_locked_one_is_refused(world: World) -> None:
    world.sources()
    edit(
        world.shop / ".vespe/kits.lock.json",
        lambda lock: lock["kits"]["weather"].update(signer="other@localhost SHA256:x"),
    )
    refused = world.run("kit", "update", "weather", "--to", "v1.1.0", "--dry-run", code=6)
    assert "--allow-signer-change" in refused.err


def test_a_kit_that_a_lock_of_then_needs_is_not_cleaned_away(world: World) -> None:
    used = {kit["kit_id"]: kit["used_by"] for kit in world.json("cache", "list")["kits"]}
    assert used == {
        **{kit_id: [str(world.shop)] for kit_id in LOCKED},
        "of_user": [str(world.user("data") / "kits.lock.json")],
    }
    assert world.json("cache", "clean", "--yes")["removed"] == []
    (world.user("data") / world.fill("locks/@SHA256_32-shop+.vespe+kits.lock.json@")).unlink()
    assert {kit["kit_id"] for kit in world.json("cache", "clean", "--dry-run")["removed"]} == set(
        LOCKED
    )


def test_the_kit_of_a_server_runs_what_was_approved_and_nothing_else(world: World) -> None:
    assert json.loads(world.run("tool", "run", "desk_book", "day=Monday").out) == {
        "booked": "Monday"
    }
    server = world.shop / "server.py"
    write(server, server.read_text(encoding="utf-8").replace("Book a desk.", "Book two desks."))
    refused = world.run("tool", "run", "desk_book", "day=Monday", code=6)
    assert "vespe kit add-mcp desk --update" in refused.err


def test_an_import_is_brought_up_to_date_and_keeps_what_its_author_added(world: World) -> None:
    kit = world.user("data") / "kits/pets"
    write(kit / "notes.md", "Mine.\n")
    edit(kit / "kit_config.json", lambda config: config.update(x_mine=1))
    edit(
        world.shop / "pets.json",
        lambda api: api["paths"]["/pets/{id}"]["get"].update(summary="Show a single pet."),
    )
    said = world.json("kit", "import", "pets.json", "--id", "pets", "--update", "--yes")
    assert [tool["uid"] for tool in said["tools"]] == ["tool-pets-getpet-9c820bbb9b"]
    assert read(world.user("data") / PET)["description"] == "Show a single pet."
    assert (kit / "notes.md").exists() and read(kit / "kit_config.json")["x_mine"] == 1


def test_an_update_takes_away_a_tool_that_its_source_no_longer_has(world: World) -> None:
    dogs = {"/dogs": {"get": {"operationId": "dogs", "responses": {}}}}
    edit(world.shop / "pets.json", lambda api: api.update(paths=dogs))
    world.run("kit", "import", "pets.json", "--id", "pets", "--update", "--yes")
    assert not (world.user("data") / PET).exists()


def test_a_link_leads_to_its_kit_and_is_taken_back(world: World) -> None:
    edit(
        world.root / "mine/linked/tool-example_of_linked/config.json",
        lambda tool: tool.update(description="Edited."),
    )
    assert world.json("tool", "show", "example_of_linked")["description"] == "Edited."
    world.run("kit", "unlink", "linked")
    assert "linked" not in {kit["kit_id"] for kit in world.json("kit", "list")["kits"]}


def test_kits_that_were_made_or_installed_are_removed_whole(world: World) -> None:
    gone = stored(world, "from_file")
    world.run("kit", "remove", "own_kit", "--yes")
    world.run("kit", "remove", "from_file", "--yes")
    assert not (world.user("data") / "kits/own_kit").exists() and not gone.exists()
    assert (
        "from_file" not in digests(world)
        and "own_kit" not in read(world.shop / ".vespe/config.json")["active_kits"]
    )


def test_a_packed_kit_installs_with_the_digest_that_it_had(world: World) -> None:
    world.add("packed", "studio")
    world.run("kit", "install", "../packed/from_file.kit", "--yes", cwd="studio")
    locked = read(world.root / "studio/.vespe/kits.lock.json")["kits"]["from_file"]
    assert locked["digest"].removeprefix("v1:") == digests(world)["from_file"]


def listed_by(world: World, entry: Any, place: Path, marker: str) -> list[str]:
    """Start the server of an entry, as its client would, and return the names of its tools."""
    assert entry["command"] == "vespe"
    words = [word.replace(marker, str(place)) if marker else word for word in entry["args"]]
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "c", "version": "1"},
    }
    messages: list[Any] = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
    ]
    asked = "".join(json.dumps(message) + "\n" for message in messages)
    answers = [
        json.loads(line)
        for line in world.start(*words, cwd=str(place), stdin=asked).out.splitlines()
    ]
    return [
        tool["name"]
        for answer in answers
        if answer.get("id") == 1
        for tool in answer["result"]["tools"]
    ]


def test_the_servers_that_packed_forms_name_still_start(world: World) -> None:
    world.add("packed")
    plugin, bundle = world.root / "packed/plugin", world.root / "bundle"
    zipfile.ZipFile(world.root / "packed/mcpb/linked.mcpb").extractall(bundle)
    markers = {".mcp.json": "${CLAUDE_PLUGIN_ROOT}", "codex-mcp.json": ""}
    for manifest, marker in markers.items():
        entry = read(plugin / manifest)["mcpServers"]["linked"]
        assert listed_by(world, entry, plugin, marker) == ["example_of_linked", "read_result"]
    entry = read(bundle / "manifest.json")["server"]["mcp_config"]
    assert listed_by(world, entry, bundle, "${__dirname}") == ["example_of_linked", "read_result"]


@pytest.mark.parametrize("form", ["skill", "plugin", "mcpb", "server-json"])
def test_a_kit_is_packed_over_what_was_packed_before(form: str, world: World) -> None:
    target = world.add("packed").root / "packed" / form
    left_over = write(target / "kits/linked/tool-gone/config.json", "{}")
    said = world.json(
        "kit", "pack", str(world.root / "mine/linked"), "--as", form, "-o", str(target)
    )
    assert left_over.exists() != ("kits/linked/tool-gone/config.json" in said["changed"])
    world.run(
        "kit", "pack", str(world.root / "mine/linked"), "--as", form, "-o", str(target), "--check"
    )


def test_a_server_json_of_then_is_read_and_says_what_it_names(world: World) -> None:
    world.add("packed")
    said = world.run(
        "kit",
        "add-mcp",
        "--from",
        str(world.root / "packed/server-json/server.json"),
        "--yes",
        code=1,
    )
    assert "linked" in said.err and "mcpb" in said.err


def test_a_kit_that_vespe_made_is_linted_and_tested_where_it_stands(at_home: World) -> None:
    kit = at_home.add("mine").root / "mine/in_folder"
    assert at_home.run("lint", str(kit), "--strict").code == 0
    (result,) = example_results(kit / "tool-example_of_in_folder")
    assert result.passed
