"""States that a client brings back: forged, replayed, stretched and foreign ones, and honest twins.
A file that the tool writes to tells whether it ran.
"""

import base64
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import write_tool
from vespe import ToolRegistry, ask
from vespe.errors import Refused
from vespe.features.mcp.server import protocol, request_state, revisions, tool_call
from vespe.features.mcp.server.call_client import OnTheWay
from vespe.features.mcp.server.messages import ProtocolError
from vespe.features.mcp.server.protocol import PendingCall, ProtocolSession
from vespe.features.mcp.server.request_state import RequestState
from vespe.features.mcp.server.served_client import ServedClient
from vespe.features.mcp.server.tools import ServedTools
from vespe.projects import user_config
from vespe.projects.init import found_project
from vespe.projects.workspace import open_workspace

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[3] / "cases/mcp/request_states.json").read_text(encoding="utf-8")
)
META = {
    revisions.REVISION_KEY: revisions.NEWEST,
    revisions.CAPABILITIES_KEY: {"elicitation": {}},
}
MORE = {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}}
SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "more": MORE,
        "force": {"type": "boolean"},
    },
}
GIVEN = {"path": "one", "more": {"a": 1, "b": 2}}
YES = {"vespe/allow": {"action": "accept", "content": {"allow": True}}}
TOKEN = "token of this client"


class Door:
    """One server of a project, whose tools `put` and `other` each add a line to the file `ran`."""

    def __init__(self, root: Path, client: ServedClient) -> None:
        self.root, self.ran = root, root.parent / "ran"
        registry = ToolRegistry()
        for name in ("put", "other"):
            registry.register(self._put, name=name)
        registry.register(self._asking, name="asking")
        self.tools = ServedTools(open_workspace(root), registry=registry)
        self.session = ProtocolSession(client)
        self.older = False

    def _put(self, **inputs: Any) -> str:
        with open(self.ran, "a", encoding="utf-8") as file:
            file.write(json.dumps(inputs) + "\n")
        return "done"

    def _asking(self) -> str:
        return str(ask("Really?", name="vespe/allow"))

    @property
    def count(self) -> int:
        return len(self.ran.read_text(encoding="utf-8").splitlines()) if self.ran.exists() else 0

    def call(self, name: str = "put", arguments: Any = None, **more: Any) -> Any:
        params = {
            "name": name,
            "arguments": GIVEN if arguments is None else arguments,
            **({} if self.older else {"_meta": META}),
            **more,
        }
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        handled = protocol.handle(json.loads(json.dumps(message)), self.session, self.tools)
        if isinstance(handled, PendingCall):
            way = OnTheWay(notify=lambda message: None, cancel=threading.Event())
            handled = tool_call.run(handled, self.tools, way)
        assert isinstance(handled, dict)
        return handled.get("result", handled.get("error"))


def project(root: Path) -> Path:
    found_project(root)
    for name in ("put", "other"):
        write_tool(root / f".vespe/tools/tool-{name}", name, schema=SCHEMA)
    write_tool(root / ".vespe/tools/tool-asking", "asking")
    return root


@pytest.fixture
def door(home: Path, tmp_path: Path) -> Iterator[Door]:
    (tmp_path / "shop").mkdir()
    root = project(tmp_path / "shop")
    user_config.set_value("approvals.ask", ["put", "other"])
    made = Door(root, ServedClient(TOKEN))
    yield made
    made.tools.close()


def changed(text: str, part: int, at: int) -> str:
    pieces = [base64.urlsafe_b64decode(piece + "==") for piece in text.split(".")]
    data = bytearray(pieces[part])
    data[at] ^= 1
    pieces[part] = bytes(data)
    return ".".join(base64.urlsafe_b64encode(piece).rstrip(b"=").decode() for piece in pieces)


def rewritten(text: str, **fields: Any) -> str:
    payload, signature = text.split(".")
    said = json.loads(base64.urlsafe_b64decode(payload + "=="))
    said.update({key: value(said[key]) for key, value in fields.items()})
    made = base64.urlsafe_b64encode(json.dumps(said, separators=(",", ":")).encode())
    return f"{made.rstrip(b'=').decode()}.{signature}"


def of_another_key(text: str, door: Door) -> str:
    (key,) = Path(os.environ["XDG_STATE_HOME"]).rglob("asking/key")
    kept = key.read_bytes()
    key.write_bytes(bytes(32))
    made = str(door.call()["requestState"])
    key.write_bytes(kept)
    return made


def of_another_user(door: Door) -> str:
    other = str(door.root.parent / "another-state")
    shutil.copytree(os.environ["XDG_STATE_HOME"], other, ignore=shutil.ignore_patterns("asking"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", other)
        return str(door.call()["requestState"])


def expired(door: Door) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(request_state, "HOLDS_S", 0.01)
        made = str(door.call()["requestState"])
        time.sleep(0.02)
    return made


STATES: dict[str, Callable[[str, Door], Any]] = {
    "empty": lambda text, door: "",
    "flip payload": lambda text, door: changed(text, 0, 12),
    "flip payload end": lambda text, door: changed(text, 0, -1),
    "flip signature": lambda text, door: changed(text, 1, 0),
    "unsigned": lambda text, door: text.split(".")[0],
    "zeros": lambda text, door: f"{text.split('.')[0]}.{'A' * 43}",
    "dot": lambda text, door: f"{text.split('.')[0]}.",
    "cut": lambda text, door: text[:-4],
    "appended": lambda text, door: f"{text}-TAMPERED",
    "space": lambda text, door: f"{text} ",
    "padded": lambda text, door: f"{text}=",
    "swapped": lambda text, door: ".".join(reversed(text.split("."))),
    "other key": of_another_key,
    "approved": lambda text, door: rewritten(text, approved=lambda before: True),
    "stretched": lambda text, door: rewritten(text, until=lambda before: before + 3600),
    "renumbered": lambda text, door: rewritten(text, number=lambda before: "0" * 32),
    "long": lambda text, door: "A" * 1_000_000,
    "number": lambda text, door: 7,
    "of a question": lambda text, door: door.call("asking", {})["requestState"],
    "expired": lambda text, door: expired(door),
    "other user": lambda text, door: of_another_user(door),
}


def edit(path: Path, before: str, after: str) -> None:
    path.write_text(path.read_text(encoding="utf-8").replace(before, after), encoding="utf-8")


def prepare(how: str, state: str, door: Door) -> None:
    directory = door.root / ".vespe/tools/tool-put"
    if how == "edit the tool":
        edit(directory / "config.json", "written by hand", "written by another hand")
    elif how == "edit the description":
        edit(directory / "description.md", "A tool", "Another tool")
    elif how == "deny":
        user_config.set_value("approvals.deny", ["put"])
    elif how == "new key":
        (key,) = Path(os.environ["XDG_STATE_HOME"]).rglob("asking/key")
        key.unlink()
    elif how == "decline it":
        no = {"vespe/allow": {"action": "decline"}}
        assert door.call(requestState=state, inputResponses=no)["isError"] is True
    else:
        asked = (
            door
            if how.startswith("use it l") or how == "use it"
            else Door(door.root, ServedClient(TOKEN))
        )
        assert asked.call(requestState=state, inputResponses=YES)["content"][0]["text"] == "done"
        door.ran.unlink()
    if how == "use it long ago":
        (used,) = Path(os.environ["XDG_STATE_HOME"]).rglob("asking/used")
        for file in used.iterdir():
            os.utime(file, (time.time() - 7200,) * 2)
        request_state._sweep(str(used))


def client_of(how: str, door: Door, tmp_path: Path) -> Door:
    if how == "an older revision":
        door.older = True
        return door
    if how == "another session":
        return Door(door.root, ServedClient())
    if how == "another token":
        return Door(door.root, ServedClient("token of another client"))
    if how == "same token, another process":
        return Door(door.root, ServedClient(TOKEN))
    (tmp_path / "other").mkdir()
    return Door(project(tmp_path / "other"), ServedClient(TOKEN))


@pytest.mark.parametrize("case", CASES, ids=[case["says"] for case in CASES])
def test_p79_an_answer_is_good_once_for_that_call_alone(
    case: dict[str, Any], door: Door, tmp_path: Path
) -> None:
    asked = door.call()
    assert asked["resultType"] == "input_required" and door.count == 0
    state: Any = asked["requestState"]
    if "before" in case:
        prepare(case["before"], state, door)
    if case.get("state", "none") != "none":
        state = STATES[case["state"]](state, door)
    arguments: Any = case.get("arguments", GIVEN)
    given = {"inputResponses": case.get("responses", YES)}
    given |= {} if case.get("state") == "none" else {"requestState": state}
    by = client_of(case["client"], door, tmp_path) if "client" in case else door
    result = by.call(case.get("tool", "put"), arguments, **given)
    assert door.count == (1 if case.get("through") else 0), result
    if case.get("through"):
        assert result["content"][0]["text"] == "done"
        assert "already used" in by.call("put", arguments, **given)["message"]
        assert door.count == 1
    else:
        said = result.get("message") or result.get("content") or result["inputRequests"]
        assert said, "nobody is told why"


def test_p79_of_many_processes_that_bring_one_state_at_once_one_is_let_through(
    door: Door, tmp_path: Path
) -> None:
    text = request_state.seal(RequestState(approved=True), {"tool": "x"})
    program = (
        "import sys\n"
        "from vespe.features.mcp.server import request_state\n"
        "from vespe.features.mcp.server.messages import ProtocolError\n"
        "sys.stdin.readline()\n"
        "try: print(request_state.open_once(sys.argv[1], {'tool': 'x'}).approved)\n"
        "except ProtocolError as error: print(error.message)\n"
    )
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", program, text],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        for _ in range(4)
    ]
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    said = [worker.communicate()[0] for worker in workers]
    assert said.count("True\n") == 1 and sum("already used" in one for one in said) == 3


def test_a_state_holds_what_was_said_and_only_for_what_it_is_bound_to(home: Path) -> None:
    state = RequestState(
        asked="a", approved=True, answers={"k": {"digest": "d", "action": "accept", "content": {}}}
    )
    text = request_state.seal(state, {"b": 1, "a": 2})
    with pytest.raises(ProtocolError, match="another call, client or server"):
        request_state.open_once(text, {"b": 1, "a": 3})
    assert request_state.open_once(text, {"a": 2, "b": 1}) == state


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda key: key.chmod(0o644), "other users could read"),
        (lambda key: key.write_bytes(b"short"), "does not contain the key"),
        (lambda key: (key.unlink(), key.symlink_to("/dev/zero")), "other users could read"),
    ],
)
def test_a_key_that_is_not_ours_alone_signs_nothing_and_the_remedy_works(
    spoil: Callable[[Path], object], why: str, home: Path
) -> None:
    text = request_state.seal(RequestState(), {})
    (key,) = Path(os.environ["XDG_STATE_HOME"]).rglob("asking/key")
    assert key.stat().st_mode & 0o777 == 0o600 and len(key.read_bytes()) == 32
    spoil(key)
    for work in (
        lambda: request_state.seal(RequestState(), {}),
        lambda: request_state.open_once(text, {}),
    ):
        with pytest.raises(Refused, match=why) as caught:
            work()
    remedy = caught.value.hint.partition("rm ")[2]
    Path(remedy).unlink()
    request_state.open_once(request_state.seal(RequestState(), {}), {})


def test_numbers_of_states_that_expired_are_swept(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_state, "_EACH", 1)
    for _ in range(2):
        request_state.open_once(request_state.seal(RequestState(), {}), {})
    (place,) = Path(os.environ["XDG_STATE_HOME"]).rglob("asking/used")
    assert len(list(place.iterdir())) == 2
    old = time.time() - 2 * 24 * 3600
    for file in place.iterdir():
        os.utime(file, (old, old))
    request_state.open_once(request_state.seal(RequestState(), {}), {})
    assert len(list(place.iterdir())) == 1
