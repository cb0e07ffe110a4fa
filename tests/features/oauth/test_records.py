"""What is kept of a login: where, in which order, and what becomes of it when something breaks."""

import json
import os
import re
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.keyrings import in_gnomes_session, use_a_keyring
from vespe import errors
from vespe.features.oauth import records
from vespe.features.oauth.records import Login, TokenGrant
from vespe.files import locations

pytestmark = pytest.mark.usefixtures("home")

URL = "https://mcp.example.com/mcp"
GRANT = TokenGrant(
    kit_id="notes",
    url=URL,
    issuer="https://login.example.com",
    authorization_endpoint="https://login.example.com/authorize",
    token_endpoint="https://login.example.com/token",
    client_id="c1",
    access_token="access-1",
    refresh_token="refresh-1",
    scope="read",
)
LOGIN = Login(
    kit_id="notes",
    url=URL,
    issuer=GRANT.issuer,
    client="registered",
    client_id="c1",
    logged_in_at="2026-11-27T12:00:00+00:00",
)


def kept(store: str = "file") -> Login:
    with records.locked("notes", URL):
        return records.keep(LOGIN, GRANT, store=store)


def test_a_login_is_found_by_its_kit_and_url_alone() -> None:
    kept()
    found = records.find("notes", URL)
    assert found is not None and found.scope == "read" and records.grant_of(found) == GRANT
    assert records.find("notes", URL + "2") is None and records.find("other", URL) is None
    assert [one.kit_id for one in records.every()] == ["notes"]


def test_the_files_are_private_and_the_record_holds_no_token() -> None:
    login = kept()
    path = Path(login.directory) / "login.json"
    assert "access-1" not in path.read_text(encoding="utf-8")
    tokens = Path(os.path.expanduser(login.kept["ref"].partition(":")[2]))
    for file in (path, tokens):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "access-1" not in repr(GRANT)


def test_the_tokens_are_kept_in_the_keyring_where_it_is_named(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = use_a_keyring(home, monkeypatch)
    login = kept("keyring")
    assert "access-1" in entries.read_text(encoding="utf-8")
    assert records.grant_of(login) == GRANT
    for folder, _, files in os.walk(locations.user_config_dir()):
        for name in files:
            assert b"access-1" not in Path(folder, name).read_bytes()
    assert records.forget(login) and "access-1" not in entries.read_text(encoding="utf-8")
    entries.write_text('{"fault": "locked"}', encoding="utf-8")
    with pytest.raises(errors.SecretUnavailable, match="locked"):
        records.grant_of(login)


def test_p81_tokens_that_were_copied_from_another_login_are_not_used() -> None:
    login = kept()
    file = Path(os.path.expanduser(login.kept["ref"].partition(":")[2]))
    for change in ({"url": "https://evil.example/mcp"}, {"issuer": "https://evil.example"}):
        file.write_text(
            json.dumps(json.loads(file.read_text(encoding="utf-8")) | change), encoding="utf-8"
        )
        with pytest.raises(errors.LoginRequired, match="belongs to another server"):
            records.grant_of(login)
        kept()
    record = Path(login.directory) / "login.json"
    record.write_text(
        record.read_text(encoding="utf-8").replace(URL, "https://evil.example/mcp"),
        encoding="utf-8",
    )
    assert records.find("notes", "https://evil.example/mcp") is None
    assert records.find("notes", URL) is None


@pytest.mark.parametrize("text", ["", "[]", "{", '{"access_token": 7}', '{"kit_id": "notes"}'])
def test_a_grant_that_was_broken_by_hand_wants_a_login(text: str) -> None:
    login = kept()
    file = Path(os.path.expanduser(login.kept["ref"].partition(":")[2]))
    file.write_text(text, encoding="utf-8")
    with pytest.raises(errors.Refused) as caught:
        records.grant_of(login)
    assert "`vespe mcp login notes`" in caught.value.hint
    file.unlink()
    with pytest.raises(errors.Refused) as caught:
        records.grant_of(login)


@pytest.mark.parametrize(
    "change", [{"host": "evil.example"}, {"host": "127.0.0.1.evil.example"}, {"port": 70000}]
)
def test_a_record_that_leads_the_redirect_elsewhere_is_no_login(change: dict[str, Any]) -> None:
    path = Path(kept().directory) / "login.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    for host in ("", "127.0.0.1", "localhost"):
        path.write_text(json.dumps(document | {"host": host}), encoding="utf-8")
        assert records.find("notes", URL) is not None
    path.write_text(json.dumps(document | change), encoding="utf-8")
    assert records.find("notes", URL) is None and records.unreadable() == [str(path)]


@pytest.mark.parametrize("text", ["", "[]", "{", '{"port": "x"}', '{"kept": 7}', "null"])
def test_a_record_that_was_broken_by_hand_is_no_login_and_can_be_made_again(text: str) -> None:
    login = kept()
    path = Path(login.directory) / "login.json"
    path.write_text(text, encoding="utf-8")
    assert records.find("notes", URL) is None and records.every() == []
    assert records.find("notes", URL) or records.grant_of(kept()) == GRANT


def test_keys_that_are_not_known_stay() -> None:
    login = kept()
    path = Path(login.directory) / "login.json"
    path.write_text(
        json.dumps(json.loads(path.read_text(encoding="utf-8")) | {"later": 1}), encoding="utf-8"
    )
    records.note(replace(login, ended="over"))
    found = records.find("notes", URL)
    assert (
        json.loads(path.read_text(encoding="utf-8"))["later"] == 1
        and found
        and found.ended == "over"
    )


def test_forgetting_leaves_nothing() -> None:
    login = kept()
    assert records.forget(login)
    assert records.find("notes", URL) is None and not os.path.exists(login.directory)
    assert not os.listdir(os.path.join(locations.user_config_dir(), "secrets"))


GNOME = """
import os
from pathlib import Path
from typing import Any
from tests.features.oauth.test_records import GRANT, kept
from vespe.features.oauth import login_state, records
from vespe.features.secrets import stores

store = stores.default_store(os.environ)
login = kept(store)
files = [path for path in Path(os.environ["HOME"]).parent.rglob("*") if path.is_file()]
token = GRANT.access_token.encode()
plain = [path.name for path in files if token in path.read_bytes()]
print(store, records.grant_of(login) == GRANT, plain, login_state.state_of(login)["state"])
print(login.place, records.forget(login), records.every())
"""


def test_gnomes_keyring_keeps_the_tokens_and_no_file_has_them(tmp_path: Path) -> None:
    done = in_gnomes_session(GNOME, tmp_path)
    first, second = done.stdout.splitlines() or (done.stderr, "")
    assert first == "keyring True [] ok", done.stderr
    assert re.fullmatch(r"keyring:vespe/mcp-notes-[0-9a-f]{12} True \[\]", second)
