"""A server's definitions as a kit on disk."""

import json
import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.support.mcp_servers import definition
from vespe.errors import InvalidDocument, UsageError
from vespe.kits import create, mcp_kits, mcp_snapshots, roots
from vespe.tools import directory, effects, mcp_definitions, mcp_skills

SERVER = {"command": ["serve", "it"], "secrets": ["TOKEN"], "timeout_s": 5}


def drafted(*definitions: dict[str, Any]) -> mcp_kits.KitDraft:
    return mcp_kits.draft("things", SERVER, definitions, about={"name": "Things", "version": "2"})


def test_each_definition_becomes_a_tool_that_loads_and_pins_it(home: Path) -> None:
    path = mcp_kits.write(
        drafted(definition(title="Echo", annotations={"readOnlyHint": True}), definition("other"))
    )
    kit = roots.find_kit("things")
    assert (kit.path, kit.tools, kit.version, kit.problem) == (path, 2, "2", None)
    tool = next(
        t
        for t in (
            directory.load(f"{path}/{uid}", kit_id="things") for uid in drafted(definition()).tools
        )
        if t.name == "echo"
    )
    assert (
        tool.annotations == {"readOnlyHint": True, "title": "Echo"}
        and tool.secrets == ("TOKEN",)
        and tool.timeout_s == 5
    )
    assert tool.implementation is not None and tool.implementation.args["command"] == [
        "serve",
        "it",
    ]


@pytest.mark.parametrize(
    ("words", "written"),
    [
        (["npx", "-y", "some-server"], {"write": [".", "~/.npm/"]}),
        (["env", "A=/x/npx", "/usr/bin/uvx", "some-server"], {"write": [".", "~/.cache/uv/"]}),
        (["python3", "npx"], {}),
        (["env"], {}),
    ],
)
def test_a_launcher_may_write_where_it_keeps_what_it_fetches(
    words: list[str], written: dict[str, Any]
) -> None:
    assert (
        mcp_kits.permissions_of({"command": words}) == written
        and mcp_kits.permissions_of({"url": "https://a.example"}) == {}
    )


def test_what_was_written_is_known_again(home: Path) -> None:
    made = drafted(definition(outputSchema={"type": "object"}))
    mcp_kits.write(made)
    assert mcp_kits.known_server("things") == (
        SERVER,
        dict(made.definitions),
    )
    assert mcp_kits.known_server("things")[1]["echo"] == mcp_definitions.pin(
        definition(outputSchema={"type": "object"})
    )


@pytest.mark.parametrize(
    "odd",
    [
        definition("bad schema", inputSchema={"type": "nope"}),
        definition(
            "remote",
            inputSchema={"type": "object", "properties": {"x": {"$ref": "https://example.com/s"}}},
        ),
        definition("none", inputSchema=None),
        definition("echo!"),
        definition("echo", description="${env:HOME}"),
    ],
    ids=[
        "schema",
        "remote reference",
        "no schema",
        "the same name here",
        "a secret in the description",
    ],
)
def test_a_tool_that_could_not_run_here_is_left_out_with_the_reason(odd: dict[str, Any]) -> None:
    made = drafted(definition("echo_"), odd)
    assert [tool["name"] for tool in made.tools.values()] == ["echo_"]
    assert len(made.left_out) == 1 and "is left out:" in made.left_out[0]


@pytest.mark.parametrize(
    "output",
    [
        {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(1100)}},
        {"type": "nope"},
    ],
    ids=["too many subschemas", "no schema"],
)
def test_an_output_schema_that_vespe_cannot_judge_goes_alone(output: dict[str, Any]) -> None:
    made = drafted(definition("large", outputSchema=output), definition("small"))
    assert [tool["name"] for tool in made.tools.values()] == ["large", "small"]
    assert "output" not in next(iter(made.tools.values()))["schema"]
    assert len(made.left_out) == 1 and "the output schema of large" in made.left_out[0]
    assert made.definitions["large"]["outputSchema"] == output, "it is pinned all the same"


def test_a_snapshot_is_replaced_whole_and_nothing_is_left_beside(home: Path) -> None:
    mcp_kits.write(drafted(definition("one"), definition("two")))
    path = mcp_kits.write(drafted(definition("two")))
    assert os.listdir(os.path.dirname(path)) == ["things"]
    assert (
        sorted(json.loads((Path(path) / "mcp_tools.json").read_text(encoding="utf-8"))) == ["two"]
        and roots.find_kit("things").tools == 1
    )


@pytest.mark.parametrize("kit_id", ["", "Things", "../x", "project_tools", "a-b"])
def test_what_is_no_kit_id_is_refused(kit_id: str, home: Path) -> None:
    with pytest.raises(UsageError):
        mcp_kits.known_server(kit_id)


def test_a_kit_of_another_kind_has_no_server(home: Path) -> None:
    create.found_kit(home / "data/vespe/kits", "plain")
    with pytest.raises(UsageError, match="no kit from an MCP server"):
        mcp_kits.known_server("plain")


@pytest.mark.parametrize(
    "server",
    [{"url": "file:///etc"}, {"url": "https://h", "headers": {"a\n": "b"}}, {"url": "https://u@h"}],
)
def test_a_server_that_no_tool_may_name_is_refused(server: dict[str, Any]) -> None:
    with pytest.raises(InvalidDocument):
        mcp_kits.check_server(server)


def test_the_secrets_of_headers_are_declared_with_the_others() -> None:
    reach = {"url": "https://a.example", "headers": {"X-Key": "${env:KEY}"}}
    server = mcp_kits.describe_server(reach, secrets=("OTHER", "KEY"), timeout_s=5)
    assert server == reach | {"secrets": ["OTHER", "KEY"], "timeout_s": 5}
    with pytest.raises(UsageError, match="not a name"):
        mcp_kits.describe_server(reach, secrets=("a b",), timeout_s=None)


def test_a_header_that_carries_a_secret_names_it() -> None:
    mcp_kits.check_header("Authorization", "Bearer ${env:TOKEN}")
    with pytest.raises(UsageError, match="where everyone can read it"):
        mcp_kits.check_header("Authorization", "Bearer abc")


def test_a_new_kit_takes_no_others_place(home: Path) -> None:
    mcp_kits.check_new("things", SERVER)
    mcp_kits.write(drafted(definition()))
    with pytest.raises(UsageError, match="there is a kit called 'things' already"):
        mcp_kits.check_new("things", SERVER)


def with_skill(data: bytes = b"x", description: str = "Tides.") -> mcp_kits.KitDraft:
    """A kit of a server with one tool and one skill."""
    uri = "skill://tides/SKILL.md"
    entry = {
        "uri": uri,
        "frontmatter": {"name": "tides", "description": description},
        "resources": [
            {"uri": uri, "digest": f"sha256:{sha256(data).hexdigest()}", "size": len(data)}
        ],
    }
    found, _ = mcp_skills.of_entries([entry], tool="read_skill")
    server = {"command": ["serve"]}
    return mcp_kits.draft("sea", server, [definition()], about={}, skills=found)


@pytest.mark.usefixtures("home")
def test_a_kit_reads_the_skills_of_its_server_by_a_tool_whose_name_is_its_own() -> None:
    made = with_skill()
    assert [tool["name"] for tool in made.tools.values()] == ["echo", "read_skill"]
    path = mcp_kits.write(made)
    reader = directory.load(f"{path}/{list(made.tools)[1]}", kit_id="sea")
    assert list(effects.effects_of(reader)) == ["reads_untrusted"], "the words of a stranger"
    assert mcp_snapshots.skills_at(path) == made.skills
    server, tools = made.server, [definition()]
    assert mcp_kits.known_skills("sea", server) == made.skills
    assert mcp_kits.name_skill_tool("sea", server, tools) == "read_skill"
    assert mcp_kits.name_skill_tool("lake", server, tools) == "read_skill_lake"
    own = [definition("read_skill")]
    assert mcp_kits.name_skill_tool("sea", server, own) == "read_skill_sea"
    own += [definition("read_skill_sea"), definition("read_skill_sea_2")]
    assert mcp_kits.name_skill_tool("sea", server, own) == "read_skill_sea_3"


@pytest.mark.usefixtures("home")
def test_skills_decide_where_a_kit_is_kept_and_without_them_it_stays_where_it_was() -> None:
    plain = mcp_kits.draft("sea", {"command": ["serve"]}, [definition()], about={})
    places = {mcp_kits.kit_path(one) for one in (plain, with_skill(), with_skill(b"y"))}
    assert len(places) == 3
    locked = mcp_kits.with_skills_of(with_skill(), {})
    assert mcp_kits.kit_path(locked) == mcp_kits.kit_path(plain), "a lock made before skills"
    pins = with_skill().skills.pins()
    assert mcp_kits.with_skills_of(with_skill(), pins) == with_skill()
    renamed = mcp_kits.with_skills_of(with_skill(), {**pins, "tool": "read_skill_sea"})
    assert renamed.skills.tool == "read_skill_sea" and renamed.skills.skills
