"""The settings of a user of 0.2 are in force, and changing one keeps the others."""

import json
from collections.abc import Callable
from pathlib import Path

from tests.compatibility.world import World, read, write
from tests.support.loopback import Exchange, Loopback

LEAVES = {
    "agent.provider": "local",
    "agent.tools_mode": "all",
    "approvals.allow": ["tides/*"],
    "files.may_write": ["Makefile"],
    "files.never_read": ["*.pem"],
    "providers.anthropic.api_key_env": "SHOP_ANTHROPIC_KEY",
    "providers.local.api": "openai",
    "providers.local.api_key": "********",
    "providers.local.headers.X-Team": "********",
    "providers.local.keep": ["reasoning_content"],
    "providers.local.model": "m1",
    "secrets.SHOP_KEY": "********",
}
OF_PROJECT = {
    "lint.severity.description-argument-missing": "error",
    "lint.targets": ["openai", "anthropic"],
    "tool_budget": 20000,
    "tool_resolution_order": ["project_tools", "desk", "active_kits"],
}


def test_every_setting_is_listed_with_the_file_that_said_it(frozen: World) -> None:
    listed = frozen.json("config", "list", "--origin")["settings"]
    found = {
        (setting["key"], Path(setting["origin"]).parent.name): setting["value"]
        for setting in listed
    }
    assert {key: found.get((key, "vespe")) for key in LEAVES} == LEAVES
    assert {key: found.get((key, ".vespe")) for key in OF_PROJECT} == OF_PROJECT
    assert found["allow_hosts", "vespe"] == [f"127.0.0.1:{frozen.port}"]
    assert found["approvals.deny", "vespe"] == ["own_kit/*"] and found[
        "approvals.deny", ".vespe"
    ] == ["new_name"]


def test_a_project_of_then_is_whole_so_that_init_adds_nothing(world: World) -> None:
    def files() -> dict[Path, bytes]:
        return {
            file: file.read_bytes() for file in (world.shop / ".vespe").rglob("*") if file.is_file()
        }

    before = files()
    world.run("init")
    assert files() == before


def test_a_secret_is_shown_to_whoever_asks_for_it_by_name_and_a_key_never(frozen: World) -> None:
    assert frozen.start("config", "get", "secrets.SHOP_KEY").out == "the key of the shop\n"
    assert "0123456789" not in frozen.run("config", "get", "providers.local").out


def test_a_setting_is_changed_and_the_others_stay_as_they_were(world: World) -> None:
    path = world.user("config") / "config.json"
    before = read(path)
    world.run("config", "set", "agent.model", "m9")
    assert read(path) == before | {"agent": before["agent"] | {"model": "m9"}} and list(
        read(path)
    ) == list(before)
    world.run("config", "set", "--unset", "agent.model")
    assert read(path) == before and path.stat().st_mode & 0o777 == 0o600


def test_the_endpoint_of_a_name_of_ones_own_gets_its_key_and_its_headers(
    world_of: Callable[..., World],
) -> None:
    heads: list[dict[str, str]] = []

    def answer(exchange: Exchange) -> bool:
        heads.append(exchange.headers)
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": "Hi."},
            "finish_reason": "stop",
        }
        return exchange.reply(
            json.dumps(
                {
                    "id": "c",
                    "object": "chat.completion",
                    "created": 1,
                    "model": "m1",
                    "choices": [choice],
                }
            ).encode()
        )

    with Loopback(answer) as server:
        world = world_of(port=server.port)
        assert world.run("agent", "run", "Hi", "--no-tools", "--no-stream").out == "Hi.\n"
    assert (heads[0]["authorization"], heads[0]["x-team"]) == ("Bearer sk-local-0123456789", "shop")


def test_rules_on_calls_of_the_user_and_the_project_are_obeyed(world: World) -> None:
    names = ("new_name", "example_of_own_kit", "example_of_tides", "example_of_weather")
    turns = [
        {"tool_calls": [{"name": name, "arguments": {"text": "a"}} for name in names]},
        {"text": "Done."},
    ]
    write(world.shop / "more.json", json.dumps({"turns": turns}))
    words = (
        "agent",
        "run",
        "Do it.",
        "--provider",
        "simulated",
        "--script",
        "more.json",
        "--approve",
        "read-only",
    )
    codes = [
        (call["outcome"].get("error") or {"code": "ok"})["code"]
        for call in world.json(*words)["calls"]
    ]
    # A denied tool is not shown to the model. What no rule allows needs an approval, and nobody can
    # be asked here.
    assert codes == ["tool_not_found", "tool_not_found", "ok", "denied"]


def test_file_tools_are_held_to_what_the_user_said_of_files(world: World) -> None:
    write(world.shop / "server.pem", "private\n")
    world.run("tool", "run", "read_file", "path=server.pem", code=5)
    world.run("tool", "run", "write_file", "path=Makefile", "content=all:", code=0)
    world.run("tool", "run", "write_file", "path=.git/hooks/pre-commit", "content=x", code=5)
    world.run("config", "set", "--unset", "files")
    world.run("tool", "run", "read_file", "path=server.pem", code=0)


def test_a_private_host_is_reached_because_the_user_allowed_it(
    world_of: Callable[..., World],
) -> None:
    with Loopback(lambda exchange: exchange.reply(b'"here"')) as server:
        world = world_of("home", "web", port=server.port)
        assert (
            world.run(
                "tool", "run", "page", "name=a", cwd="web", env={"WEB_KEY": "0123456789"}
            ).out.strip()
            == "here"
        )
        world.run("config", "set", "allow_hosts", "[]", cwd="web")
        assert (
            "allow_hosts"
            in world.run(
                "tool", "run", "page", "name=a", cwd="web", code=6, env={"WEB_KEY": "0123456789"}
            ).err
        )
