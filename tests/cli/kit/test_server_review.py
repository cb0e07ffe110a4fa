"""What is shown of MCP servers before a person says yes."""

import pytest

from tests.support.mcp_servers import definition
from vespe import errors
from vespe.cli.kit import server_review
from vespe.kits import mcp_kits
from vespe.kits.client_files import ServerEntry

SERVER = {"command": ["npx", "a\x1bb"], "secrets": ["TOKEN"]}


def drafted(text: str = "Does it.") -> mcp_kits.KitDraft:
    return mcp_kits.draft("things", SERVER, [definition(description=text)], about={})


def test_how_a_server_is_reached_is_shown_inert(capfd: pytest.CaptureFixture[str]) -> None:
    server_review.announce(SERVER)
    said = capfd.readouterr().err
    assert (
        "start this server with your permissions" in said
        and "\x1b" not in said
        and "secrets  TOKEN" in said
    )
    assert "~/.npm" in said


def test_what_a_person_judges_is_shown_as_lines_and_completely(
    capfd: pytest.CaptureFixture[str],
) -> None:
    server = {
        "url": "https://a.example/mcp",
        "headers": {"Authorization": "Bearer ${env:TOKEN}", "X-Team": "one, two"},
    }
    server_review.announce(server)
    server_review.announce({"command": ["run", "a b"], "env": {"MODE": "fast"}})
    said = capfd.readouterr().err
    assert "connect to this server: https://a.example/mcp" in said
    assert 'headers  Authorization=Bearer ${env:TOKEN}, X-Team="one, two"' in said
    assert "permissions: run 'a b'" in said and "env      MODE=fast" in said
    schema = {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Where\nit is."},
            "how": {"enum": ["a", "b"], "default": "a"},
            "n": {"type": "array", "items": {"type": "integer"}},
            "deep": {"type": "object", "properties": {"x": {"type": "string"}}},
        },
        "required": ["path"],
    }
    draft = mcp_kits.draft("things", SERVER, [definition() | {"inputSchema": schema}], about={})
    with pytest.raises(errors.Refused):
        server_review.approve(draft, {}, update=False, yes=False)
    lines = capfd.readouterr().err.splitlines()
    assert lines[-4:] == [
        "  takes  path (string, required): Where\\nit is.",
        "         how (a or b, default a)",
        "         n (list of integer)",
        '         deep (object, {"properties":{"x":{"type":"string"}}})',
    ]


def test_the_servers_of_a_file_are_all_shown_before_the_one_question(
    capfd: pytest.CaptureFixture[str],
) -> None:
    entries = [ServerEntry(name=name, server=SERVER, notes=["a note"]) for name in ("one", "two")]
    with pytest.raises(errors.Refused, match="Start or connect to 2 servers"):
        server_review.confirm_entries(entries, yes=False)
    said = capfd.readouterr().err
    assert "two, as the kit two" in said and said.count("a note") == 2
    server_review.confirm_entries([], yes=False)
    assert capfd.readouterr().err == ""


def test_a_kit_is_written_only_after_a_yes(home: object, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(errors.Refused, match="Approve 1 tool"):
        server_review.approve(drafted(), {}, update=False, yes=False)
    with pytest.raises(errors.Refused, match="Approve 1 tool of 1 server"):
        server_review.approve_all([drafted()], yes=False)
    assert not mcp_kits.find("things") and "Does it." in capfd.readouterr().err
    server_review.approve_all([drafted()], yes=True)
    assert mcp_kits.find("things")


def test_an_update_shows_what_changed_and_asks_about_nothing_else(
    home: object, capfd: pytest.CaptureFixture[str]
) -> None:
    server_review.approve(drafted(), {}, update=False, yes=True)
    before = mcp_kits.known_server("things")[1]
    capfd.readouterr()
    assert server_review.approve(drafted(), before, update=True, yes=False) == ()
    changes = server_review.approve(drafted("Does more."), before, update=True, yes=True)
    assert any("Does more." in line for line in changes)
    assert capfd.readouterr().err.splitlines() == list(changes)


@pytest.mark.parametrize(
    ("server", "question"), [(SERVER, "Start it"), ({"url": "https://a.example"}, "Connect to it")]
)
def test_the_question_says_what_will_happen(server: dict[str, object], question: str) -> None:
    with pytest.raises(errors.Refused, match=question):
        server_review.confirm_start(server, yes=False)
