"""What 0.2 kept to save time: it is used where it is true, and never believed where it is not."""

import json
import os
import time
import zlib
from typing import Any

from tests.compatibility.world import World, checksummed, edit, write


def shown(world: World) -> dict[str, tuple[str, str]]:
    """The state of each of the project's tools by its name, with its description."""
    tools = world.json("tool", "list", "--all", "--kit", "project_tools")["tools"]
    return {tool["name"]: (tool["status"], tool["description"]) for tool in tools}


def test_verdicts_that_another_version_kept_are_not_believed(world: World) -> None:
    kept = world.user("cache") / world.fill("scan/@SHA256_32-shop+.vespe+tools@.json")
    *about, rows = json.loads(kept.read_bytes().partition(b"\n")[2])
    assert about[:2] == [2, "0.2.0"] and about[3] == str(world.shop / ".vespe/tools")
    rows["tool-calc"][1:] = ["calc", "A lie.", "python_script", "it is broken", None]
    kept.write_bytes(
        checksummed(b"\n" + json.dumps([*about, rows], separators=(",", ":")).encode())
    )
    lied = shown(world)
    assert lied["calc"] == ("available", "Add or multiply two numbers.")
    kept.write_bytes(b"\x00 damaged")
    assert shown(world) == lied


def test_names_that_were_kept_lead_to_no_other_tool(world: World) -> None:
    world.many()
    kept = world.user("cache") / world.fill("names/@SHA256_32-many+.vespe+tools@")
    head, _, lines = kept.read_text(encoding="utf-8").partition("\n")
    tools = world.root / "many/.vespe/tools"
    lines = lines.replace("t7\ttool-t7\n", "t7\ttool-t8\n").replace("t9\ttool-t9\n", "")
    time.sleep(0.15)  # a stamp so young is not believed in any case
    status = os.stat(tools)
    stamp = [status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]
    made = [*json.loads(head)[:2], stamp, zlib.crc32(f"\n{lines}".encode())]
    write(kept, f"{json.dumps(made)}\n{lines}")
    for name in ("t7", "t9"):
        assert world.json("tool", "show", name, cwd="many")["uid"] == f"tool-{name}"
    edit(tools / "tool-t5/config.json", lambda tool: tool.update(name="renamed"))
    assert world.json("tool", "show", "renamed", cwd="many")["uid"] == "tool-t5"


def test_an_index_of_a_search_that_was_kept_finds_what_a_new_one_finds(world: World) -> None:
    world.add("home/cache/vespe/search")
    described = {20: "Sorting letters.", 700: "Mending fences."}
    tools = [
        {"name": f"tool_{number}", "description": described.get(number, "Counting things.")}
        for number in range(5001)
    ]
    queries = [
        {"query": query, "gold": [[f"tool_{number}"]]}
        for query, number in (("sort", 20), ("mended", 700))
    ]
    write(world.shop / "search.json", json.dumps({"queries": queries, "tools": tools}))

    def found() -> Any:
        return world.json("tool", "search", "--eval", "search.json")

    (kept,) = (world.user("cache") / "search").iterdir()
    by_the_kept_one = found()
    kept.write_bytes(b"SQLite format 3\x00 damaged")
    by_a_damaged_one = found()
    kept.unlink()
    assert by_the_kept_one == by_a_damaged_one == found() and by_the_kept_one["recall_at_1"] == 1


def test_what_another_start_of_a_machine_offered_is_not_believed_of_this_one(world: World) -> None:
    def level() -> str:
        return str(
            world.start("tool", "run", "calc", "a=1", "b=2", "--json").document["sandbox"]["level"]
        )

    kept = world.user("cache") / "sandbox"
    assert "landlock=0\nnamespaces=1\nfilter=1\n" in kept.read_text(encoding="utf-8")
    believed = level()
    kept.unlink()
    assert believed == level()


def test_the_key_of_compiled_code_stays_and_no_code_is_believed_that_it_did_not_sign(
    world: World,
) -> None:
    def distance() -> int:
        words = ("tool", "run", "edit_distance", "before=kitten", "after=sitting", "--json")
        return int(world.start(*words).document["result"]["distance"])

    key = world.user("state") / "wasm.key"
    before = key.read_bytes()
    assert (distance(), key.read_bytes()) == (3, before)
    compiled = list((world.user("cache") / "wasm").iterdir())
    for code in compiled:
        code.write_bytes(before + code.read_bytes()[32:])
    assert compiled and distance() == 3


def test_environments_of_scripts_are_listed_and_cleaned_away(world: World) -> None:
    (kept,) = world.json("cache", "list")["environments"]
    assert (kept["dependencies"], kept["python"]) == (["greeting"], "3.11.7")
    gone = world.json("cache", "clean", "--environments", "--yes")["environments"]
    assert [one["digest"] for one in gone] == [kept["digest"]]
    assert not (world.user("cache") / "envs" / kept["digest"]).exists()


def test_p48_a_cache_that_is_no_file_or_nests_without_end_is_made_anew(world: World) -> None:
    cache = world.user("cache")
    assert world.start("tool", "run", "calc", "a=1", "b=2", "--json").document["ok"] is True
    kept = [*(cache / "scan").iterdir(), cache / "sandbox", *cache.glob("repositories/*")]
    assert len(kept) > 1 and kept[-1].is_file()
    for damage in (lambda path: path.write_text("[" * 100_000, encoding="utf-8"), os.mkfifo):
        for path in kept:
            path.unlink(missing_ok=True)
            damage(path)
        done = world.start("tool", "run", "calc", "a=1", "b=2", "--json")
        assert done.document["ok"] is True
