"""The token: made at random, private, and refused where others could read it."""

import os
from pathlib import Path

import pytest

from vespe.errors import InvalidDocument, Refused, StorageError
from vespe.features.mcp.server import http_tokens


def test_a_token_file_is_made_once_and_private(tmp_path: Path) -> None:
    path = str(tmp_path / "token")
    token, made = http_tokens.token_of(path)
    assert made and len(token) >= 32 and os.stat(path).st_mode & 0o777 == 0o600
    assert http_tokens.token_of(path) == (token, False)


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660])
def test_p41_a_file_that_others_can_read_is_refused(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "token"
    http_tokens.token_of(str(path))
    path.chmod(mode)
    with pytest.raises(Refused, match="others can read"):
        http_tokens.token_of(str(path))


@pytest.mark.parametrize("text", ["", "short", "two words of some length", "x" * 600, "ü" * 40])
def test_what_is_no_token_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)
    with pytest.raises(InvalidDocument, match="does not contain a token"):
        http_tokens.token_of(str(path))


def test_a_place_where_no_file_can_be_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(StorageError):
        http_tokens.token_of(str(tmp_path / "nowhere/token"))


def test_a_servers_own_token_is_fresh_private_and_gone_with_it(home: Path) -> None:
    with http_tokens.token_for(8000) as (token, path):
        assert (
            Path(path).read_text(encoding="utf-8") == token + "\n"
            and os.stat(path).st_mode & 0o777 == 0o600
        )
        assert os.stat(os.path.dirname(path)).st_mode & 0o777 == 0o700
    assert not os.path.exists(path)
    with http_tokens.token_for(8000) as (other, _):
        assert other != token
