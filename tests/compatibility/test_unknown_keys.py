"""Keys that Vespe does not know are still in a file after a command has written it again."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.compatibility.world import World, edit, read, write

MARK = {"x_later": {"a": [1, "ü"]}}
CALC = "shop/.vespe/tools/tool-calc/config.json"
PROJECT = "shop/.vespe/config.json"
LOCK = "shop/.vespe/kits.lock.json"
USER = "home/config/vespe/config.json"


def marked(world: World, file: str, *places: str) -> Callable[..., list[str]]:
    """Put MARK into a JSON file at these JSON Pointers (`/` is the whole document).

    Return a function that lists where the mark is lost, in the file or where it was written now,
    and fails if nothing was written.
    """

    def at(document: Any, place: str) -> Any:
        for step in place.split("/")[1:]:
            document = (
                document[int(step) if isinstance(document, list) else step] if step else document
            )
        return document

    def put(document: Any) -> None:
        for place in places:
            at(document, place).update(MARK)

    path = world.root / file
    mode = path.stat().st_mode
    edit(path, put)
    path.chmod(mode)
    before = path.read_bytes()

    def lost(now: Path = path) -> list[str]:
        assert now.read_bytes() != before, f"{file} was not written"
        document = read(now)
        return [place for place in places if at(document, place).get("x_later") != MARK["x_later"]]

    return lost


def test_a_projects_configuration_keeps_them(world: World) -> None:
    for words in (
        ("kit", "deactivate", "linked"),
        ("kit", "activate", "git_and_programs"),
        ("tool", "expose", "note", "--search"),
        ("tool", "expose", "shout", "--reset", "--never"),
        ("kit", "remove", "own_kit", "--yes"),
    ):
        lost = marked(world, PROJECT, "/")
        world.run(*words)
        assert lost() == []
    assert read(world.root / PROJECT)["x_team"] == {"wrote": ["by hand"], "kept": True}


def test_a_tools_configuration_keeps_them(world: World) -> None:
    world.run("untrust")
    world.run("trust", "--develop", "--yes")
    places = (
        *("/", "/schema", "/implementation_details", "/limits", "/annotations", "/examples/0"),
        *("/schema/input", "/schema/input/properties/op"),
    )
    script = world.shop / ".vespe/tools/tool-calc/calc.py"

    def change_the_function() -> None:
        write(
            script,
            script.read_text(encoding="utf-8").replace('"add", "mul"', '"add", "mul", "sub"'),
        )

    def forget_an_output() -> None:
        edit(world.root / CALC, lambda tool: tool["examples"][0].pop("output"))

    for before, words in (
        (None, ("tool", "run", "calc", "a=2", "b=2", "--save-example")),
        (forget_an_output, ("tool", "test", "calc", "--update")),
        (change_the_function, ("tool", "sync", "calc")),
        (None, ("tool", "rename", "calc", "compute")),
    ):
        if before:
            before()
        lost = marked(world, CALC, *places)
        world.run(*words)
        assert lost() == [], words
    world.run("tool", "copy", "compute", "again")
    copied = read(world.shop / ".vespe/tools/tool-again/config.json")
    assert copied["x_later"] == copied["implementation_details"]["x_later"] == MARK["x_later"]


def test_locks_keep_them(world: World) -> None:
    world.add("mine", "packed").sources()
    for words in (
        ("kit", "remove", "from_file", "--yes"),
        ("kit", "update", "weather", "--to", "v1.1.0", "--yes"),
    ):
        lost = marked(world, LOCK, "/", "/kits/tides", "/mcp_servers/desk")
        world.run(*words)
        assert lost() == []
    lost = marked(world, "home/data/vespe/kits.lock.json", "/", "/kits/of_user")
    world.run("kit", "install", str(world.root / "mine/in_folder"), "--user", "--yes")
    assert lost() == []


def test_a_users_configuration_keeps_them(world: World) -> None:
    for words in (
        ("config", "set", "agent.model", "m9"),
        ("config", "set", "--unset", "agent.model"),
    ):
        lost = marked(world, USER, "/", "/providers/local", "/approvals", "/files")
        world.run(*words)
        assert lost() == []


def test_the_entry_of_a_client_keeps_them(world: World) -> None:
    lost = marked(world, "shop/.mcp.json", "/", "/mcpServers/vespe-shop", "/mcpServers/other")
    world.run("mcp", "config", "claude-code", "--write")
    assert lost() == []


def test_a_kit_that_was_imported_keeps_them(world: World) -> None:
    lost = marked(world, "home/data/vespe/kits/pets/kit_config.json", "/")
    edit(world.shop / "pets.json", lambda api: api["info"].update(version="2.0"))
    first = next((world.root / "home/data/vespe/kits/pets").glob("tool-*/config.json"))
    uid = first.parent.name
    of_tool = marked(
        world, f"home/data/vespe/kits/pets/{uid}/config.json", "/", "/implementation_details"
    )
    summary = read(first)["description"]
    text = (world.shop / "pets.json").read_text(encoding="utf-8")
    assert summary in text
    write(world.shop / "pets.json", text.replace(summary, f"{summary} Changed"))
    world.run("kit", "import", "pets.json", "--id", "pets", "--update", "--yes")
    assert lost() == of_tool() == []


def test_a_snapshot_keeps_them_and_they_make_no_difference(world: World) -> None:
    world.run("tool", "resolve", "--snapshot", "tools.json")
    lost = marked(world, "shop/tools.json", "/", "/tools/calculate")
    world.run("tool", "resolve", "--check", "tools.json")
    world.run("tool", "rename", "note", "noted")
    world.run("tool", "resolve", "--check", "tools.json", code=1)
    world.run("tool", "resolve", "--snapshot", "tools.json")
    assert lost() == []


def test_the_messages_of_a_conversation_keep_them(world: World) -> None:
    lost = marked(
        world, "shop/waiting.talk.json", "/messages/0", "/messages/1", "/messages/1/tool_calls/0"
    )
    world.run("agent", "calls", "waiting.talk.json", "deny", "call_3")
    assert lost() == []


def test_a_conversation_keeps_them(world: World) -> None:
    lost = marked(world, "shop/waiting.talk.json", "/", "/vespe", "/messages/0")
    world.run("agent", "calls", "waiting.talk.json", "deny", "call_3")
    assert lost() == []


def test_answers_on_calls_keep_them(world: World) -> None:
    lost = marked(
        world,
        f"home/state/vespe/answers/{world.fill('@PLACE-shop+.vespe@')}.json",
        "/",
        "/answers/0",
    )
    world.run("agent", "answers", "--forget", "desk_book")
    assert lost() == []


def test_the_kit_of_a_server_keeps_them(world: World) -> None:
    lost = marked(world, "home/data/vespe/kits/desk/kit_config.json", "/", "/mcp_server")
    book = next(
        path.parent.name
        for path in (world.root / "home/data/vespe/kits/desk").glob("tool-*/config.json")
        if read(path)["description"] == "Book a desk."
    )
    of_tool = marked(
        world, f"home/data/vespe/kits/desk/{book}/config.json", "/", "/implementation_details"
    )
    server = world.shop / "server.py"
    text = server.read_text(encoding="utf-8")
    write(server, text.replace("Book a desk.", "Book two desks.").replace('"1.2"', '"1.3"'))
    world.run("kit", "add-mcp", "desk", "--update", "--yes")
    (kit,) = (world.root / "home/data/vespe/mcp_kits").glob("*/desk")
    assert lost(kit / "kit_config.json") == of_tool(kit / book / "config.json") == []
