"""Who shares a session, how many are kept, and that nothing of them is left."""

import gc
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.http_serving import serving, stocked
from tests.support.kept_sessions import Client
from tests.support.mcp_servers import Quick
from tests.support.ondisk import PATIENCE_S, interruptible
from vespe import errors
from vespe.tools import mcp_definitions
from vespe.types.mcp_tool import exchange
from vespe.types.mcp_tool import sessions as mcp_sessions
from vespe.types.mcp_tool.exchange import Server, Surroundings
from vespe.types.mcp_tool.sessions import Sessions


def test_one_server_with_another_environment_is_another_server(tmp_path: Path) -> None:
    server = Quick(tmp_path / "server")
    with Sessions() as sessions:
        one, other = Client(server, sessions, TOKEN="one"), Client(server, sessions, TOKEN="other")
        assert one.call("says", text="") == "one" and other.call("says", text="") == "other"
        assert (
            one.call("pid") != other.call("pid") and one.call("count") == other.call("count") == "1"
        )


def test_the_session_that_was_not_used_for_longest_goes_where_there_are_too_many(
    tmp_path: Path,
) -> None:
    server = Quick(tmp_path / "server")
    with Sessions(most=2) as sessions:
        clients = [Client(server, sessions, TOKEN=str(number)) for number in range(3)]
        first, second = clients[0].call("pid"), clients[1].call("pid")
        assert clients[0].call("pid") == first
        clients[2].call("pid")
        until = time.monotonic() + PATIENCE_S
        while any(line.split()[0] == second.split()[0] for line in server.processes()):
            assert time.monotonic() < until
        assert clients[0].call("pid") == first and len(server.processes()) == 2


def test_an_idle_session_ends_and_the_next_call_opens_another(tmp_path: Path) -> None:
    with Client(Quick(tmp_path / "server"), Sessions(idle_s=0.5)) as client:
        pid = client.call("pid")
        assert client.server.gone()
        assert client.call("pid") != pid


def test_sessions_that_nobody_closed_end_with_their_owner(tmp_path: Path) -> None:
    client = Client(Quick(tmp_path / "server"))
    client.call("pid")
    del client.sessions
    gc.collect()
    assert client.server.gone()


def test_closing_ends_what_runs_and_no_call_is_made_any_more(tmp_path: Path) -> None:
    client = Client(Quick(tmp_path / "server"))
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(client.call, "deaf", text="deaf")
        client.server.wait_for("deaf")
        client.sessions.close()
        assert client.server.processes() == []
        with pytest.raises(errors.Interrupted, match="sessions of this process are closed"):
            running.result(PATIENCE_S)
    with pytest.raises(errors.Interrupted, match="was not called"):
        client.call("count")


def test_a_server_that_does_not_start_or_may_not_be_reached_is_said_as_without_sessions(
    tmp_path: Path,
) -> None:
    surroundings = Surroundings(
        directory=str(tmp_path), environment={"PATH": str(tmp_path / "none")}, timeout_s=60
    )
    with Sessions() as sessions:
        with pytest.raises(
            errors.ToolExecutionError, match="no-such-server cannot start: No such file"
        ):
            sessions.ask(
                Server(command=("no-such-server",)), {"tool": "x"}, surroundings, name="x", kit="x"
            )
        with pytest.raises(errors.Refused, match="is refused"):
            sessions.ask(
                Server(url="http://127.0.0.1:9/mcp"), {"tool": "x"}, surroundings, name="x", kit="x"
            )


def test_a_server_over_http_is_asked_again_in_the_same_session(project: Path) -> None:
    stocked(project)
    with serving(project) as served:
        port, headers = served.port, {**served.headers}
        surroundings = Surroundings(
            directory=str(project), environment={}, timeout_s=60, allow_hosts=(f"127.0.0.1:{port}",)
        )
        server = Server(url=served.url, headers=headers)
        listed = exchange.ask(server, {}, surroundings, name="add", kit="x").document["tools"]
        digest = next(mcp_definitions.digest(tool) for tool in listed if tool["name"] == "add")
        with Sessions() as sessions:
            for a in (1, 2):
                request = {"tool": "add", "arguments": {"a": a, "b": 2}, "digest": digest}
                answer = sessions.ask(server, request, surroundings, name="add", kit="x")
                assert answer.document["result"]["content"][0]["text"] == str(a + 2)


def test_many_threads_that_begin_at_once_share_one_session(tmp_path: Path) -> None:
    with Client(Quick(tmp_path / "server")) as client, ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(lambda _: client.call("pid"), range(8)))) == 1


INTERRUPTED = """
import sys
sys.path.insert(0, {root!r})
from pathlib import Path
from tests.support.kept_sessions import Client
from tests.support.mcp_servers import Quick
server = Quick(Path({directory!r}))
print(server.marker, flush=True)
with Client(server) as client:
    client.call("count")
    print("up", flush=True)
    try:
        client.call("later", text="later", seconds=600)
    except KeyboardInterrupt:
        print(client.call("count"), len(client.server.processes()), flush=True)
"""


def said_when_interrupted(source: str, number: int, directory: Path) -> str:
    """Run a program, send it a signal while its call is under way, and give what it says then; the
    server has to be gone at its end.
    """
    with subprocess.Popen(
        [sys.executable, "-c", source],
        stdout=subprocess.PIPE,
        encoding="utf-8",
        env=interruptible(),
    ) as caller:
        assert caller.stdout is not None
        server = Quick(directory)
        server.marker = caller.stdout.readline().strip()
        assert caller.stdout.readline() == "up\n"
        server.wait_for("later")
        caller.send_signal(number)
        said = caller.stdout.read()
    assert server.gone()
    return said


def test_p31_what_a_handler_of_the_program_raises_ends_the_call_with_all_its_processes(
    tmp_path: Path,
) -> None:
    source = INTERRUPTED.format(
        root=str(Path(mcp_sessions.__file__).parents[3]), directory=str(tmp_path / "server")
    )
    source = source.replace("except KeyboardInterrupt", "except SystemExit").replace(
        '"later", text="later", seconds=600', '"spawns", text="later"'
    )
    source = f"import signal, sys\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(3))\n{source}"
    assert said_when_interrupted(source, signal.SIGTERM, tmp_path / "server") == "1 1\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_p31_ctrl_c_ends_the_call_alone_and_the_death_of_vespe_ends_everything(
    number: int, tmp_path: Path
) -> None:
    source = INTERRUPTED.format(
        root=str(Path(mcp_sessions.__file__).parents[3]), directory=str(tmp_path / "server")
    )
    assert said_when_interrupted(source, number, tmp_path / "server") == (
        "2 1\n" if number == signal.SIGINT else ""
    )
