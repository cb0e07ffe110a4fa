"""`vespe mcp serve --http`: where it listens, who may ask, and what it says about that."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.http_serving import INITIALIZE, serving, stocked

Command = Callable[..., Any]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--http", "nonsense:x"), 2),
        (("--http", "127.0.0.1:99999"), 2),
        (("--http", "0.0.0.0:0"), 6),
        (("--http", "192.0.2.1:0"), 6),
        (("--http", "[::]:0"), 6),
        (("--http", "example.com:0"), 6),
        (("--http", "0.0.0.0:0", "--allow-remote", "--no-token"), 6),
        (("--http", "127.0.0.1:0", "--allow-remote", "--no-token"), 6),
        (("--http", "127.0.0.1:0", "--no-token", "--token-file", "t"), 2),
        (("--no-token",), 2),
        (("--stateless",), 2),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else str(value),
)
def test_p41_what_would_let_others_in_is_refused_before_anything_is_served(
    options: tuple[str, ...], code: int, command: Command
) -> None:
    assert command("mcp", "serve", *options).code == code


def test_p41_a_token_is_made_for_each_server_printed_once_and_private(
    project: Path, home: Path
) -> None:
    with serving(stocked(project)) as served:
        said = served.err.read_text(encoding="utf-8")
        assert served.token is not None and said.count(served.token) == 1
        (kept,) = (home / "state/vespe/http").iterdir()
        assert (
            kept.read_text(encoding="utf-8").strip() == served.token
            and kept.stat().st_mode & 0o777 == 0o600
        )
        assert served.stop() == 130
    assert not kept.exists()


def test_a_token_file_is_used_again_and_never_printed(project: Path, tmp_path: Path) -> None:
    tokens: list[str | None] = []
    for _ in range(2):
        with serving(
            stocked(project) if not tokens else project, "--token-file", str(tmp_path / "token")
        ) as served:
            tokens.append(served.token)
            assert str(served.token) not in served.err.read_text(encoding="utf-8")
            assert served.post()[0] == 200
    assert tokens[0] == tokens[1]


def test_without_a_token_every_program_here_may_ask_and_that_is_said(project: Path) -> None:
    with serving(stocked(project), "--no-token") as served:
        assert "every program on this machine" in served.err.read_text(encoding="utf-8")
        assert served.post(INITIALIZE, Authorization=None)[0] == 200


def test_p41_a_remote_server_answers_for_other_names_and_still_asks_for_its_token(
    project: Path,
) -> None:
    with serving(stocked(project), "--allow-remote", address="0.0.0.0:0") as served:
        assert served.post(Host="tools.example.com")[0] == 200
        assert served.post(Host="tools.example.com", Origin="https://tools.example.com")[0] == 200
        assert served.post(Host="tools.example.com", Origin="https://evil.example")[0] == 403
        assert served.post(Host="tools.example.com", Authorization=None)[0] == 401
        assert served.post(Host="a b")[0] == 421


def test_p01_an_untrusted_project_is_not_served(command: Command, project: Path) -> None:
    stocked(project)
    assert command("untrust").code == 0
    said = command("mcp", "serve", "--http", "127.0.0.1:0")
    assert said.code == 6 and "serving" not in said.err
