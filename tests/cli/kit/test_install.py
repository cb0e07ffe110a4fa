"""`vespe kit install`: shown, asked, pinned; and everything that is refused on the way."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support import gitrepo, ondisk
from tests.support.gitrepo import git
from tests.support.terminal import plain, vespe_on_a_terminal

Command = Callable[..., Any]


def lock_of(project: Path) -> Any:
    return json.loads((project / ".vespe/kits.lock.json").read_text(encoding="utf-8"))["kits"]


def everything(directory: Path) -> set[tuple[str, bytes]]:
    return {
        (str(path), path.read_bytes() if path.is_file() and not path.is_symlink() else b"")
        for path in directory.rglob("*")
    }


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return gitrepo.published(tmp_path / "source", "rain", "sun", body="return {'said': text}")


def test_p6_a_kit_is_shown_pinned_activated_and_runs(
    command: Command, project: Path, source: Path
) -> None:
    said = command(
        "kit", "install", f"{source}@v1", "--kit", "rain", "--activate", "--yes", "--json"
    )
    assert (
        said.code == 0
        and "would run with your permissions" in said.err
        and "rain_tool() in main.py" in said.err
    )
    (kit,) = said.document["kits"]
    commit = git(source, "rev-parse", "v1")
    assert (kit["kit_id"], kit["ref"], kit["commit"], kit["subdirectory"]) == (
        "rain",
        "v1",
        commit,
        "rain",
    )
    assert lock_of(project)["rain"]["files"][0] == "kit_config.json" and list(lock_of(project)) == [
        "rain"
    ]
    ran = command("tool", "run", "rain_tool", "text=hi", "--json")
    assert ran.document["ok"] is False or ran.document["result"] == {"said": "hi"}


def test_the_files_of_kits_can_be_read_before_the_answer(
    project: Path, source: Path, home: Path
) -> None:
    (source / "rain/logo.bin").write_bytes(b"\0\1")
    gitrepo.commit(source)
    typed = "d rain/tool-rain/main.py\nd logo.bin\nd nope\nq\n" + "s\n" * 9 + "n\n"
    where: dict[str, Any] = {"cwd": project, "columns": 1000, "PAGER": "cat", "CI": ""}
    shown = vespe_on_a_terminal("kit", "install", str(source), typed=typed, **where)
    assert "the files are rain/tool-rain/config.json" in shown
    assert shown.count("return {'said': text}") >= 2, "by its name, and in its turn"
    assert "rain/logo.bin is not text, or too large to show" in shown
    assert "sun/kit_config.json\n    | {" in plain(shown) and "that was the last file" in shown
    assert ".tmp/" not in shown and "invalid input" not in shown
    assert (
        "cancelled: you answered no" in shown and not (project / ".vespe/kits.lock.json").exists()
    )
    one = ("kit", "install", str(source), "--kit", "rain")
    shown = vespe_on_a_terminal(*one, typed="d tool-rain/main.py\ny\n", **where)
    assert "tool-rain/main.py\n    | def rain_tool" in plain(shown) and "installed rain" in shown
    assert list(lock_of(project)) == ["rain"]


def test_an_installed_tool_runs_from_its_own_bytes(command: Command, tmp_path: Path) -> None:
    source = gitrepo.published(
        tmp_path / "source", "rain", body="import os; return os.path.dirname(__file__)"
    )
    command("kit", "install", str(source), "--activate", "--yes")
    where = command("tool", "run", "rain_tool", "--json").document["result"]
    assert (
        os.path.basename(where) == "tool-rain"
        and "/store/" not in where
        and not os.path.exists(where)
    )


def test_p4_bytes_that_changed_in_the_store_do_not_run_and_are_named(
    command: Command, source: Path, home: Path
) -> None:
    command("kit", "install", str(source), "--activate", "--yes")
    (script,) = home.glob("data/vespe/store/v1-*/rain/tool-rain/main.py")
    script.write_text("def rain_tool(**inputs):\n    return 'evil'\n", encoding="utf-8")
    said = command("tool", "run", "rain_tool", "--json")
    assert said.code == 4 and "tool-rain/main.py" in said.document["error"]["message"]
    verified = command("kit", "verify", "--json")
    assert verified.code == 4 and "tool-rain/main.py" in verified.document["error"]["message"]
    assert command("kit", "sync", "--yes").code == 0 and command("kit", "verify").code == 0


def test_p4_a_kit_s_own_config_is_part_of_what_was_approved(
    command: Command, source: Path, home: Path
) -> None:
    command("kit", "install", str(source), "--activate", "--yes")
    (config,) = home.glob("data/vespe/store/v1-*/rain/kit_config.json")
    config.write_text(
        config.read_text(encoding="utf-8").replace('"1.0.0"', '"1.0.1"'), encoding="utf-8"
    )
    said = command("tool", "run", "rain_tool", "--json")
    assert said.code == 4 and "kit_config.json" in said.document["error"]["message"]


def test_without_a_yes_and_a_terminal_nothing_is_installed(
    command: Command, project: Path, source: Path, home: Path
) -> None:
    said = command("kit", "install", str(source))
    assert said.code == 6 and "would run with your permissions" in said.err and "--yes" in said.err
    assert (
        not (project / ".vespe/kits.lock.json").exists()
        and list(home.glob("data/vespe/store/*")) == []
    )
    assert not list(home.rglob("kit-*.json"))


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["ext::sh -c id"], 6),
        (["--", "--upload-pack=x"], 6),
        (["./nowhere"], 3),
        (["{source}@v9"], 3),
        (["{source}@-x"], 6),
        (["{source}", "--kit", "snow"], 3),
        (["{source}", "--subdir", "../x"], 6),
        (["{source}", "--subdir", "nowhere"], 3),
        ([], 2),
        (["{source}/README"], 3),
    ],
)
def test_p8_what_cannot_be_installed_is_a_sentence_and_changes_nothing(
    arguments: list[str], code: int, command: Command, project: Path, source: Path, home: Path
) -> None:
    before = everything(project)
    said = command(
        "kit", "install", "--yes", *(argument.format(source=source) for argument in arguments)
    )
    assert said.code == code and said.err.startswith("vespe: ") and everything(project) == before


def test_another_commit_of_a_locked_source_is_refused_with_a_hint_to_update(
    command: Command, project: Path, source: Path
) -> None:
    command("kit", "install", f"{source}@v1", "--yes", "--kit", "rain")
    (source / "new").touch()
    gitrepo.commit(source)
    git(source, "tag", "v2")
    before = lock_of(project)
    for kit in ("rain", "sun"):
        said = command("kit", "install", f"{source}@v2", "--yes", "--kit", kit)
        assert said.code == 6 and "kit update rain --to v2" in said.err
    assert lock_of(project) == before
    assert command("kit", "install", f"{source}@v1", "--yes", "--kit", "sun").code == 0
    assert sorted(lock_of(project)) == ["rain", "sun"]


def test_a_kit_of_the_same_id_from_elsewhere_is_refused(
    command: Command, project: Path, source: Path, tmp_path: Path
) -> None:
    command("kit", "install", str(source), "--yes")
    said = command("kit", "install", str(gitrepo.published(tmp_path / "other", "rain")), "--yes")
    assert said.code == 6 and "kit remove rain" in said.err


def test_installing_the_same_again_asks_nothing_and_changes_nothing(
    command: Command, project: Path, source: Path
) -> None:
    command("kit", "install", f"{source}@v1", "--yes")
    before = (project / ".vespe/kits.lock.json").stat().st_ino
    said = command("kit", "install", f"{source}@v1")
    assert said.code == 0
    assert "you approved exactly these files before, so Vespe does not ask again" in said.err
    assert (project / ".vespe/kits.lock.json").stat().st_ino == before
    assert "before" not in command("kit", "install", f"{source}@v1", "--yes").err


def test_a_relative_source_is_kept_relative_to_the_project(
    command: Command, project: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project / ".vespe" / "tools")
    assert command("kit", "install", "../../../source", "--yes", "--kit", "rain").code == 0
    assert lock_of(project)["rain"]["source"] == "../source"
    assert command("kit", "sync").code == 0


def test_a_kit_for_every_project_stands_in_the_user_s_own_lock(
    command: Command, project: Path, source: Path, home: Path
) -> None:
    said = command(
        "kit", "install", str(source), "--user", "--kit", "rain", "--activate", "--yes", "--json"
    )
    assert (
        said.document["lock"] == str(home / "data/vespe/kits.lock.json")
        and not (project / ".vespe/kits.lock.json").exists()
    )
    listed = {kit["kit_id"]: kit for kit in command("kit", "list", "--json").document["kits"]}
    assert listed["rain"]["root_kind"] == "user_lock" and listed["rain"]["active"]
    assert command("kit", "remove", "rain", "--user", "--yes").code == 0


def test_a_plain_folder_is_installed_without_a_commit(
    command: Command, project: Path, tmp_path: Path
) -> None:
    ondisk.python_tool(
        ondisk.write_kit(tmp_path / "plain", "snow") / "tool-snow", "snow", "return 1"
    )
    said = command("kit", "install", str(tmp_path / "plain"), "--activate", "--yes", "--json")
    assert (
        said.document["kits"][0]["commit"] is None
        and command("tool", "run", "snow").out.strip() == "1"
    )


def test_p11_a_folder_with_a_link_is_refused_and_nothing_is_copied(
    command: Command, project: Path, tmp_path: Path, home: Path
) -> None:
    kit = ondisk.write_kit(tmp_path / "plain", "snow")
    (kit / "leak").symlink_to("/etc/passwd")
    said = command("kit", "install", str(kit), "--yes")
    assert said.code == 6 and "leak" in said.err and list(home.glob("data/vespe/store/*")) == []


def test_a_kit_file_is_installed_like_a_folder(
    command: Command, project: Path, tmp_path: Path
) -> None:
    ondisk.python_tool(
        ondisk.write_kit(tmp_path / "plain", "snow") / "tool-snow", "snow", "return 1"
    )
    assert command("kit", "pack", str(tmp_path / "plain/snow")).code == 0
    (archive,) = project.glob("*.kit")
    said = command("kit", "install", f"./{archive.name}", "--activate", "--yes", "--json")
    assert said.code == 0 and lock_of(project)["snow"]["source"] == f"./{archive.name}"


def test_outside_a_project_it_says_how_to_make_one(
    command: Command, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = command("kit", "install", str(source), "--yes")
    assert said.code == 3 and "vespe init" in said.err


def test_p1_an_untrusted_project_runs_no_kit_s_tool(
    command: Command, project: Path, source: Path
) -> None:
    command("kit", "install", str(source), "--activate", "--yes")
    command("untrust")
    ondisk.python_tool(project / ".vespe/tools/tool-x", "x", "return 1")
    assert command("tool", "run", "rain_tool").code == 6


def test_a_kit_that_was_never_approved_here_does_not_run(
    command: Command, source: Path, home: Path
) -> None:
    command("kit", "install", str(source), "--activate", "--yes")
    for record in home.rglob("kit-*.json"):
        record.unlink()
    said = command("tool", "run", "rain_tool")
    assert said.code == 6 and "vespe kit sync" in said.err
    assert command("kit", "sync").code == 6
    assert command("kit", "sync", "--yes").code == 0 and command(
        "tool", "run", "rain_tool"
    ).code in (0, 1)


@pytest.mark.parametrize("subdirectory", ["/", "/etc", "//", "//rain"])
def test_p8_an_absolute_subdirectory_is_refused(
    subdirectory: str, command: Command, project: Path, tmp_path: Path
) -> None:
    source = gitrepo.published(tmp_path / "source", "rain")
    said = command("kit", "install", str(source), "--subdir", subdirectory, "--yes")
    assert (
        said.code == 6
        and "subdirectory" in said.err
        and not (project / ".vespe/kits.lock.json").exists()
    )


def test_an_id_that_is_no_commit_s_is_not_found(
    command: Command, project: Path, tmp_path: Path
) -> None:
    source = gitrepo.published(tmp_path / "source", "rain")
    said = command(
        "kit", "install", f"{source}@{gitrepo.git(source, 'rev-parse', 'HEAD^{tree}')}", "--yes"
    )
    assert said.code == 3 and "is not the id of a commit" in said.err


@pytest.mark.parametrize(
    "words",
    [
        ("kit", "install", "https://u:secretpw@localhost:1/x.git"),
        ("kit", "install", "--yes", "https://secretpw@localhost:1/x.git"),
        ("kit", "import", "https://u:secretpw@localhost:1/api.json"),
        ("kit", "add-mcp", "things", "--yes", "--url", "https://u:secretpw@localhost:1/mcp"),
        ("config", "set", "providers.x", '{"base_url": "https://u:secretpw@h/v1", "api": 1}'),
        ("tool", "create", "t", "--url", "https://u:secretpw@localhost:1/x"),
    ],
)
def test_a_password_in_a_url_stands_in_no_message(words: tuple[str, ...], command: Command) -> None:
    for form in ((), ("--json",)):
        said = command(*words, *form)
        assert said.code and "secretpw" not in said.err + said.out, said.err + said.out


def test_p9_a_few_objects_that_describe_ten_million_files_are_refused(
    command: Command, project: Path, tmp_path: Path
) -> None:
    source = gitrepo.repository(tmp_path / "bomb")
    tree = git(source, "hash-object", "-w", "--stdin")
    kind, mode = "blob", "100644"
    for _ in range(7):
        rows = "".join(f"{mode} {kind} {tree}\tn{number}\n" for number in range(10))
        tree, kind, mode = git(source, "mktree", stdin=rows.encode()), "tree", "040000"
    config = git(source, "hash-object", "-w", "--stdin", stdin=b'{"kit_id": "bomb"}')
    top = f"100644 blob {config}\tkit_config.json\n040000 tree {tree}\tdeep\n"
    made = git(source, "commit-tree", git(source, "mktree", stdin=top.encode()), "-m", "first")
    git(source, "update-ref", "refs/heads/main", made)
    before = everything(project)
    said = command("kit", "install", f"{source}@main", "--yes")
    assert said.code == 6 and "more than 10000 files and directories" in said.err
    assert everything(project) == before


def test_a_kit_in_several_places_is_the_first_in_the_order_that_the_guide_names(
    command: Command,
    project: Path,
    tmp_path: Path,
    source: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_DATA_DIRS", str(tmp_path / "site"))
    monkeypatch.setenv("VESPE_KITS_PATH", str(tmp_path / "named"))
    places = ("named", "linked", "home/data/vespe/kits", "site/vespe/kits")
    for place in places:
        shutil.copytree(source / "rain", tmp_path / place / "rain")
    for words in (
        ("link", str(tmp_path / "linked/rain")),
        ("install", f"{source}@v1", "--kit", "rain", "--yes"),
        ("install", f"{source}@v1", "--kit", "rain", "--user", "--yes"),
    ):
        assert command("kit", *words).code == 0, words
    listed = command("kit", "list", "--json").document["kits"]
    kinds = [kit["root_kind"] for kit in listed if kit["kit_id"] == "rain"]
    assert kinds == ["env", "link", "lock", "user_lock", "user", "site"]
