"""Policies that are made once, for as long as they would be made the same."""

import json
import operator
import os
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import PATIENCE_S, python_tool
from vespe import Project
from vespe.calls.kept_policies import policy_for
from vespe.calls.sandboxing import machine
from vespe.files import locations
from vespe.files.private_copy import private_directory
from vespe.models import Permissions
from vespe.processes import supervisor
from vespe.processes.sandbox.held import Policy
from vespe.processes.sandbox.levels import Machine
from vespe.processes.sandbox.policy import ToolSurroundings, policy
from vespe.projects import user_config

BEST = Machine(landlock=7, namespaces=0, processes=0, filter=0)
KEY = ".config/gh"


def connect(host: str, port: int) -> Any:
    raise ConnectionError(f"{host}:{port}")


@pytest.fixture
def where(home: Path) -> ToolSurroundings:
    root = home.parent
    for name in ("project/.vespe", "project/.git", "project/docs", "tool", "bin", "lib"):
        (root / name).mkdir(parents=True)
    for name in (".ssh", ".config/app", "notes", ".local/share"):
        (home / name).mkdir(parents=True)
    (root / "project/data").symlink_to("docs")
    (root / "bin/program").write_text("#!/bin/sh\n", encoding="utf-8")
    (root / "bin/program").chmod(0o755)
    time.sleep(0.15)  # what changed just now is never believed
    return ToolSurroundings(
        project=str(root / "project"),
        directory=str(root / "tool"),
        scratch="",
        path=f"{root}/bin:/usr/bin:/bin",
        needs=(str(root / "lib"),),
        own=(str(home / "state"),),
    )


def made(where: ToolSurroundings, level: str = "namespaces", **stated: Any) -> Policy:
    with private_directory() as scratch:
        return policy_for(
            BEST, level, Permissions(**stated), replace(where, scratch=scratch), connect=connect
        )


def plain(one: Policy) -> dict[str, Any]:
    """A policy's message, with what has no order in an order."""
    found = dict(one.message) | {"rules": sorted(set(one.message["rules"]))}
    if one.message["namespaces"]:
        found["namespaces"] = {
            key: sorted(value) if isinstance(value, list) else value
            for key, value in one.message["namespaces"].items()
            if key != "hidden"
        }
    return found


def hidden(one: Policy) -> set[bytes]:
    return set((one.message["namespaces"] or {"hidden": ()})["hidden"])


def is_the_same(where: ToolSurroundings, level: str = "namespaces", **stated: Any) -> bool:
    """Whether what is kept is what would be made now. Other tests work in the directories above this
    one, so it is asked at a moment when they do nothing, and again where one of them was seen only
    in between: what is stale stays so.
    """
    given = Permissions(**stated)
    unequal = 0
    for _ in range(200):
        with private_directory() as scratch:
            here = replace(where, scratch=scratch)
            anew = policy(BEST, level, given, here, connect=connect)
            kept = policy_for(BEST, level, given, here, connect=connect)
            again = policy(BEST, level, given, here, connect=connect)
        if plain(anew) == plain(again):
            names = ("gaps", "root", "stated", "leads", "own", "environment", "connect")
            same = all(getattr(kept, name) == getattr(anew, name) for name in names)
            # what was covered when it was made is covered still
            if same and plain(kept) == plain(anew) and hidden(kept) >= hidden(anew):
                return True
            unequal += 1
            if unequal == 3:
                return False
    raise AssertionError("the file system is never at rest")


STATED: list[dict[str, Any]] = [
    {},
    {"read": ("docs",), "write": ("docs",), "network": ()},
    {"write": ("~",)},
    {"programs": ("program",), "network": ("example.com",)},
    {"sockets": ("/run/none",), "memory_mb": 64},
]


@pytest.mark.parametrize("level", ["namespaces", "landlock"])
@pytest.mark.parametrize("stated", STATED, ids=str)
def test_what_is_kept_is_what_would_be_made(
    where: ToolSurroundings, level: str, stated: dict[str, Any]
) -> None:
    assert all(is_the_same(where, level, **stated) for _ in range(3))


def test_the_next_call_gets_what_was_made_before(where: ToolSurroundings) -> None:
    # Who else is at work beside the home directory of a test makes others of them.
    pairs = ((made(where), made(where)) for _ in range(50))
    assert any(one.shared is not None and one.shared is other.shared for one, other in pairs)


def test_a_tool_that_runs_from_a_copy_gets_its_own_copy(where: ToolSurroundings) -> None:
    shared = []
    for _ in range(50):
        with private_directory() as scratch, private_directory() as copied:
            tool = os.path.join(copied, "tool-x")
            os.mkdir(tool)
            here = replace(where, scratch=scratch, directory=tool)
            one = policy_for(BEST, "namespaces", Permissions(read=()), here, connect=connect)
        rules = {path for path, _ in one.message["rules"]}
        assert {path for path in rules if b"/.vespe-" in path} == {
            os.fsencode(tool),
            os.fsencode(scratch),
        }
        shared.append(one.shared)
    assert None not in shared and any(map(operator.is_, shared, shared[1:]))


def _replace(path: Path, *directories: str) -> None:
    path.rename(path.with_name("was"))
    for name in (".", *directories):
        (path / name).mkdir(parents=True)


def _link(path: Path, target: str) -> None:
    path.unlink()
    path.symlink_to(target)


CHANGES: dict[str, Callable[[Path], object]] = {
    "a name in a home that is given in parts": lambda root: (root / "home/new").touch(),
    "a directory there becomes a protected place": lambda root: (root / "home/notes").rename(
        root / "home/.aws"
    ),
    "one deeper does": lambda root: (root / "home/.config/app").rename(root / "home" / KEY),
    "a protected place is made late": lambda root: (root / "home/.netrc").touch(),
    "one is replaced": lambda root: _replace(root / "home/.ssh"),
    "a directory in a home is replaced": lambda root: _replace(root / "home/notes"),
    "a repository of the project is replaced": lambda root: _replace(root / "project/.git"),
    "another one is made": lambda root: (root / "project/.hg").mkdir(),
    "a stated place is replaced": lambda root: _replace(root / "project/docs"),
    "a stated link leads elsewhere": lambda root: _link(root / "project/data", ".."),
    "the project is replaced": lambda root: _replace(root / "project", "docs", ".vespe"),
    "the tool's directory is replaced": lambda root: _replace(root / "tool"),
    "what the interpreter needs is replaced": lambda root: _replace(root / "lib"),
    "a directory on PATH is replaced": lambda root: _replace(root / "bin"),
    "Vespe's own state is made": lambda root: (root / "home/state").mkdir(),
    "the home is replaced": lambda root: _replace(root / "home"),
}


@pytest.mark.parametrize("looks", [1, 80], ids=["looked at", "watched"])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_at_any_difference_it_is_made_anew(
    where: ToolSurroundings, home: Path, change: Callable[[Path], object], looks: int
) -> None:
    stated: dict[str, Any] = {"write": ("docs", "data")}
    # Who else is at work beside the home directory of a test makes others of them.
    before = [made(where, **stated) for _ in range(looks)][-1]
    change(home.parent)
    after = made(where, **stated)
    assert after.shared is not before.shared
    assert before.shared is not None and not before.shared.is_valid
    assert is_the_same(where, **stated)


def test_what_is_stated_and_what_is_set_make_another_one(
    where: ToolSurroundings, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_SOCKET", "/run/a")
    first = made(where, sockets=("$A_SOCKET",))
    others: list[Policy] = [
        made(where, sockets=("$A_SOCKET", "/run/b")),
        made(replace(where, path="/usr/bin"), sockets=("$A_SOCKET",)),
        made(replace(where, kept=("/x/.git",)), sockets=("$A_SOCKET",)),
        made(where, "landlock", sockets=("$A_SOCKET",)),
    ]
    monkeypatch.setenv("A_SOCKET", "/run/c")
    others.append(made(where, sockets=("$A_SOCKET",)))
    monkeypatch.setenv("HOME", str(home.parent))
    others.append(made(where, sockets=("$A_SOCKET",)))
    assert len({id(one.shared) for one in (first, *others)}) == 7


def test_a_socket_that_begins_to_listen_is_covered_in_the_next_call(
    world: Path, home: Path
) -> None:
    body = """
import socket
import tempfile
with socket.socket(socket.AF_UNIX) as one:
    try:
        one.connect(inputs["path"])
    except OSError as error:
        return error.strerror
return "connected"
"""
    path = str(home / "notes/s")
    schema = {"type": "object", "additionalProperties": True}
    python_tool(world / ".vespe/tools/tool-c", "c", body, schema=schema)
    stated = {"sockets": [path]}
    python_tool(world / ".vespe/tools/tool-d", "d", body, schema=schema, permissions=stated)
    with Project(world, trusted=True) as opened:
        assert {opened.call("c", path=path).unwrap() for _ in range(4)} == {
            "No such file or directory"
        }
        opened.call("d", path=path).unwrap()
        for _ in range(2):
            with socket.socket(socket.AF_UNIX) as one:
                one.bind(path)
                one.listen()
                found = opened.call("c", path=path).unwrap()
                assert (found == "connected") == (machine().level == "landlock")
                assert opened.call("d", path=path).unwrap() == "connected"
            os.unlink(path)


def test_each_call_has_its_own_refusals_and_connections(where: ToolSurroundings) -> None:
    one, other = (made(where, network=("example.com",)) for _ in range(2))
    one.refusals.append(("network", "a:1"))
    assert not other.refusals and other.connect is connect
    assert one.shared is None  # what listens for a proxy is one call's


LOOK = """
import os, subprocess
if inputs["do"] == "read":
    return open(os.path.expanduser(inputs["path"])).read()
if inputs["do"] == "write":
    with open(os.path.expanduser(inputs["path"]), "a") as file:
        return file.write("x")
if inputs["do"] == "start":
    return subprocess.run([inputs["path"]], capture_output=True, text=True, check=True).stdout
return sorted(os.listdir(os.path.expandvars(inputs["path"])))
"""
ASKED = {"type": "object", "properties": {"do": {"type": "string"}, "path": {"type": "string"}}}


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A directory in one where no other test works: a policy is made anew, and waiting processes
    end, where something appears beside a directory that leads to the home.
    """
    with tempfile.TemporaryDirectory(dir="/var/tmp") as directory:
        yield Path(directory).resolve()


_beside: set[int] = set()
"""Processes of tests before, such as a browser's, which has others below it too."""


@pytest.fixture(params=["namespaces", "landlock"])
def world(
    request: pytest.FixtureRequest, project: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A project, a home with a few things, and a machine with this level of a sandbox."""
    _beside.clear()
    _beside.update(supervisor.children(os.getpid()))
    best = machine().level
    if best == "off" or (best == "landlock" and request.param == "namespaces"):
        pytest.skip(f"this machine has no {request.param}")
    said = (Path(locations.user_cache_dir()) / "sandbox").read_text("ascii")
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / f"cache-{request.param}"))
    kept = Path(locations.user_cache_dir()) / "sandbox"
    kept.parent.mkdir(parents=True)
    if request.param == "landlock":
        said = said.replace("namespaces=0", "namespaces=1").replace("processes=0", "processes=1")
    kept.write_text(said, encoding="ascii")
    user_config.set_value("sandbox", "auto")
    for name in ("notes", ".ssh", ".config/app", "bin"):
        (home / name).mkdir(parents=True)
        (home / name / "file").write_text(name, encoding="utf-8")
    for name in ("docs", "more"):
        (project / name).mkdir()
        (project / name / "file").write_text(name, encoding="utf-8")
    (project / "link").symlink_to("docs")
    (home / "bin/hello").write_text("#!/bin/sh\necho one\n", encoding="utf-8")
    (home / "bin/hello").chmod(0o755)
    monkeypatch.setenv("PATH", f"{home}/bin:{os.environ['PATH']}")
    tools = project / ".vespe/tools"
    python_tool(tools / "tool-open", "open_", LOOK, schema=ASKED)
    stated = {"read": ["docs", "link"], "write": ["docs"], "programs": ["hello"]}
    python_tool(tools / "tool-stated", "stated", LOOK, schema=ASKED, permissions=stated)
    assert machine().level == request.param
    return project


def _edit(world: Path, tool: str, **keys: Any) -> None:
    path = world / f".vespe/tools/tool-{tool}/config.json"
    said = json.loads(path.read_text("utf-8")) | keys
    path.write_text(json.dumps(said), encoding="utf-8")


def _rename(world: Path, tool: str, name: str) -> None:
    tools = world / ".vespe/tools"
    (tools / f"tool-{tool}").rename(tools / f"tool-{name}")
    _edit(world, name, uid=f"tool-{name}")


def _write(path: Path, text: str) -> None:
    """Put a file with another text in the place of one."""
    aside = path.with_name("aside")
    aside.write_text(text, encoding="utf-8")
    aside.chmod(0o755)
    aside.rename(path)


def _fill(path: Path, text: str) -> None:
    """Put a directory with one file in the place of one."""
    path.rename(path.with_name("was"))
    path.mkdir()
    (path / "file").write_text(text, encoding="utf-8")


NO = ("permission_denied", "tool_error")
# what is done between two calls, the second one, and what comes of that
ASKS: dict[str, tuple[Callable[[Path, Path], object], tuple[str, str, str], object]] = {
    "a directory becomes a key's": (
        lambda home, _: (home / "notes").rename(home / ".aws"),
        ("open_", "read", "~/.aws/file"),
        NO,
    ),
    "one deeper does": (
        lambda home, _: (home / ".config/app").rename(home / ".config/gh"),
        ("open_", "read", "~/.config/gh/file"),
        NO,
    ),
    "a key's directory is replaced": (
        lambda home, _: _fill(home / ".ssh", "new"),
        ("open_", "read", "~/.ssh/file"),
        NO,
    ),
    "a key is made late": (
        lambda home, _: (home / ".netrc").write_text("k", encoding="utf-8"),
        ("open_", "read", "~/.netrc"),
        NO,
    ),
    "what is no key is made late": (
        lambda home, _: (home / "late").write_text("l", encoding="utf-8"),
        ("open_", "read", "~/late"),
        "l",
    ),
    "what is no key is replaced": (
        lambda home, _: _fill(home / "notes", "new"),
        ("open_", "read", "~/notes/file"),
        "new",
    ),
    "a repository is made": (
        lambda _, world: (world / ".hg").mkdir(),
        ("open_", "write", ".hg/file"),
        NO,
    ),
    "a stated directory is replaced": (
        lambda _, world: _fill(world / "docs", "new"),
        ("stated", "read", "docs/file"),
        "new",
    ),
    "what was one is read no more": (
        lambda _, world: _fill(world / "docs", "new"),
        ("stated", "read", "was/file"),
        NO,
    ),
    "a stated link leads elsewhere": (
        lambda _, world: _link(world / "link", "more"),
        ("stated", "read", "link/file"),
        "more",
    ),
    "it leads out": (
        lambda home, world: _link(world / "link", str(home / "notes")),
        ("stated", "read", "link/file"),
        NO,
    ),
    "a stated program is replaced": (
        lambda home, _: _write(home / "bin/hello", "#!/bin/sh\necho two\n"),
        ("stated", "start", "hello"),
        "two\n",
    ),
    "less is stated": (
        lambda _, world: _edit(world, "stated", permissions={"read": ["more"], "write": []}),
        ("stated", "read", "docs/file"),
        NO,
    ),
    "more is stated": (
        lambda _, world: _edit(world, "stated", permissions={"read": ["more"]}),
        ("stated", "read", "more/file"),
        "more",
    ),
    "a key is stated": (
        lambda _, world: _edit(world, "open", permissions={"read": ["~/.ssh"]}),
        ("open_", "read", "~/.ssh/file"),
        ".ssh",
    ),
    "the code is another": (
        lambda _, world: _write(
            world / ".vespe/tools/tool-open/main.py", "def open_(**inputs):\n    return 7\n"
        ),
        ("open_", "read", "~/.ssh/file"),
        7,
    ),
    "the sandbox is switched off": (
        lambda *_: user_config.set_value("sandbox", "off"),
        ("open_", "read", "~/.ssh/file"),
        ".ssh",
    ),
    "the project says that it is": (
        lambda _, world: (world / ".vespe/config.json").write_text(
            '{"sandbox": "require"}', encoding="utf-8"
        ),
        ("open_", "read", "~/.ssh/file"),
        NO,
    ),
    "the tool moves": (
        lambda _, world: _rename(world, "open", "other"),
        ("open_", "read", "~/notes/file"),
        "notes",
    ),
    "nothing": (lambda *_: None, ("open_", "read", "~/.ssh/file"), NO),
}


@pytest.mark.parametrize(("change", "asked", "said"), ASKS.values(), ids=ASKS)
def test_a_call_is_held_to_what_is_now(
    world: Path,
    home: Path,
    change: Callable[[Path, Path], object],
    asked: tuple[str, str, str],
    said: object,
) -> None:
    name, do, path = asked
    if path == ".hg/file" and machine().level == "landlock":
        pytest.skip("Landlock alone cannot take a directory out of one that is written")
    with Project(world, trusted=True) as opened:
        for _ in range(4):
            assert opened.call("open_", do="read", path="~/notes/file").unwrap() == "notes"
            assert opened.call("stated", do="read", path="docs/file").unwrap() == "docs"
            assert opened.call("stated", do="start", path="hello").unwrap() == "one\n"
        change(home, world)
        outcome = opened.call(name, do=do, path=path)
        error = outcome.error.code if outcome.error else None
        assert error in said if said is NO else (error, outcome.result) == (None, said)


def test_nothing_of_a_call_is_there_in_the_next(world: Path) -> None:
    level = machine().level
    places = ["$TMPDIR", *(["/dev/shm", "/tmp"] if level == "namespaces" else [])]
    leave = """
import os
for place in map(os.path.expandvars, inputs["places"]):
    try:
        open(os.path.join(place, "left"), "w").close()
    except OSError:
        continue
return os.environ["TMPDIR"]
"""
    python_tool(
        world / ".vespe/tools/tool-leave",
        "leave",
        leave,
        schema={"type": "object", "additionalProperties": True},
    )
    with Project(world, trusted=True) as opened:
        before = [opened.call("leave", places=places).unwrap() for _ in range(3)]
        assert len(set(before)) == 3
        assert opened.call("open_", do="list", path="$TMPDIR").unwrap() == []
        if level == "namespaces":
            assert opened.call("open_", do="list", path="/dev/shm").unwrap() == []
            assert "left" not in opened.call("open_", do="list", path="/tmp").unwrap()
            beside = os.path.dirname(before[0])
            seen = opened.call("open_", do="list", path=beside).unwrap()
            assert len([one for one in seen if ".vespe-" in one]) == 1
            assert not {os.path.basename(one) for one in before} & set(seen)


ALIKE = """
import ctypes, os, subprocess

def told(place):
    if not os.path.isdir(place):
        return None
    status = os.stat(place)
    return [
        oct(status.st_mode),
        status.st_uid,
        status.st_gid,
        sorted(os.listdir(place)),
        [[name, os.getxattr(place, name).decode()] for name in os.listxattr(place)],
        status.st_mtime_ns < 10**18,
        subprocess.run(["lsattr", "-d", place], capture_output=True, text=True).stdout[:22]
        if inputs["flags"]
        else "",
    ]

def queued():
    found = ctypes.CDLL(None, use_errno=True).msgget(4711, 0o600)
    return found >= 0

place = inputs["place"].replace("$TMPDIR", os.environ["TMPDIR"])
if inputs["leave"] == "look":  # which changes its times
    return [told(place), queued()]
exec(inputs["leave"], {"os": os, "subprocess": subprocess, "ctypes": ctypes, "place": place})
return os.environ["TMPDIR"]
"""
LEFT = {
    "a file": "open(place + '/left', 'w').close()",
    "a file that is gone": "open(place + '/x', 'w').close(); os.remove(place + '/x')",
    "a directory": "os.makedirs(place + '/a/b')",
    "a link": "os.symlink('/', place + '/link')",
    "a pipe": "os.mkfifo(place + '/pipe')",
    "a mode": "os.chmod(place, 0o711)",
    "a time": "os.utime(place, (1, 1))",
    "an attribute": "os.setxattr(place, 'user.left', b'1')",
    "a flag": "subprocess.run(['chattr', '+d', place], check=True)",
}


@pytest.mark.parametrize("left", LEFT)
@pytest.mark.parametrize("place", ["$TMPDIR", "/dev/shm"])
def test_what_a_call_leaves_on_its_directories_is_not_there_in_the_next(
    world: Path, place: str, left: str
) -> None:
    if place == "/dev/shm" and machine().level == "landlock":
        pytest.skip("Landlock alone cannot make shared memory for each call")
    flags = left == "a flag" and bool(shutil.which("lsattr") and shutil.which("chattr"))
    if left == "a flag" and not flags:
        pytest.skip("e2fsprogs, which has lsattr and chattr, is not installed")
    schema = {"type": "object", "additionalProperties": True}
    python_tool(world / ".vespe/tools/tool-alike", "alike", ALIKE, schema=schema)
    with Project(world, trusted=True) as opened:

        def call(leave: str) -> Any:
            outcome = opened.call("alike", place=place, leave=leave, flags=flags)
            assert outcome.ok, outcome.error
            return outcome.result

        first = call("look")
        for leave in ("", LEFT[left], "", "", LEFT[left]):
            call(leave)
            if leave:
                assert call("look") == first


def test_files_without_a_name_are_not_counted_in_the_next_call(world: Path) -> None:
    if machine().level == "landlock":
        pytest.skip("Landlock alone cannot make shared memory for each call")
    body = """
import os
number = 0
for _ in range(inputs["times"]):
    file = os.open("/dev/shm", os.O_TMPFILE | os.O_RDWR, 0o600)
    number = os.fstat(file).st_ino
    os.close(file)
return number
"""
    schema = {"type": "object", "additionalProperties": True}
    python_tool(world / ".vespe/tools/tool-count", "count", body, schema=schema)
    with Project(world, trusted=True) as opened:
        for times in (0, 0, 1000, 1, 0, 1000, 1):
            found = opened.call("count", times=times).unwrap()
            assert times != 1 or found < 1000


def test_a_tool_that_may_write_where_they_lie_leaves_nothing_in_those_of_others(
    world: Path,
) -> None:
    schema = {"type": "object", "additionalProperties": True}
    plant = "import os\nopen(os.path.join(inputs['at'], 'planted'), 'w').close()"
    permissions = {"write": [".", "/tmp"]}
    directory = world / ".vespe/tools/tool-plant"
    python_tool(directory, "plant", plant, schema=schema, permissions=permissions)
    where = "import os\nreturn os.environ['TMPDIR']"
    python_tool(world / ".vespe/tools/tool-where", "where", where)
    with Project(world, trusted=True) as opened:
        waiting = {opened.call("where").unwrap() for _ in range(3)}
        for one in filter(os.path.exists, waiting):
            opened.call("plant", at=one).unwrap()
            assert os.listdir(one) == ["planted"]
        assert opened.call("where").unwrap() not in waiting
        assert not any(map(os.path.exists, waiting))


@pytest.mark.parametrize("target", ["link", "directory"])
def test_what_others_put_at_its_path_is_not_kept_for_the_next_call(
    world: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    if machine().level == "landlock":
        pytest.skip("Landlock alone mounts nothing")
    (world / ".git").mkdir()
    body = """
import os, time
if inputs.get("waits"):
    open("begun", "w").close()
    while not os.path.exists("go"):
        time.sleep(0.01)
if inputs.get("leaves"):
    open(os.path.join(os.environ["TMPDIR"], "left"), "w").close()
found = {"at": os.environ["TMPDIR"], "inode": os.stat(os.environ["TMPDIR"]).st_ino}
try:
    open(os.path.join(inputs["project"], ".git/planted"), "w").close()
    found["planted"] = True
except OSError:
    found["planted"] = False
return found
"""
    schema = {"type": "object", "additionalProperties": True}
    python_tool(world / ".vespe/tools/tool-tries", "tries", body, schema=schema)
    shared = tempfile.mkdtemp(dir="/tmp")
    aside = f"{shared}-aside"
    monkeypatch.setenv("TMPDIR", shared)
    with Project(world, trusted=True) as opened, ThreadPoolExecutor(1) as other:

        def call(**inputs: Any) -> Any:
            return opened.call("tries", project=str(world), **inputs).unwrap()

        time.sleep(0.15)  # what changed just now is never believed
        for leaves in (False, False, True):
            call(leaves=leaves)
            _spare()
        first = other.submit(call, waits=True)
        _until(lambda: (world / "begun").exists())
        (name,) = os.listdir(shared)
        inode = os.stat(os.path.join(shared, name)).st_ino
        os.rename(shared, aside)
        os.mkdir(shared)
        if target == "link":
            os.symlink(world / ".git", os.path.join(shared, name))
        else:
            os.mkdir(os.path.join(shared, name))
        (world / "go").touch()
        assert not first.result()["planted"]
        _spare()
        shutil.rmtree(shared)
        os.rename(aside, shared)
        second = call()
        assert not second["planted"]
        assert os.path.basename(second["at"]) != name or second["inode"] == inode
    os.rmdir(shared)


@pytest.mark.parametrize("end", ["exit", "SIGTERM", "SIGKILL"])
def test_no_directory_is_left_by_a_process_that_ends_at_once(
    world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    place = tmp_path / "temporary"  # where nobody else tidies
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    where = "import os\nreturn os.environ['TMPDIR']"
    python_tool(world / ".vespe/tools/tool-where", "where", where)
    ours, theirs = os.pipe()
    with open(ours, encoding="utf-8") as said:
        pid = os.fork()
        if pid == 0:
            try:
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
                with Project(world, trusted=True) as opened:
                    found = [opened.call("where").unwrap() for _ in range(3)]
                    os.write(theirs, "".join(f"{path}\n" for path in found).encode())
                    if end != "exit":
                        os.kill(os.getpid(), getattr(signal, end))
                        time.sleep(PATIENCE_S)
                    os._exit(0)
            finally:
                os._exit(0)
        os.close(theirs)
        assert os.waitpid(pid, 0)[0] == pid
        found = said.read().split()
    assert len(found) == 3
    _until(lambda: not os.listdir(place))


def test_no_directory_waits_once_nobody_would_delete_it(
    world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    where = "import os\nreturn os.environ['TMPDIR']"
    python_tool(world / ".vespe/tools/tool-where", "where", where)
    before = {*supervisor.children(os.getpid())}
    with Project(world, trusted=True) as opened:
        for _ in range(2):
            for _ in range(3):
                opened.call("where").unwrap()
            for zygote in {*supervisor.children(os.getpid())} - before:
                os.kill(zygote, signal.SIGKILL)
            _until(lambda: not os.listdir(place))


def test_the_next_directory_lies_where_the_user_wants_it_now(
    world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = "import os\nreturn os.environ['TMPDIR']"
    python_tool(world / ".vespe/tools/tool-where", "where", where)
    with Project(world, trusted=True) as opened:
        opened.call("where").unwrap()
        monkeypatch.setenv("TMPDIR", str(tmp_path))
        assert os.path.dirname(opened.call("where").unwrap()) == str(tmp_path)


def test_messages_of_a_call_are_not_there_in_the_next(world: Path) -> None:
    if machine().level == "landlock":
        pytest.skip("Landlock alone has no System V IPC of its own for each call")
    schema = {"type": "object", "additionalProperties": True}
    python_tool(world / ".vespe/tools/tool-alike", "alike", ALIKE, schema=schema)
    leave = "ctypes.CDLL(None).msgget(4711, 0o1600)"
    with Project(world, trusted=True) as opened:
        for do in ("", leave, "look", "", leave, "look"):
            found = opened.call("alike", place="$TMPDIR", leave=do, flags=False).unwrap()
            assert do != "look" or found[1] is False


def test_a_directory_that_no_call_has_used_is_the_next_ones_too(world: Path) -> None:
    where = "import os\nreturn os.environ['TMPDIR']"
    python_tool(world / ".vespe/tools/tool-where", "where", where)
    python_tool(world / ".vespe/tools/tool-fails", "fails", "raise ValueError(1)")
    with Project(world, trusted=True) as opened:
        found = {opened.call("where").unwrap() for _ in range(8)}
        assert (len(found) < 8) == (machine().level == "namespaces")
        kept = [path for path in found if os.path.exists(path)]
        for _ in range(3):
            assert not opened.call("fails").ok
            assert {path for path in found if os.path.exists(path)} == {*kept}
    assert not any(map(os.path.exists, found))


def test_two_callers_at_a_time_have_each_their_own(world: Path) -> None:
    body = """
import os, time
place = os.environ["TMPDIR"]
open(os.path.join(place, "mine"), "w").write(str(inputs["number"]))
time.sleep(0.05)
return [open(os.path.join(place, "mine")).read(), sorted(os.listdir(place))]
"""
    python_tool(
        world / ".vespe/tools/tool-own",
        "own",
        body,
        schema={"type": "object", "additionalProperties": True},
    )
    with Project(world, trusted=True) as opened, ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda number: opened.call("own", number=number).unwrap(), range(24)))
    assert found == [[str(number), ["mine"]] for number in range(24)]


def test_few_processes_are_kept_for_policies_and_none_for_what_is_no_more(
    world: Path, home: Path
) -> None:
    tools = [f"t{number}" for number in range(12)]
    for number, name in enumerate(tools):
        directory = world / f".vespe/tools/tool-{name}"
        python_tool(directory, name, "return 1", permissions={"memory_mb": 100 + number})
    before = len(supervisor.below(os.getpid()))
    with Project(world, trusted=True) as opened:
        assert [opened.call(name).unwrap() for name in tools] == [1] * 12
        # a zygote, nine supervisors, and the processes of two calls to come
        _until(lambda: len(supervisor.below(os.getpid())) - before <= 12)
        (home / "late").touch()
        for _ in range(3):
            assert opened.call("t0").unwrap() == 1
            time.sleep(0.2)
        _until(lambda: len(supervisor.below(os.getpid())) - before <= 12)
    _until(lambda: len(supervisor.below(os.getpid())) <= before)


BORN = """
with open("/proc/self/stat") as file:
    return file.read().rpartition(")")[2].split()[19]
"""


def _born(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19]


def _spares() -> list[int]:
    """The processes that wait for calls: below a zygote and its supervisors."""
    children = supervisor.children
    zygotes = {*children(os.getpid())} - _beside
    supervisors = [one for zygote in zygotes for one in children(zygote)]
    return [one for kept in supervisors for one in children(kept)]


def _spare() -> int:
    _until(lambda: len(_spares()) == 1)
    return _spares()[0]


def test_the_process_of_the_next_call_is_there_before_it_and_serves_one_alone(world: Path) -> None:
    python_tool(world / ".vespe/tools/tool-born", "born", BORN)
    with Project(world, trusted=True) as opened:
        opened.call("born").unwrap()
        used = 0
        for _ in range(20):
            waiting = _spare()
            was = _born(waiting)
            is_used = opened.call("born").unwrap() == was
            used += is_used
            # One that another was made in place of is gone before there is one alone again.
            assert not is_used or not os.path.exists(f"/proc/{waiting}")
        # Others at work beside the home directory of a test may have made another of some.
        assert used >= 10


def test_a_spare_that_is_killed_costs_no_call(world: Path) -> None:
    with Project(world, trusted=True) as opened:
        for _ in range(3):
            outcome = opened.call("open_", do="read", path="~/notes/file")
            assert (outcome.unwrap(), outcome.notes) == ("notes", ())
            os.kill(_spare(), signal.SIGKILL)


def test_there_are_two_spares_at_most_and_none_for_what_is_no_more(world: Path, home: Path) -> None:
    for number in range(4):
        stated = {"memory_mb": 100 + number}
        directory = world / f".vespe/tools/tool-t{number}"
        python_tool(directory, f"t{number}", "return 1", permissions=stated)
    with Project(world, trusted=True) as opened:
        # what changed just now is never believed, and others are at work around a test
        _until(lambda: _called(opened, range(4)) and len(_spares()) == 2)
        before = {*_spares()}
        (home / "late").touch()
        _until(lambda: _called(opened, (2, 3)) and len(_spares()) == 2)
        assert not {*_spares()} & before
    _until(lambda: not _spares())


def _called(opened: Project, numbers: Iterable[int]) -> bool:
    assert {opened.call(f"t{number}").unwrap() for number in numbers} == {1}
    time.sleep(0.1)
    return True


def _until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_what_a_call_plants_for_other_programs_is_told_by_that_call(world: Path) -> None:
    leave = "import os\nif inputs['name']:\n    open(inputs['name'], 'w').close()\nreturn 1"
    schema = {"type": "object", "additionalProperties": True}
    python_tool(world / ".vespe/tools/tool-plant", "plant", leave, schema=schema)
    with Project(world, trusted=True) as opened:
        for name, told in (("", 0), ("", 0), (".envrc", 1), (".envrc", 0), ("other", 0)):
            notes = opened.call("plant", name=name).notes
            assert sum(note.startswith(".envrc is new") for note in notes) == told
