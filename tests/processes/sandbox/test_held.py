"""What a policy says of itself: whether it holds a process back from a path or a host."""

from pathlib import Path

from vespe.models import Permissions
from vespe.processes.sandbox.held import EXECUTE, READ_FILE, WRITE_FILE, Policy


def test_a_path_is_refused_where_no_rule_gives_the_right(tmp_path: Path) -> None:
    rules = [
        (str(tmp_path).encode(), READ_FILE),
        (str(tmp_path / "out").encode(), WRITE_FILE),
        (b"/usr/bin/git", EXECUTE),
    ]
    made = Policy(level="landlock", message={"rules": rules})
    (tmp_path / "link").symlink_to("/etc/hostname")
    inside, out = str(tmp_path / "a"), str(tmp_path / "out/b")
    assert (
        not made.refuses("read", inside)
        and made.refuses("write", inside)
        and not made.refuses("write", out)
    )
    assert made.refuses("read", str(tmp_path / "link")) and made.refuses(
        "read", str(tmp_path) + "2"
    )
    assert made.refuses("programs", "/usr/bin/curl") and not made.refuses(
        "programs", "/usr/bin/git"
    )


def test_a_host_is_refused_where_hosts_are_stated_and_it_is_none_of_them() -> None:
    made = Policy(
        level="namespaces",
        message={"rules": []},
        stated=Permissions(network=("api.example", "other.example:8080")),
    )
    assert not made.refuses("network", "api.example:443") and not made.refuses(
        "network", "other.example:8080"
    )
    assert made.refuses("network", "other.example:81") and made.refuses("network", "192.0.2.1:80")
    assert not Policy(level="namespaces", message={"rules": []}).refuses("network", "192.0.2.1:80")
    assert not Policy(level="off").refuses("read", "/anything")
