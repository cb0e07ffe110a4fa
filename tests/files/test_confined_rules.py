"""What the file tools never write and never read: names that other programs execute, bare
repositories, the user's own rules.
"""

import subprocess
from pathlib import Path

import pytest

from vespe.errors import VespeError
from vespe.files.confined import Directory, PathRefused
from vespe.files.confined_rules import EXECUTED, NEVER, Rules, of_environment

ORDINARY = (
    ".gitignore",
    ".gitattributes",
    ".gitkeep",
    ".github/workflows/test.yml",
    ".editorconfig",
    ".env.example",
    "src/config/app.json",
    "objects/thing.json",
    "refs/list.bib",
    "hooks/use_state.ts",
    "head.html",
    "info/readme.md",
    "claude.md",
    "vscode/readme.md",
    "mcp_server.json",
    "docs/.nojekyll",
    "notes~1",
    "c~1",
    "digits~1.txt",
    "a:b",
    "venv.md",
    ".hgignore",
)


def writable(at: Path, path: str, *patterns: str) -> bool:
    with Directory(at, rules=Rules(may_write=patterns)) as directory:
        try:
            directory.write_text(path, "x")
        except PathRefused:
            return False
        return True


@pytest.mark.parametrize("name", sorted(EXECUTED))
def test_p17b_what_other_programs_execute_is_not_written_unless_the_user_allows_it(
    tmp_path: Path, name: str
) -> None:
    for path in (name, f"sub/{name}", f"{name}/inner.json", name.upper(), f"{name}."):
        assert not writable(tmp_path, path), path
    assert writable(tmp_path, f"{name}/inner.json", name) and writable(
        tmp_path, f"sub/{name}", "sub"
    )


@pytest.mark.parametrize("path", ORDINARY)
def test_other_files_are_written_as_ever(tmp_path: Path, path: str) -> None:
    assert writable(tmp_path, path) and (tmp_path / path).read_text(encoding="utf-8") == "x"


@pytest.mark.parametrize("name", sorted(NEVER))
def test_p17b_no_configuration_lets_a_tool_write_hooks_and_approvals(
    tmp_path: Path, name: str
) -> None:
    assert not writable(tmp_path, f"{name}/config", name, "*", f"{name}/config")


@pytest.mark.parametrize(
    "order",
    [
        ("HEAD", "config", "objects/x", "refs/x"),
        ("refs/x", "objects/x", "config", "HEAD"),
        ("commondir", "HEAD"),
    ],
)
def test_p17b_no_writes_make_a_repository_that_git_reads(
    tmp_path: Path, order: tuple[str, ...], home: Path
) -> None:
    content = {
        "HEAD": "ref: refs/heads/main\n",
        "config": "[core]\n\tbare = true\n",
        "commondir": "elsewhere\n",
    }
    with Directory(tmp_path, rules=Rules()) as directory:
        for path in order:
            try:
                directory.write_text(path, content.get(path, "x"))
            except PathRefused:
                continue
    assert subprocess.run(
        ["git", "rev-parse"], cwd=tmp_path, capture_output=True, check=False
    ).returncode


@pytest.mark.parametrize(
    "path",
    [
        "fixtures/kit.git/config",
        "fixtures/kit.git/hooks/post-receive",
        "fixtures/kit.git/refs/heads/x",
    ],
)
def test_p17b_a_bare_repository_that_is_there_keeps_its_configuration(
    tmp_path: Path, path: str, home: Path
) -> None:
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "fixtures/kit.git")], check=True)
    assert not writable(tmp_path, path) and writable(tmp_path, "fixtures/config")
    assert writable(tmp_path, path, "fixtures")


@pytest.mark.parametrize(
    "path",
    [
        ".git::$INDEX_ALLOCATION/config",
        "git~1/config",
        "GIT~2",
        "VESPE~1/tools/x",
        "sub/vscode~1/tasks.json",
        ".envrc:",
    ],
)
def test_p17b_other_spellings_that_a_windows_volume_reads_are_not_written(
    tmp_path: Path, path: str
) -> None:
    assert not writable(tmp_path, path)


@pytest.mark.parametrize("pattern", ["**/.env", "./.env", "/.env", ".//.env", "**/**/.env"])
def test_a_pattern_is_read_as_it_is_elsewhere(tmp_path: Path, pattern: str) -> None:
    rules = Rules(never_read=(pattern, "a/**/key", "**/secrets/**"))
    for path in (".env", "a/key", "a/b/c/key", "secrets/x", "b/secrets/x"):
        assert rules.is_kept_secret(path.split("/")), path
    for path in ("x.env", "env", "a/monkey", "key", "b/a/key", "secrets.md", "nosecrets/x"):
        assert not rules.is_kept_secret(path.split("/")), path


def test_what_the_user_keeps_from_tools_is_neither_read_edited_nor_searched(tmp_path: Path) -> None:
    (tmp_path / "secrets").mkdir()
    for name in ("prod.env", "secrets/a", "b.txt"):
        (tmp_path / name).write_text("KEY=1", encoding="utf-8")
    with Directory(tmp_path, rules=Rules(never_read=("*.env", "secrets/"))) as directory:
        for path in ("prod.env", "PROD.ENV", "secrets/a", "./secrets//a"):
            for change in (directory.read_text, lambda at: directory.replace_text(at, "KEY", "x")):
                with pytest.raises(VespeError):
                    change(path)
        assert directory.read_text("b.txt") == "KEY=1"


@pytest.mark.parametrize(
    "pattern", ["{}/prod.env", "{}/*.env", "{}/", "{}", "{}/../*/prod.env", "{}/sub/../prod.env"]
)
def test_a_whole_path_keeps_the_file_that_it_names(tmp_path: Path, pattern: str) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "real/prod.env").write_text("KEY=1", encoding="utf-8")
    (tmp_path / "b.txt").write_text("b", encoding="utf-8")
    for written in ("real", "link"):
        rules = Rules(never_read=(pattern.format(tmp_path / written),))
        for opened in ("real", "link"):
            with Directory(tmp_path / opened, rules=rules) as directory, pytest.raises(VespeError):
                directory.read_text("prod.env")
        with Directory(tmp_path, rules=rules) as directory:
            assert directory.read_text("b.txt") == "b"


def test_rules_reach_a_tools_process_in_its_environment() -> None:
    rules = Rules((".vscode", "a b/*"), ("*.env",))
    assert of_environment(rules.environment()) == rules and Rules().environment() == {}
    assert of_environment({}) == Rules()
