"""Which Unix sockets there are, who listens there, and which a tool states."""

import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from vespe.processes.sandbox import sockets

pytestmark = pytest.mark.skipif(not os.path.exists("/proc/net/unix"), reason="Linux lists sockets")


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory whose path is short enough for a socket."""
    with tempfile.TemporaryDirectory(prefix="vespe-s-") as made:
        yield Path(made)


def test_a_socket_is_found_by_where_it_really_is_until_its_file_is_gone(place: Path) -> None:
    (place / "real").mkdir()
    (place / "link").symlink_to(place / "real")
    path = str(place / "link/a b")
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(path)
        one.listen()
        assert path in sockets.bound()
        assert os.path.realpath(path) in sockets.listening()
        os.unlink(path)
        sockets._listening.cache_clear()
        assert path in sockets.bound() and os.path.realpath(path) not in sockets.listening()


def test_known_services_are_named_and_others_told_by_their_path() -> None:
    known = (
        "/tmp/tmux-1000/default",
        "/tmp/ssh-abc/agent.77",
        "/run/docker.sock",
        "/run/user/1000/bus",
        "/home/ada/.gnupg/S.gpg-agent",
        "/tmp/ssh-other/agent.1",
        "/srv/x.sock",
    )
    assert sockets.names(known) == "tmux ssh-agent docker dbus gpg-agent /srv/x.sock"
    assert sockets.names(f"/s/{n}" for n in range(10)).endswith("/s/7 and 2 more")


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ("/run/a", "/run/a"),
        ("unix:///run/docker.sock", "/run/docker.sock"),
        ("unix:path=/run/user/1000/bus,guid=1", "/run/user/1000/bus"),
        ("tcp://host:2375", ""),
        ("relative", ""),
        (None, ""),
    ],
)
def test_a_variable_states_the_path_that_it_holds(
    monkeypatch: pytest.MonkeyPatch, value: str | None, path: str
) -> None:
    monkeypatch.delenv("SOME_SOCKET", raising=False)
    if value is not None:
        monkeypatch.setenv("SOME_SOCKET", value)
    assert sockets.stated_path("$SOME_SOCKET") == path
    assert sockets.stated_path("~/s") == "~/s"
