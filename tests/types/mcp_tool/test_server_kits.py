"""The steps in which MCP servers become kits."""

import json
import shlex
import shutil
from pathlib import Path

import pytest

from tests.support.mcp_servers import ByHand, definition
from vespe import errors
from vespe.calls.secrets import SecretValues
from vespe.files import unreviewed
from vespe.kits import lock as kit_lock
from vespe.kits import mcp_kits, mcp_lock, mcp_snapshots
from vespe.processes.sandbox import levels
from vespe.projects import project as projects
from vespe.projects import user_config
from vespe.tools import mcp_definitions
from vespe.types.mcp_tool import server_kits


@pytest.fixture
def server(tmp_path: Path) -> ByHand:
    return ByHand(tmp_path / "server", definition(), definition("other"))


def test_a_server_that_is_asked_gives_a_kit_that_is_not_written(server: ByHand, home: Path) -> None:
    draft = server_kits.ask_server("things", {"command": list(server.command)})
    assert [tool["name"] for tool in draft.tools.values()] == ["echo", "other"]
    assert not mcp_kits.find("things")


@pytest.mark.skipif(levels.machine().level != "namespaces", reason="this machine has no namespaces")
def test_a_server_is_asked_in_the_sandbox_that_its_calls_will_have(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    server = ByHand(project / "server", definition(), definition("other"))
    (home / ".bashrc").write_text("mine", encoding="utf-8")
    script = "echo x >> ~/.bashrc; echo x > left; git init -q .; exec " + shlex.join(server.command)
    root = str(project)
    draft = server_kits.ask_server("things", {"command": ["sh", "-c", script]}, root=root)
    assert [tool["name"] for tool in draft.tools.values()] == ["echo", "other"]
    assert (home / ".bashrc").read_text(encoding="utf-8") == "mine" and (project / "left").exists()
    assert [new.path for new in unreviewed.left(str(project))] == [".git"]
    fails = {"command": ["sh", "-c", "echo x >> ~/.bashrc || exit 1"]}
    with pytest.raises(errors.PermissionDenied, match=r"write .*\.bashrc") as raised:
        server_kits.ask_server("things", fails, root=root)
    assert "`vespe kit add-mcp things … --write" in raised.value.hint
    mcp_kits.write(draft)
    with pytest.raises(errors.PermissionDenied) as raised:
        server_kits.ask_server("things", fails, root=root)
    assert "`vespe kit add-mcp things --update --write" in raised.value.hint


@pytest.mark.skipif(levels.machine().level != "namespaces", reason="this machine has no namespaces")
def test_outside_of_projects_a_server_may_write_only_where_its_kit_says(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    server = ByHand(home / "server", definition())
    script = "echo x > left; echo x > ~/notes/one; exec " + shlex.join(server.command)
    asked = {"command": ["sh", "-c", script], "write": ["~/notes"]}
    assert server_kits.ask_server("things", asked).tools
    assert (home / "notes/one").exists() and not (home / "left").exists()
    with pytest.raises(errors.PermissionDenied) as raised:
        server_kits.ask_server("things", asked | {"write": ["~/notes.db"]})
    assert "end it with / (~/notes.db/)" in raised.value.hint and '"write"' not in raised.value.hint


@pytest.mark.skipif(levels.machine().level != "namespaces", reason="this machine has no namespaces")
def test_what_no_option_allows_a_server_is_not_advised(home: Path, project: Path) -> None:
    (home / ".ssh").mkdir()
    (home / ".ssh/id_ed25519").write_text("key", encoding="utf-8")
    fails = {"command": ["sh", "-c", "cat ~/.ssh/id_ed25519 || exit 1"]}
    with pytest.raises(errors.PermissionDenied) as raised:
        server_kits.ask_server("things", fails, root=str(project))
    assert raised.value.details["permission"] == "read"
    assert "can let a server write more (--write), and nothing else" in raised.value.hint


@pytest.mark.skipif(levels.machine().level != "namespaces", reason="this machine has no namespaces")
def test_a_server_that_is_no_kits_is_not_advised_to_change_a_kit(home: Path, project: Path) -> None:
    (home / ".bashrc").write_text("mine", encoding="utf-8")
    fails = {"command": ["sh", "-c", "echo x >> ~/.bashrc || exit 1"]}
    with pytest.raises(errors.PermissionDenied, match=r"write .*\.bashrc") as raised:
        server_kits.list_tools(fails, name="sh", root=str(project))
    assert raised.value.hint == "no option allows this to a server while its tools are compared"


def test_a_secret_without_a_value_is_named_before_the_server_starts(home: Path) -> None:
    with pytest.raises(errors.MissingSecret, match="VESPE_NOT_SET"):
        server_kits.ask_server("things", {"command": ["never"], "secrets": ["VESPE_NOT_SET"]})


def test_a_servers_secret_may_be_its_kits_own_or_come_from_a_reference(
    server: ByHand, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VESPE_THINGS__TEAM", "blue")
    monkeypatch.setenv("ELSEWHERE", "value")
    user_config.set_value("secrets.KEY", {"ref": "env:ELSEWHERE"})
    asked = {"command": list(server.command), "secrets": ["TEAM", "KEY"]}
    assert server_kits.ask_server("things", asked).tools
    monkeypatch.delenv("ELSEWHERE")
    with pytest.raises(errors.SecretUnavailable, match="env:ELSEWHERE"):
        server_kits.ask_server("things", asked)


@pytest.mark.parametrize("activate", [True, False])
def test_a_kit_is_locked_where_it_is_activated_and_else_only_renewed(
    activate: bool, server: ByHand, project: Path, home: Path
) -> None:
    first = server_kits.ask_server("things", {"command": list(server.command)})
    mcp_kits.write(first)
    server_kits.keep_in_project(str(project), [first], activate=activate)
    assert list(mcp_lock.of_project(str(project))) == (["things"] if activate else [])
    server.lists(definition("new"))
    second = server_kits.ask_server("things", {"command": list(server.command)})
    mcp_kits.write(second)
    server_kits.keep_in_project(str(project), [second], activate=False)
    locked = mcp_lock.of_project(str(project))
    assert [list(one.definitions) for one in locked.values()] == ([["new"]] if activate else [])
    assert projects.read_config(str(project)).active_kits == (("things",) if activate else ())


def test_without_a_project_nothing_is_locked(home: Path, project: Path) -> None:
    made = mcp_kits.draft("things", {"command": ["serve"]}, [definition()], about={})
    mcp_kits.write(made)
    server_kits.keep_in_project(None, [made], activate=False)
    assert mcp_kits.find("things")
    assert not Path(kit_lock.project_lock(project)).exists()


URL = "https://notes.example.com/mcp"


@pytest.mark.usefixtures("home")
def test_the_token_of_a_secret_is_sent_to_the_server_of_its_kit_alone() -> None:
    values = SecretValues(environment={"VESPE_NOTES__MCP_TOKEN": "t0ken"}, configured={})
    # As long as no server is called so, the user says which one it is.
    assert server_kits.token_of_login(values, "notes", URL, root=None) == "t0ken"
    mcp_kits.write(mcp_kits.draft("notes", {"url": URL}, [definition()], about={}))
    assert server_kits.token_of_login(values, "notes", URL, root=None) == "t0ken"
    for kit_id, reach in (("notes", {"url": URL}), ("local", {"command": ["serve"]})):
        mcp_kits.write(mcp_kits.draft(kit_id, reach, [definition()], about={}))
        named = SecretValues(
            environment={f"VESPE_{kit_id.upper()}__MCP_TOKEN": "t0ken"}, configured={}
        )
        with pytest.raises(
            errors.Refused, match=r"which is not at https://other\.example"
        ) as caught:
            server_kits.token_of_login(named, kit_id, "https://other.example", root=None)
        assert "t0ken" not in f"{caught.value} {caught.value.hint}"


def test_the_servers_of_a_projects_lock_count_too(project: Path, home: Path) -> None:
    made = mcp_kits.draft("notes", {"url": URL}, [definition()], about={})
    mcp_kits.write(made)
    server_kits.keep_in_project(str(project), [made], activate=True)
    shutil.rmtree(mcp_snapshots.directory())
    assert mcp_lock.urls_of("notes", str(project)) == {URL}
    assert mcp_lock.urls_of("notes", None) == set()


@pytest.fixture
def file(server: ByHand, tmp_path: Path) -> str:
    entries = {
        "good": {"command": server.command[0], "args": list(server.command[1:])},
        "bad": {"command": "vespe-no-such-program"},
    }
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": entries}), encoding="utf-8")
    return str(path)


def test_a_server_of_a_file_that_fails_says_why_and_raises_nothing(file: str, home: Path) -> None:
    good, bad = server_kits.entries_of(file, None)
    made = server_kits.ask_entry(good, timeout_s=70)
    assert made is not None and made.server["timeout_s"] == 70
    assert server_kits.ask_entry(bad, timeout_s=None) is None
    assert "vespe-no-such-program cannot start" in bad.problem and good.problem == ""


def test_a_server_whose_kit_is_there_has_a_problem(file: str, home: Path) -> None:
    (good,) = server_kits.entries_of(file, "good")
    mcp_kits.write(mcp_kits.draft("good", good.server, [definition()], about={}))
    (again,) = server_kits.entries_of(file, "good")
    assert "vespe kit add-mcp good --update" in again.problem


def test_a_name_that_the_file_does_not_have_is_a_sentence(file: str, home: Path) -> None:
    with pytest.raises(errors.UsageError, match="names no server 'other'"):
        server_kits.entries_of(file, "other")


def test_a_locked_server_is_asked_unseen_only_where_the_project_is_approved(
    project: Path, tmp_path: Path
) -> None:
    server_kits.check_trusted(kit_lock.project_lock(str(project)))
    (tmp_path / "other/.vespe").mkdir(parents=True)
    with pytest.raises(errors.NotTrusted):
        server_kits.check_trusted(kit_lock.project_lock(str(tmp_path / "other")))


def test_a_locked_server_that_defines_other_tools_is_refused(
    server: ByHand, project: Path, home: Path
) -> None:
    lock = kit_lock.project_lock(project)
    definitions = {name: mcp_definitions.digest(definition(name)) for name in ("echo", "other")}
    locked = mcp_lock.LockedServer(
        kit_id="things", server={"command": list(server.command)}, definitions=definitions
    )
    assert len(server_kits.ask_locked(locked, lock).tools) == 2
    server.lists(definition("new"))
    with pytest.raises(errors.InvalidDocument, match="locks other definitions"):
        server_kits.ask_locked(locked, lock)
