"""Calls that are held: what is refused is named, with the line to add; what is swallowed is
noted.
"""

import contextlib
import json
import os
import pwd
import queue
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import PATIENCE_S, python_tool, write_tool
from tests.support.systems import NO_LANDLOCK, NO_NAMESPACES, knowing, refusing
from tests.types.python_script.test_environments import distribution
from vespe.calls.path import CallPath
from vespe.calls.registry import ToolRegistry
from vespe.calls.sandboxing import confine, installing, machine
from vespe.files import unreviewed
from vespe.models import Call, Outcome
from vespe.processes import process
from vespe.processes.long_lived import LastingProcess, Listener
from vespe.projects import user_config
from vespe.projects.workspace import open_workspace
from vespe.tool_types import Context
from vespe.tools import directory
from vespe.types.mcp_tool.sessions import Sessions


@pytest.fixture
def held(project: Path, home: Path) -> Path:
    """A project whose user requires a sandbox, with a key that nobody is to read."""
    if machine().level == "off":
        pytest.skip("this machine has no sandbox")
    user_config.set_value("sandbox", "require")
    (home / ".ssh").mkdir()
    (home / ".ssh/id_ed25519").write_text("KEY", encoding="utf-8")
    return project


def run(project: Path, tool: str, **arguments: Any) -> Outcome:
    path = CallPath(workspace=open_workspace(project), registry=ToolRegistry())
    return path.run(Call(tool=tool, arguments=arguments))


def tool(project: Path, name: str) -> Path:
    return project / ".vespe/tools" / f"tool-{name}"


def shell(project: Path, *argv: str, **extra: Any) -> None:
    write_tool(
        tool(project, "s"),
        "s",
        implementation={
            "type": "shell_command",
            "entrypoint": argv[0],
            "args": {"argv": list(argv[1:])},
        },
        **extra,
    )


def test_a_refused_file_is_named_with_the_line_to_add(held: Path) -> None:
    python_tool(
        tool(held, "p"),
        "p",
        "import os\nreturn open(os.path.expanduser('~/.ssh/id_ed25519')).read()",
    )
    shell(held, "cat", str(held.parent / "home/.ssh/id_ed25519"))
    for name in ("p", "s"):
        outcome = run(held, name)
        assert outcome.error is not None and outcome.error.code == "permission_denied"
        assert '"permissions": {"read": [".", "~/.ssh/id_ed25519"]}' in outcome.error.hint
        assert (
            outcome.error.details["refused"].endswith(".ssh/id_ed25519")
            and not outcome.error.retryable
        )
        assert (
            outcome.sandbox == {"level": machine().level, "gaps": outcome.sandbox["gaps"]}
            if outcome.sandbox
            else False
        )


def test_the_line_that_was_named_works(held: Path) -> None:
    body = "import os\nreturn open(os.path.expanduser('~/.ssh/id_ed25519')).read()"
    python_tool(tool(held, "p"), "p", body, permissions={"read": [".", "~/.ssh/id_ed25519"]})
    assert run(held, "p").result == "KEY"


def test_a_link_out_of_the_project_is_named_with_the_line_that_opens_where_it_leads(
    held: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "a").write_text("A", encoding="utf-8")
    (held / "data").symlink_to(elsewhere)
    body = "return open('data/a').read()"
    python_tool(tool(held, "p"), "p", body, permissions={"read": ["data"]})
    error = run(held, "p").error
    assert error is not None and error.code == "permission_denied"
    assert f"(data is a link to {elsewhere}, which the permissions do not name)" in error.message
    line = f'"permissions": {{"read": ["data", "{elsewhere}"]}}'
    assert error.hint.endswith(line)
    shell(held, "cat", "data/a", permissions={"read": ["data"]})
    error = run(held, "s").error
    assert error is not None and error.code == "permission_denied"
    assert f"{held}/data/a (data is a link to {elsewhere}, " in error.message
    assert error.hint.endswith(line)
    python_tool(tool(held, "q"), "q", body, permissions={"read": ["data", str(elsewhere)]})
    assert run(held, "q").result == "A"


WRITES = (
    "import os\ndone = []\nfor name in inputs['to'].split():\n    try:\n"
    "        open(os.path.expanduser(name), 'a').write('x')\n        done.append(name)\n"
    "    except OSError:\n        pass\nreturn done"
)
WHERE = {"type": "object", "properties": {"to": {"type": "string"}}}


def test_a_directory_that_is_written_and_not_there_is_made_and_nothing_above_it_opened(
    held: Path, home: Path
) -> None:
    (home / ".profile").write_text("p", encoding="utf-8")
    stated = {"write": ["~/.cache/deep/own/", "out/"]}
    python_tool(tool(held, "p"), "p", WRITES, permissions=stated, schema=WHERE)
    assert not (home / ".cache/deep").exists()
    to = "~/.cache/deep/own/a out/a ~/.profile ~/.cache/deep/a b"
    assert run(held, "p", to=to).result == ["~/.cache/deep/own/a", "out/a"]
    assert (home / ".cache/deep/own").stat().st_mode & 0o777 == 0o700
    assert (home / ".profile").read_text(encoding="utf-8") == "p"


@pytest.mark.skipif(shutil.which("npm") is None, reason="this machine has no npm")
def test_npm_works_with_a_cache_that_is_made_for_it(held: Path, home: Path) -> None:
    (held / "package.json").write_text('{"name": "x", "version": "1.0.0"}', encoding="utf-8")
    pack = ("npm", "pack", "--offline", "--no-update-notifier", "--silent")
    shell(held, *pack, permissions={"write": [".", "~/.npm/"]})
    outcome = run(held, "s")
    assert outcome.error is None and outcome.result == "x-1.0.0.tgz\n"
    assert (home / ".npm/_cacache").is_dir()


@pytest.mark.skipif(shutil.which("uv") is None, reason="this machine has no uv")
def test_uv_installs_and_runs_with_a_cache_that_is_made_for_it(held: Path, home: Path) -> None:
    name = distribution(held, "greeting")
    how = f"--offline --no-index --find-links . --python {sys.executable}"
    asks = "import greeting; print(greeting.WORD)"
    script = (
        f"uv pip install {how} --target packages {name} && "
        f"uv run --no-project {how} --with {name} -- python -c '{asks}'"
    )
    stated = {"read": [".", sys.prefix], "write": [".", "~/.cache/uv/"], "network": []}
    shell(held, "sh", "-c", script, permissions=stated)
    outcome = run(held, "s")
    assert outcome.error is None and outcome.result == "1\n", outcome.error
    assert (held / "packages/greeting.py").is_file()
    assert (home / ".cache/uv/CACHEDIR.TAG").is_file()


@pytest.mark.skipif(shutil.which("uv") is None, reason="this machine has no uv")
def test_uv_is_refused_a_cache_that_the_tool_does_not_state(held: Path, home: Path) -> None:
    shell(held, "uv", "cache", "clean", permissions={"write": ["."], "network": []})
    (home / ".cache/uv").mkdir(parents=True)
    (home / ".cache/uv/mine").write_text("x", encoding="utf-8")
    error = run(held, "s").error
    assert error is not None and error.code == "permission_denied"
    assert error.hint.endswith('"permissions": {"write": [".", "~/.cache/uv/"]}')
    assert (home / ".cache/uv/mine").read_text(encoding="utf-8") == "x"


RUST = (
    "printf 'error: Could not create temporary file\\n  cause: Permission denied (os error 13) at "
    'path "%s"\\n\' '
)


@pytest.mark.parametrize(
    ("name", "line"),
    [(".cache/x/.tmpN71gHB", "~/.cache/x/"), (".cache/x/plain", "~/.cache/x/plain")],
)
def test_a_refused_temporary_file_is_stated_by_the_directory_it_was_to_be_in(
    held: Path, home: Path, name: str, line: str
) -> None:
    (home / ".cache/x").mkdir(parents=True)
    shell(held, "sh", "-c", f"{RUST} {home / name} >&2; exit 2", permissions={"write": ["."]})
    error = run(held, "s").error
    assert error is not None and error.code == "permission_denied"
    assert str(home / name) in error.message
    assert error.hint.endswith(f'"permissions": {{"write": [".", "{line}"]}}')


@pytest.mark.parametrize("stated", ["fresh/", "led/below/"])
def test_nothing_is_made_where_a_link_out_of_the_project_leads(
    held: Path, home: Path, stated: str
) -> None:
    (held / "fresh").symlink_to(home / "fresh")
    (held / "led").symlink_to(home)
    python_tool(tool(held, "p"), "p", "return 1", permissions={"write": [stated, "own/"]})
    assert run(held, "p").result == 1 and (held / "own").is_dir()
    assert not (home / "fresh").exists() and not (home / "below").exists()


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ("out", "end it with /"),
        ("~/.own", "end it with /"),
        ("a/b.txt", "`touch "),
        ("~/.aws/cli/", "create it yourself"),
        ("a/file/in/", "create it yourself"),
    ],
)
def test_what_is_written_and_not_there_is_refused_before_the_call(
    held: Path, home: Path, stated: str, said: str
) -> None:
    (held / "a").mkdir()
    (held / "a/file").touch()
    python_tool(tool(held, "p"), "p", "open('ran', 'w')\nreturn 1", permissions={"write": [stated]})
    error = run(held, "p").error
    assert error is not None and error.code == "permission_denied"
    assert stated in error.message and said in error.hint
    made = [held / "ran", held / "out", held / "a/b.txt", home / ".own", home / ".aws"]
    assert [path for path in made if path.exists()] == []


def test_what_others_that_are_written_hold_may_be_made_by_the_tool(held: Path) -> None:
    stated = {"write": [".", "later", ".git"]}
    body = "import os\nos.mkdir('later')\nos.mkdir('.git')\nreturn 1"
    python_tool(tool(held, "p"), "p", body, permissions=stated)
    assert run(held, "p").result == 1


def test_a_kit_says_a_directory_without_a_slash_and_it_is_made(held: Path, home: Path) -> None:
    stated = {"write": ["~/.cache/fetched"]}
    python_tool(tool(held, "p"), "p", WRITES, permissions=stated, schema=WHERE)
    context = Context(project_root=str(held), directory=str(tool(held, "p")), timeout_s=9)
    found = directory.load(tool(held, "p"), scope="kits", kit_id="kit")
    with confine(found, context, setting="auto"):
        assert (home / ".cache/fetched").is_dir()


def test_a_file_that_is_not_there_is_no_refusal_and_one_that_may_not_be_made_is(held: Path) -> None:
    outcomes = []
    for name, argv in (("s", ("cat", "/usr/nothing")), ("t", ("mkdir", "/usr/nothing"))):
        write_tool(
            tool(held, name),
            name,
            implementation={
                "type": "shell_command",
                "entrypoint": argv[0],
                "args": {"argv": [argv[1]]},
            },
        )
        outcomes.append(run(held, name).error)
    missing, refused = outcomes
    assert (
        missing is not None and missing.code == "tool_error" and "No such file" in missing.message
    )
    assert (
        refused is not None
        and refused.code == "permission_denied"
        and '"write": [".", "/usr/nothing"]' in refused.hint
    )


@pytest.mark.skipif(machine().level != "namespaces", reason="this machine has no namespaces")
def test_a_file_and_a_socket_in_the_temporary_directory_of_all_are_named_with_the_line(
    held: Path,
) -> None:
    with tempfile.TemporaryDirectory(prefix="vespe-t-", dir="/tmp") as place:
        Path(place, "data.csv").write_text("DATA", encoding="utf-8")
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(f"{place}/agent")
            one.listen()
            connects = f"import socket\nsocket.socket(1).connect('{place}/agent')\nreturn 'in'"
            reads = f"return open('{place}/data.csv').read()"
            for body, kind, name in ((reads, "read", "data.csv"), (connects, "sockets", "agent")):
                python_tool(tool(held, f"{kind}_a"), f"{kind}_a", body)
                error = run(held, f"{kind}_a").error
                assert error is not None and error.code == "permission_denied", error
                assert f"{place}/{name}" in error.message
                stated = [".", f"{place}/{name}"] if kind == "read" else [f"{place}/{name}"]
                assert f'"permissions": {json.dumps({kind: stated})}' in error.hint
                python_tool(tool(held, f"{kind}_b"), f"{kind}_b", body, permissions={kind: stated})
                assert run(held, f"{kind}_b").result in ("DATA", "in")
            shell(held, "cat", f"{place}/data.csv")
            error = run(held, "s").error
            assert error is not None and f"{place}/data.csv" in error.hint


def test_a_program_that_lies_beside_the_interpreter_is_refused_as_any_other(held: Path) -> None:
    beside = next(
        path
        for path in sorted(Path(sys.prefix, "bin").iterdir())
        if os.access(path, os.X_OK) and "python" not in path.name
    )
    for name, started in (
        ("p", f"subprocess.run([{str(beside)!r}])"),
        ("q", f"os.execv({str(beside)!r}, ['x'])"),
        ("r", f"os.posix_spawn({str(beside)!r}, ['x'], {{}})"),
    ):
        body = f"import os, subprocess\n{started}\nreturn 1"
        python_tool(tool(held, name), name, body, permissions={"programs": []})
        error = run(held, name).error
        assert error is not None and error.code == "permission_denied"
        stated = str(beside).replace(f"{pwd.getpwuid(os.getuid()).pw_dir}/", "~/")
        assert error.hint.endswith(f'"permissions": {{"programs": ["{stated}"]}}')


def test_a_refusal_that_the_tool_swallowed_is_a_note(held: Path) -> None:
    body = (
        "import os\ntry:\n    open(os.path.expanduser('~/.ssh/id_ed25519'))\nexcept OSError:\n"
        "    return 'nothing'"
    )
    python_tool(tool(held, "p"), "p", body)
    outcome = run(held, "p")
    assert outcome.result == "nothing" and any("id_ed25519" in note for note in outcome.notes)


def test_a_link_is_judged_by_where_it_is_made_and_not_by_where_it_leads(
    held: Path, home: Path
) -> None:
    body = (
        "import os\nos.symlink('/etc/passwd', 'l1')\nos.rename('l1', 'l2')\nos.remove('l2')\n"
        f"try:\n    os.symlink('a', {str(home / 'l3')!r})\nexcept OSError:\n    return 'refused'"
    )
    python_tool(tool(held, "p"), "p", body)
    outcome = run(held, "p")
    assert outcome.result == "refused"
    assert outcome.notes == (f"the sandbox did not let it write {home / 'l3'}",)


def test_a_refusal_that_a_program_complains_of_and_goes_on_after_is_a_note(
    held: Path, home: Path
) -> None:
    key, absent = home / ".ssh/id_ed25519", home / ".ssh/none"
    python = f"import subprocess\nsubprocess.run(['cat', {str(key)!r}, {str(absent)!r}])\nreturn 1"
    python_tool(tool(held, "p"), "p", python)
    shell(held, "sh", "-c", f"cat {key} {absent}; true")
    for name in ("p", "s"):
        outcome = run(held, name)
        assert outcome.ok and outcome.notes == (f"the sandbox did not let it read {key}",)


def test_the_script_that_complains_is_not_what_was_refused(held: Path, home: Path) -> None:
    script = held / "run.sh"
    script.write_text("echo x > ~/.bashrc\n", encoding="utf-8")
    shell(held, "sh", "-c", f"sh {script}; true")
    outcome = run(held, "s")
    assert outcome.notes == (f"the sandbox did not let it write {home / '.bashrc'}",), outcome.logs


def test_what_states_that_it_reads_nothing_is_told_to_state_the_one_file_alone(held: Path) -> None:
    shell(held, "cat", str(held.parent / "home/.ssh/id_ed25519"), permissions={"read": []})
    error = run(held, "s").error
    assert error is not None and '"permissions": {"read": ["~/.ssh/id_ed25519"]}' in error.hint


GITCONFIG = """[user]
\tname = "Ada \\"A\\" Lovelace"
\temail = ada@example.org
[include]
\tpath = ~/.more
[http]
\textraHeader = "Authorization: KEY"
"""


@pytest.mark.parametrize(
    ("place", "programs"),
    [(".gitconfig", {"programs": ["git"]}), (".config/git/config", {})],
)
def test_git_starts_where_the_users_configuration_may_not_be_read_and_knows_who_the_user_is(
    held: Path, home: Path, place: str, programs: dict[str, Any]
) -> None:
    for path, text in (
        (place, GITCONFIG),
        (".more", "[core]\n\tautocrlf = input\n\texcludesFile = ~/.ignored\n"),
        (".ignored", "*.log\n"),
        (".config/git/ignore", "*.log\n"),
    ):
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(text, encoding="utf-8")
    subprocess.run(["git", "init", "-q", str(held)], check=True)
    script = "git config --list --global && git status --porcelain"
    stated = {"read": ["."], "write": [], "network": [], **programs}
    shell(held, "sh", "-c", script, permissions=stated)
    done = run(held, "s")
    assert done.error is None and done.notes == () and done.result.endswith("?? .vespe/\n")
    assert 'user.name=Ada "A" Lovelace\nuser.email=ada@example.org\n' in done.result
    assert "core.autocrlf=input\n" in done.result
    assert "KEY" not in done.result and "~/.ignored" not in done.result


def test_git_reads_what_of_the_users_configuration_the_tool_states(held: Path, home: Path) -> None:
    (home / ".gitconfig").write_text(GITCONFIG, encoding="utf-8")
    (home / ".config/git").mkdir(parents=True)
    (home / ".config/git/ignore").write_text("*.log\n", encoding="utf-8")
    subprocess.run(["git", "init", "-q", str(held)], check=True)
    stated = {"read": [".", "~/.gitconfig"], "programs": ["git"]}
    shell(held, "git", "config", "--global", "--includes", "--list", permissions=stated)
    assert "http.extraheader=Authorization: KEY\n" in run(held, "s").result


def test_p80_a_file_that_a_secret_is_kept_in_is_read_by_no_tool(held: Path, home: Path) -> None:
    kept, link = home / "plain-name", home / "link"
    kept.touch(0o600)
    kept.write_text("hunter2", encoding="utf-8")
    link.symlink_to(kept)
    shell(held, "cat", "{path}", schema={"type": "object", "properties": {"path": {}}})
    assert run(held, "s", path=str(kept)).result == "hunter2"
    user_config.set_value("secrets.TOKEN", {"ref": f"file:{link}"})
    for path in (kept, link):
        outcome = run(held, "s", path=str(path))
        assert not outcome.ok and "hunter2" not in str(outcome.to_dict())
        # To state it would change nothing.
        said = str(outcome.to_dict())
        assert "name it under `secrets`" in said and "to allow this" not in said
    shutil.rmtree(tool(held, "s"))
    shell(held, "cat", str(kept), permissions={"read": [".", str(kept)]})
    assert "no permission opens it" in str(run(held, "s").to_dict())


def test_a_tool_that_touches_nothing_else_is_as_it_was(held: Path) -> None:
    body = (
        "import os, tempfile\nopen('a', 'w').write('x')\ntempfile.TemporaryFile().write(b'y')\n"
        "return sorted(os.listdir('.'))"
    )
    python_tool(tool(held, "p"), "p", body)
    outcome = run(held, "p")
    assert outcome.result == [".vespe", "a"] and outcome.notes == ()


def test_a_temporary_directory_is_gone_after_the_call(held: Path) -> None:
    python_tool(
        tool(held, "p"),
        "p",
        "import os\nopen(os.environ['TMPDIR'] + '/left', 'w')\nreturn os.environ['TMPDIR']",
    )
    assert not Path(run(held, "p").result).exists()


def test_the_servers_of_one_kit_share_a_temporary_directory_and_those_of_two_do_not(
    held: Path,
) -> None:
    args = {"command": ["s"], "digest": "sha256:" + 64 * "0"}
    write_tool(
        tool(held, "t"), "t", implementation={"type": "mcp_tool", "entrypoint": "t", "args": args}
    )
    context = Context(
        project_root=str(held), directory=str(tool(held, "t")), timeout_s=9, sessions=Sessions()
    )

    def scratch(kit: str) -> str:
        with confine(directory.load(tool(held, "t"), scope=kit), context, setting="auto") as given:
            return given.environment["TMPDIR"]

    assert scratch("one") == scratch("one") != scratch("two")


class Server:
    """A process that lives on, held as a server is: it says what git knows each time it is asked."""

    def __init__(self, context: Context) -> None:
        self.lines: queue.Queue[bytes] = queue.Queue()
        script = "while read line; do git config user.name 2>&1 || echo failed; done"
        self.process = LastingProcess(
            ["/bin/sh", "-c", script],
            cwd=context.project_root,
            env=context.environment,
            listener=Listener(
                heard=self.lines.put, over=lambda: self.lines.put(b"over"), said=lambda _: None
            ),
            sandbox=context.sandbox,
        )
        self.process.start()

    def ask(self) -> bytes:
        self.process.send(b"\n")
        return self.lines.get(timeout=PATIENCE_S)


def test_git_goes_on_in_a_server_whose_user_configures_it_between_two_calls(
    held: Path, home: Path
) -> None:
    args = {"command": ["s"], "digest": "sha256:" + 64 * "0"}
    write_tool(
        tool(held, "t"), "t", implementation={"type": "mcp_tool", "entrypoint": "t", "args": args}
    )
    environment = {"HOME": str(home), "PATH": os.environ["PATH"]}
    context = Context(
        project_root=str(held),
        directory=str(tool(held, "t")),
        timeout_s=9,
        environment=environment,
        sessions=Sessions(),
    )
    found = directory.load(tool(held, "t"), scope="one")

    def configure(name: str) -> None:
        argv = ["git", "config", "--global", "user.name", name]
        subprocess.run(argv, env=environment, check=True)

    configure("Ada")
    with confine(found, context, setting="auto") as given:
        server = Server(given)
        assert server.ask() == b"Ada"
    configure("Grace")
    with confine(found, context, setting="auto") as again:
        assert again.environment == given.environment
        assert server.ask() == b"Grace"
    server.process.end()
    server.process.wait(PATIENCE_S)


REPLACES = """
import os, subprocess
done = []
for path in ("lib/.git", "vendor/x/.git/config"):
    try:
        os.rename(path, path + ".before")
        open(path, "w").write("[core]\\n\\tfsmonitor = touch ran\\n")
        done.append(path)
    except OSError:
        pass
for name in ("lib/a", "vendor/x/a", ".envrc", "vendor/.envrc"):
    open(name, "w").close()
os.makedirs("later/deep/.git")
return done
"""


def test_repositories_in_the_project_are_kept_and_what_is_new_is_noted(held: Path) -> None:
    for name in (".git", "vendor/x/.git"):
        (held / name).mkdir(parents=True)
    (held / "lib").mkdir()
    (held / "lib/.git").write_text("gitdir: ../.git/modules/lib", encoding="utf-8")
    (held / "vendor/x/.git/config").touch()
    python_tool(tool(held, "p"), "p", REPLACES)
    outcome = run(held, "p")
    if machine().level == "namespaces":
        assert outcome.result == []
    told = [note.partition(" is new")[0] for note in outcome.notes if "is new" in note]
    assert told == [".envrc"]
    assert not [note for note in run(held, "p").notes if "is new" in note]
    assert [(new.path, new.tool) for new in unreviewed.left(str(held))] == [(".envrc", "p")]
    new = {new.path for new in unreviewed.elsewhere(str(held))}
    assert new == {"vendor/.envrc", "later/deep/.git"}


def test_a_repository_that_was_made_since_the_last_call_is_kept(held: Path) -> None:
    (held / "vendor/deep").mkdir(parents=True)
    body = "import glob\n[open(path, 'w') for path in glob.glob('vendor/*/.git/config')]\nreturn 1"
    python_tool(tool(held, "p"), "p", body)
    assert run(held, "p").result == 1
    (held / "vendor/x/.git").mkdir(parents=True)
    (held / "vendor/x/.git/config").touch()
    if machine().level == "namespaces":
        error = run(held, "p").error
        assert error is not None and "vendor/x/.git/config" in error.message


def test_a_file_that_is_not_there_is_not_told_as_a_program_that_was_refused(held: Path) -> None:
    (held / "notes").mkdir()
    (held / "notes/run.sh").write_text("#!/bin/sh\n", encoding="utf-8")
    (held / "notes/run.sh").chmod(0o755)
    for name, code in (("notes/none.txt", "tool_error"), ("notes/run.sh", "permission_denied")):
        said = "No such file or directory" if "none" in name else "Permission denied"
        directory = tool(held, "p")
        shutil.rmtree(directory, ignore_errors=True)
        body = f'raise OSError("cannot open {name}: {said}")'
        python_tool(directory, "p", body, permissions={"programs": []})
        error = run(held, "p").error
        assert error is not None and error.code == code


def test_a_repository_in_the_project_is_written_where_it_is_named(held: Path) -> None:
    (held / "vendor/x/.git").mkdir(parents=True)
    body = "open('vendor/x/.git/index', 'w').close()\nreturn 1"
    python_tool(tool(held, "p"), "p", body, permissions={"write": ["."]})
    python_tool(tool(held, "q"), "q", body, permissions={"write": [".", "vendor/x/.git"]})
    assert run(held, "q").result == 1
    if machine().level == "namespaces":
        error = run(held, "p").error
        assert error is not None and error.code == "permission_denied"
        assert '"write": [".", "' in error.hint and "vendor/x/.git" in error.hint


def test_off_holds_nothing_and_says_so(held: Path) -> None:
    user_config.set_value("sandbox", "off")
    shell(held, "cat", str(held.parent / "home/.ssh/id_ed25519"), permissions={"network": []})
    outcome = run(held, "s")
    assert (outcome.result, outcome.sandbox) == ("KEY", {"level": "off", "gaps": ["network"]})


@pytest.fixture
def server() -> Iterator[str]:
    """A server on the loopback that answers once to each connection, as `host:port`."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    one, _ = listening.accept()
                    with one:
                        one.recv(1000)
                        one.sendall(
                            b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi"
                        )

        threading.Thread(target=serve, daemon=True).start()
        yield f"127.0.0.1:{listening.getsockname()[1]}"
        listening.shutdown(socket.SHUT_RDWR)


REACHING = """
import sys
from vespe.tool_types import Context
from vespe.calls.sandboxing import Reach
from vespe.errors import AddressRefused

context = Context(project_root="/", directory="/", timeout_s=9)
for stated in sys.argv[2:]:
    host, _, _ = stated.partition(":")
    try:
        Reach((stated,), context).connect(host, int(sys.argv[1])).close()
        print(host, "reached")
    except AddressRefused as error:
        print(host, "refused")
"""


def test_a_name_that_begins_like_this_machine_is_judged_by_its_address(
    server: str, tmp_path: Path
) -> None:
    names = ("localhost.example", "127.example", "other.example")
    known = dict.fromkeys(("localhost", *names), "127.0.0.1")
    port = server.partition(":")[2]
    program = (sys.executable, "-c", REACHING, port, *names, "localhost", server)
    reached = subprocess.run(
        knowing(known, tmp_path, *program), capture_output=True, encoding="utf-8", check=True
    )
    assert reached.stdout.splitlines() == [
        *(f"{name} refused" for name in names),
        "localhost reached",
        "127.0.0.1 reached",
    ]


@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="this machine has no shared memory")
def test_a_call_has_a_temporary_directory_where_that_of_its_user_is_shared_memory(
    held: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = "import tempfile\nwith tempfile.TemporaryFile() as file:\n    return file.write(b'xy')"
    python_tool(tool(held, "p"), "p", body)
    for named in ("/dev/shm", "/dev/shm/."):
        monkeypatch.setenv("TMPDIR", named)
        outcome = run(held, "p")
        assert outcome.error is None and outcome.result == 2


INSTALLING = """
from vespe.calls.sandboxing import installing
from vespe.errors import Refused

for setting in ("require", "auto", "off"):
    try:
        with installing({}, written=[], setting=setting) as held:
            print(setting, held)
    except Refused as error:
        print(setting, error)
"""


def test_p60_nothing_is_installed_where_a_sandbox_is_required_and_there_is_none(
    home: Path,
) -> None:
    run = refusing(NO_LANDLOCK, sys.executable, "-c", INSTALLING)
    done = subprocess.run(run, capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.splitlines() == [
        "require your configuration requires a sandbox, but this machine has none",
        "auto None",
        "off None",
    ]


def test_what_is_built_of_a_package_reads_no_file_that_a_secret_is_kept_in(
    held: Path, home: Path
) -> None:
    kept, other = home / "plain-name", home / "other"
    for file in (kept, other):
        file.write_text("hunter2", encoding="utf-8")
    token = {"url": "https://a.example", "client_id": "i", "client_secret": {"ref": f"file:{kept}"}}
    user_config.set_value("secrets.TOKEN", {"token": token})
    with installing({"HOME": str(home)}, written=[], setting="require") as sandbox:
        done = [
            process.run(
                process.Command(
                    argv=("cat", str(file)),
                    cwd="/",
                    env=dict(os.environ),
                    timeout_s=60,
                    sandbox=sandbox,
                )
            )
            for file in (other, kept)
        ]
    assert [one.stdout for one in done] == [b"hunter2", b""]


@pytest.mark.parametrize(
    ("refused", "level"),
    [({}, machine().level), (NO_NAMESPACES, "landlock"), (NO_LANDLOCK, "off")],
)
def test_the_call_that_makes_the_first_environment_of_a_machine_runs_in_it(
    project: Path, home: Path, refused: dict[str, int], level: str
) -> None:
    wheel = f"{distribution(home, 'greeting')}-1.0-py3-none-any.whl"
    block = f'# /// script\n# dependencies = ["greeting @ file://{home / wheel}"]\n# ///\n'
    directory = python_tool(tool(project, "p"), "p", "import greeting\nreturn greeting.WORD")
    script = directory / "main.py"
    script.write_text(block + script.read_text("utf-8"), encoding="utf-8")
    command = [sys.executable, "-m", "vespe", "tool", "run", "p", "--json"]
    run = refusing(refused, *command) if refused else command
    done = subprocess.run(run, cwd=project, stdout=subprocess.PIPE, check=False)
    outcome = json.loads(done.stdout)
    assert (outcome.get("error"), outcome["sandbox"]["level"]) == (None, level)
    assert outcome["result"] == 1


FETCH = (
    "import urllib.request\nreturn urllib.request.urlopen('http://' + inputs['to'], "
    "timeout=9).read().decode()"
)
TO = {"type": "object", "properties": {"to": {"type": "string"}}}


@pytest.mark.skipif(
    machine().level != "namespaces", reason="hosts are told apart where there are namespaces"
)
def test_a_stated_host_is_reached_and_no_other(held: Path, server: str) -> None:
    python_tool(tool(held, "p"), "p", FETCH, permissions={"network": [server]}, schema=TO)
    python_tool(tool(held, "q"), "q", FETCH, permissions={"network": ["other.example"]}, schema=TO)
    python_tool(tool(held, "r"), "r", FETCH, permissions={"network": []}, schema=TO)
    assert run(held, "p", to=server).result == "hi"
    for name, line in (
        ("q", f'"network": ["other.example", "{server}"]'),
        ("r", f'"network": ["{server}"]'),
    ):
        error = run(held, name, to=server).error
        assert error is not None and error.code == "permission_denied" and line in error.hint


DIRECT = (
    "import socket\nsocket.create_connection(('192.0.2.1', 5432), timeout=9).close()\nreturn 'open'"
)


@pytest.mark.skipif(
    machine().level != "namespaces", reason="hosts are told apart where there are namespaces"
)
def test_a_stated_host_is_only_reached_through_the_proxy_and_the_hint_says_so(held: Path) -> None:
    python_tool(tool(held, "p"), "p", DIRECT, permissions={"network": ["192.0.2.1:5432"]})
    error = run(held, "p").error
    assert error is not None and error.code == "permission_denied"
    assert "can only be reached by HTTP and HTTPS" in error.hint
    assert 'remove "network" from the "permissions"' in error.hint
