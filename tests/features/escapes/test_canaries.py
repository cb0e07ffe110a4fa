"""What is made to be attacked: it is protected as what is the user's would be, and gone afterwards."""

import os
import socket
from pathlib import Path

import pytest

from vespe.features.escapes.canaries import canaries
from vespe.processes.sandbox import levels

MACHINE = levels.machine()


def test_all_of_it_is_gone_afterwards() -> None:
    with pytest.raises(KeyboardInterrupt), canaries(os.getuid()) as made:
        there = made.leftovers
        assert Path(made.home, ".ssh/id").read_text(encoding="utf-8") == "x"
        Path(made.names()["MARK"] and there[-1]).write_text("it got out", encoding="utf-8")
        assert os.stat(there[0]).st_mode & 0o777 == 0o700
        raise KeyboardInterrupt
    assert [path for path in there if os.path.lexists(path)] == []


@pytest.mark.skipif(MACHINE.level == "off", reason="this machine has no sandbox")
def test_its_keys_are_protected_places_and_the_users_own_stay_so(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "elsewhere"))
    (home / "elsewhere/vespe").mkdir(parents=True)
    with canaries(os.getuid()) as made:
        held = made.policy(MACHINE, MACHINE.level, "default")
        keys = [f"{made.home}/.ssh/id", f"{made.names()['S']}/trust.json"]
        own = [str(home / "elsewhere/vespe/trust.json")]
        assert [path for path in (*keys, *own) if not held.refuses("read", path)] == []
        assert not held.refuses("read", f"{made.home}/notes")
        assert held.refuses("write", f"{made.home}/notes")
    assert (os.environ["HOME"], os.environ["XDG_STATE_HOME"]) == (str(home), f"{home}/elsewhere")


def test_what_gets_to_a_server_names_its_row() -> None:
    with canaries(os.getuid()) as made:
        names = made.names()
        assert made.came() == set()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
            one.sendto(b"escaped 7.", ("127.0.0.1", names["UDP"]))
        for said in (b"escaped 12.", b""):
            with socket.create_connection(("127.0.0.1", names["TCP"])) as one:
                one.sendall(said)
        assert made.came() == {7, 12, -1}
