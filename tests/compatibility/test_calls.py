"""What calls of 0.2 left behind: the log, batches, long outputs, snapshots and exports."""

import json
from pathlib import Path

from tests.compatibility.world import World, edit, read, write

FAILED = ["invalid_arguments", "invalid_arguments", "tool_implementation_not_found"]


def lines(path: Path) -> dict[str, dict[str, object]]:
    """The lines of a batch's output, by their ids."""
    found = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert len({str(line["id"]) for line in found}) == len(found)
    return {str(line["id"]): line for line in found}


def test_the_log_goes_on_over_its_rotation_and_tells_what_became_of_each_call(world: World) -> None:
    calls = world.start("log", "-n", "1000", "--json").document["calls"]
    assert [call["outcome"] for call in calls if call["outcome"] != "ok"] == FAILED
    assert all("purpose" not in call and call["project"] == str(world.shop) for call in calls)
    shout = next(call for call in calls if call["tool"] == "shout")
    before = [call for call in calls if call["time"] < shout["time"]]
    assert shout["arguments"] == {"text": "after the rotation"} and len(before) > 10
    assert world.run("log", "show", shout["id"]).document == shout
    every = world.json("log", "-n", "1000", "--all")["calls"]
    assert {call["purpose"] for call in every if "purpose" in call} == {"test", "observe"}
    assert len(world.json("log", "--tool", "note", "-n", "1000")["calls"]) == len(
        [c for c in calls if c["tool"] == "note"]
    )


def test_new_calls_stand_behind_those_of_then_in_the_same_log(world: World) -> None:
    before = world.json("log", "-n", "1000")["calls"]
    world.run("tool", "run", "calc", "a=1", "b=2")
    after = world.json("log", "-n", "1000")["calls"]
    assert after[:-1] == before and after[-1]["tool"] == "calc"
    assert len(list((world.user("state") / "log").glob(world.fill("@SHA256-shop@*")))) == 2


def test_a_batch_that_was_killed_goes_on_and_makes_no_call_a_second_time(world: World) -> None:
    out = world.shop / "killed.out.jsonl"
    before = lines(out)
    # a line that was not written to its end
    write(out, out.read_text(encoding="utf-8") + '{"id":3,"ok":tr')
    words = ("batch", "note", "batch.in.jsonl", "-o", "killed.out.jsonl", "--jobs", "1", "--resume")
    world.start(*words, code=1)
    after = lines(out)
    assert {number: after[number] for number in before} == before and set(after) == {
        "1",
        "2",
        "3",
        "4",
    }
    assert after["3"]["error"]["code"] == "unknown_outcome" and after["4"]["ok"]  # type: ignore[index]  # a line is JSON
    assert (world.shop / "notes.txt").read_text(encoding="utf-8") == "four\n"
    assert not (world.shop / "killed.out.jsonl.begun").exists()


def test_a_batch_that_had_ended_has_nothing_left_to_do(world: World) -> None:
    before = (world.shop / "calc.out.jsonl").read_bytes()
    words = ("batch", "calc", "batch.csv", "--id", "name", "-o", "calc.out.jsonl")
    assert "1 failed before" in world.run(*words, "--resume", code=1).err
    assert (world.shop / "calc.out.jsonl").read_bytes() == before
    world.run(*words, code=6)


def test_outputs_that_were_kept_whole_are_there_until_fifty_newer_ones_are(world: World) -> None:
    world.add("studio")
    (kept,) = (world.user("state") / "outputs").iterdir()
    cut = lines(world.root / "studio/numbers.out.jsonl")["2"]
    assert cut["truncated"] is True and cut["output_file"] == str(kept)
    assert kept.read_text(encoding="utf-8").split() == [str(number) for number in range(1, 1001)]
    write(world.root / "studio/more.jsonl", '{"count": 1000}\n' * 50)
    world.run("batch", "numbers", "more.jsonl", "-o", "more.out.jsonl", cwd="studio")
    assert not kept.exists() and len(list(kept.parent.iterdir())) == 50


def test_a_snapshot_of_names_is_compared_with_what_they_mean_now(world: World) -> None:
    assert world.json("tool", "resolve", "--check", "tools.snapshot.json")["changes"] == []
    edit(world.shop / ".vespe/config.json", lambda config: config["tools"].pop("count_lines"))
    write(world.shop / ".vespe/tools/tool-shout/more.txt", "one file more\n")
    world.run("kit", "deactivate", "tides")
    changes = world.json("tool", "resolve", "--check", "tools.snapshot.json", code=1)["changes"]
    assert [change[:13].rstrip(":") for change in changes] == [
        "~ count_lines",
        "- example_of_",
        "~ shout: proj",
    ]


def test_an_export_is_what_the_same_tools_give_now(world: World) -> None:
    words = ("export", "--as", "openai", "calc", "shout", "-o", "tools.openai.json", "--check")
    world.run(*words)
    edit(
        world.shop / ".vespe/tools/tool-shout/config.json",
        lambda tool: tool.update(description="Other words."),
    )
    world.run(*words, code=1)
    exported = read(world.shop / "tools.openai.json")
    assert [tool["function"]["name"] for tool in exported] == ["calculate", "shout"]
