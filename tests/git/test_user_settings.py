"""What of the user's git configuration goes along with a tool: judged by git, which reads it."""

import os
import subprocess
from pathlib import Path

from vespe.git.user_settings import beside, kept_whole

PATH = {"PATH": os.environ["PATH"]}


def read(place: dict[str, str], *keys: str) -> list[str]:
    """Return what git reads there, a value for each key."""
    asked = ["git", "config", "--file", place["GIT_CONFIG_GLOBAL"], "--includes", "--get-all"]
    return [
        subprocess.run([*asked, key], capture_output=True, encoding="utf-8", check=False).stdout
        for key in keys
    ]


def test_values_come_as_they_were_and_secrets_and_programs_do_not_come(
    home: Path, tmp_path: Path
) -> None:
    config = home / ".gitconfig"
    values = {
        "user.name": 'a "b" \\ c; # d',
        "safe.directory": "*",
        "core.autocrlf": "input",
        "http.extraHeader": "KEY",
        "url.https://KEY@x/.insteadOf": "https://x/",
        "core.pager": "p",
        "core.excludesFile": "~/x",
    }
    for key, value in values.items():
        subprocess.run(["git", "config", "--file", str(config), "--add", key, value], check=True)
    with config.open("a", encoding="utf-8") as file:
        file.write("[user]\n\tuseConfigOnly\n[core\n")
    env = {"HOME": str(home)}
    assert beside(str(tmp_path), env, lambda path: False, cwd="/") == {}
    place = beside(str(tmp_path), env, lambda path: True, cwd="/")
    assert read(place, "user.name") == [""]  # a file that git cannot read is as none
    config.write_text(config.read_text("utf-8").replace("[core\n", ""), encoding="utf-8")
    place = beside(str(tmp_path), env, lambda path: True, cwd="/")
    assert read(place, *values) == [
        'a "b" \\ c; # d\n',
        "*\n",
        "input\n",
        "",
        "",
        "",
        "",
    ]
    assert "KEY" not in Path(place["GIT_CONFIG_GLOBAL"]).read_text("utf-8")


def test_a_file_that_may_be_read_is_included_after_the_other(home: Path, tmp_path: Path) -> None:
    (home / ".config/git").mkdir(parents=True)
    for name, text in ((".config/git/config", "Other"), (".gitconfig", "Own")):
        (home / name).write_text(f"[user]\n\tname = {text}\n[core]\n\tpager = {text}\n", "utf-8")
    place = beside(
        str(tmp_path), {"HOME": str(home)}, lambda path: path.endswith("git/config"), cwd="/"
    )
    assert read(place, "user.name", "core.pager") == ["Other\nOwn\n", "Own\n"]


def test_without_files_of_the_users_there_is_nothing_to_do(home: Path, tmp_path: Path) -> None:
    for env in ({"HOME": str(home)}, {}, {"HOME": "relative"}):
        assert beside(str(tmp_path), env, lambda path: True, cwd="/") == {}
    (home / ".gitconfig").write_text("[user]\n", encoding="utf-8")
    stated = {"HOME": str(home), "GIT_CONFIG_GLOBAL": "/its/own"}
    assert beside(str(tmp_path), stated, lambda path: True, cwd="/") == {}
    assert list(tmp_path.glob("gitconfig")) == []


def test_a_process_that_lives_on_has_all_of_it_as_it_is_at_each_call(
    home: Path, tmp_path: Path
) -> None:
    env = {"HOME": str(home)}
    place = kept_whole(str(tmp_path), env, cwd="/")
    values = {"user.name": "Ada", "url.https://a b/.insteadOf": "https://x/", "alias.a": "!b"}
    assert read(place, *values) == ["", "", ""]
    for key, value in values.items():
        subprocess.run(["git", "config", "--global", key, value], check=True, env=env | PATH)
    assert kept_whole(str(tmp_path), env, cwd="/") == place
    assert read(place, *values) == [f"{value}\n" for value in values.values()]
    assert kept_whole(str(tmp_path), {"HOME": "relative"}, cwd="/") == {}
