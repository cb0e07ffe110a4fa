"""Approvals and answers of 0.2: what they allow, and what revokes them."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.compatibility.world import World, edit, place_name, read, write
from vespe import Agent, AgentOptions, Answer, Project, Question, SimulatedProvider

CALC = ".vespe/tools/tool-calc/calc.py"


def add_byte(shop: Path) -> None:
    with (shop / CALC).open("a", encoding="utf-8") as file:
        file.write("#\n")


def add_file(shop: Path) -> None:
    write(shop / ".vespe/tools/tool-calc/more.py", "")


def make_executable(shop: Path) -> None:
    (shop / CALC).chmod(0o755)


def rename(shop: Path) -> None:
    (shop / ".vespe/tools/tool-price").rename(shop / ".vespe/tools/tool-cost")


def activate_another_kit(shop: Path) -> None:
    edit(
        shop / ".vespe/config.json", lambda config: config["active_kits"].append("git_and_programs")
    )


def look_elsewhere_first(shop: Path) -> None:
    edit(shop / ".vespe/config.json", lambda config: config["tool_resolution_order"].reverse())


def preset_another_value(shop: Path) -> None:
    edit(
        shop / ".vespe/config.json",
        lambda config: config["tools"]["calc"]["preset"].update(op="add"),
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (add_byte, "changed tools/tool-calc/calc.py"),
        (add_file, "added tools/tool-calc/more.py"),
        (make_executable, "tools/tool-calc/calc.py"),
        (rename, "tools/tool-price"),
        (activate_another_kit, "git_and_programs"),
        (look_elsewhere_first, "in another order"),
        (preset_another_value, "models see calc"),
    ],
)
def test_an_approval_of_bytes_is_revoked_by_what_was_not_shown(
    world: World, change: Callable[[Path], None], said: str
) -> None:
    change(world.shop)
    assert said in world.run("tool", "run", "note", "text=a", code=6).err
    assert not (world.shop / "notes.txt").exists()


def test_an_approval_of_bytes_holds_while_they_are_the_same(world: World) -> None:
    edit(world.shop / ".vespe/config.json", lambda config: config["active_kits"].remove("linked"))
    write(world.shop / "other.txt", "beside the tools\n")
    world.shop.rename(world.root / "moved")
    assert world.start("tool", "run", "calc", "a=6", "b=7", "op=mul", cwd="moved").out == "42\n"


def test_what_changed_since_then_is_shown_line_by_line(world: World) -> None:
    script = world.shop / CALC
    write(script, script.read_text(encoding="utf-8").replace("a + b", "a - b"))
    shown = world.run("trust", code=6).err
    assert (
        '-    return a + b if op == "add" else a * b' in shown
        and '+    return a - b if op == "add" else a * b' in shown
    )
    same = next(line for line in shown.splitlines() if "the same as you approved" in line)
    assert "note" in same and "calc" not in same


def test_the_same_bytes_in_another_place_are_asked_about(world: World) -> None:
    shutil.copytree(world.shop, world.root / "fork")
    world.run("tool", "run", "calc", "a=1", "b=2", cwd="fork", code=6)
    assert str(world.shop) in world.run("trust", cwd="fork", code=6).err
    world.run("trust", "--yes", cwd="fork")
    assert world.run("tool", "run", "calc", "a=1", "b=2", cwd="fork").out == "3\n"


def test_an_approval_of_bytes_grants_the_secrets_that_it_named_and_no_other(world: World) -> None:
    assert len(world.run("tool", "run", "signed", "text=x").out.strip()) == 8
    (record,) = (world.user("state") / "trust").glob("content-*.json")
    edit(record, lambda approval: approval.update(secrets=[]))
    record.chmod(0o600)
    assert "SHOP_KEY" in world.run("tool", "run", "signed", "text=x", code=6).err


def test_a_place_stays_trusted_whatever_changes_in_it_and_wherever_it_moves(world: World) -> None:
    script = world.add("studio").root / "studio/.vespe/tools/tool-hello/hello.py"
    write(script, script.read_text(encoding="utf-8") + "\n# changed\n")
    (world.root / "studio").rename(world.root / "atelier")
    assert world.json("tool", "run", "hello", "text=a b", cwd="atelier")["result"]["words"] == 2
    shutil.copytree(world.root / "atelier", world.root / "studio")
    world.run("tool", "run", "hello", "text=a b", cwd="studio", code=6)


def test_an_approval_of_one_tool_is_of_no_other(world: World) -> None:
    world.add("guest")
    assert world.json("tool", "run", "mine", "text=a b", cwd="guest")["result"]["words"] == 2
    assert "not trusted" in world.run("tool", "run", "theirs", "text=a b", cwd="guest", code=6).err


def test_records_that_others_could_have_written_grant_nothing(world: World) -> None:
    world.add("studio", "guest")
    for record in (world.user("state") / "trust").glob("*.json"):
        record.chmod(0o644)
    for name, tool in (("shop", "calc"), ("studio", "hello"), ("guest", "mine")):
        world.run(
            "tool", "run", tool, *(["a=1", "b=2"] if tool == "calc" else []), cwd=name, code=6
        )


@pytest.mark.parametrize(
    ("name", "gone"), [("shop", ["content", "texts"]), ("studio", ["place"]), ("guest", ["tool"])]
)
def test_untrust_takes_back_what_was_approved_then(
    world: World, name: str, gone: list[str]
) -> None:
    place = (
        world.add("studio", "guest").root
        / {"shop": "shop", "studio": "studio/.vespe", "guest": "guest/.vespe/tools/tool-mine"}[name]
    )
    mark = place_name(str(place))
    trust = world.user("state") / "trust"
    assert len([file for file in os.listdir(trust) if mark in file]) == len(gone)
    assert world.json("untrust", cwd=name)["revoked"] == 1
    assert [file for file in os.listdir(trust) if mark in file] == []


# ---- a person's answers on calls


def asked(world: World, *calls: tuple[str, dict[str, str]]) -> tuple[list[bool], list[str]]:
    """Let a model make calls while a person denies everything that they are asked.

    Return for each call whether it ran, and the names of the tools that the person was asked about.
    """
    questions: list[str] = []

    def deny(question: Question) -> Answer:
        questions.append(question.tool.name)
        return Answer(allowed=False)

    turns = [{"tool_calls": [{"name": name, "arguments": arguments}]} for name, arguments in calls]
    model = SimulatedProvider({"turns": [*turns, {"text": "Done."}]})
    agent = Agent(model, Project(str(world.shop)), options=AgentOptions(ask=deny))
    try:
        result = agent.run("Do it.")
    finally:
        agent.close()
    return [call.outcome.ok for call in result.calls], questions


def test_answers_for_the_project_are_listed(frozen: World) -> None:
    answers = frozen.json("agent", "answers")["answers"]
    assert [(answer["tool"], answer["allowed"], answer["rule"]) for answer in answers] == [
        ("project_tools/note", True, ""),
        ("project_tools/note", True, '["note",{"text":"*secret*"}]'),
        ("desk/desk_book", False, ""),
    ]


def test_answers_for_the_project_hold_without_asking_again(at_home: World) -> None:
    calls = (
        ("note", {"text": "plain"}),
        ("note", {"text": "a secret"}),
        ("desk_book", {"day": "Monday"}),
    )
    assert asked(at_home, *calls) == ([True, True, False], [])
    assert (at_home.shop / "notes.txt").read_text(encoding="utf-8").split("\n") == [
        "plain",
        "a secret",
        "",
    ]


def test_an_answer_that_allows_a_tool_holds_until_the_tool_changes(at_home: World) -> None:
    script = at_home.shop / ".vespe/tools/tool-note/note.py"
    write(script, script.read_text(encoding="utf-8") + "\n")
    at_home.run("trust", "--yes")
    assert asked(at_home, ("note", {"text": "plain"})) == ([False], ["note"])


def test_an_answer_is_forgotten(world: World) -> None:
    world.run("agent", "answers", "--forget", "desk_book")
    (kept,) = (world.user("state") / "answers").iterdir()
    assert {answer["tool"] for answer in read(kept)["answers"]} == {"project_tools/note"}
    world.run("agent", "answers", "--forget-all")
    assert world.json("agent", "answers")["answers"] == []
