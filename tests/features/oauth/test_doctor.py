"""What `vespe doctor` says of logins to MCP servers."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.features.oauth.test_records import GRANT, LOGIN, kept
from vespe.features.oauth import doctor, records


def said() -> list[tuple[str, str]]:
    return [(one.state, f"{one.about}: {one.message}") for one in doctor.CHECKS[0](None)]


def test_good_logins_are_counted_and_others_are_told_with_what_to_do(
    home: Path, command: Callable[..., Any]
) -> None:
    assert said() == []
    kept()
    what = "logins: 1 login to MCP servers; `vespe mcp status` shows until when"
    assert said() == [("ok", what)]
    with records.locked("notes", GRANT.url):
        expired = replace(GRANT, fresh_until=time.time() - 1, refresh_token="")
        records.keep(LOGIN, expired, store="file")
    again = "the token expired; `vespe mcp login notes` logs in again"
    assert said() == [("warning", f"login notes: {GRANT.url}: {again}")]
    [login] = records.every()
    records.note(replace(login, ended="wants a login: the issuer ended the last one"))
    assert "ended the last one" in said()[0][1]
    # Its tokens are gone from the store.
    records.note(replace(login, kept={"ref": f"file:{home / 'gone'}"}))
    assert said()[0][0] == "warning" and "logs in again" in said()[0][1]
    # Somebody edited the record.
    record = Path(login.directory, "login.json")
    record.write_text("{", encoding="utf-8")
    assert said() == [
        (
            "warning",
            f"logins: {record} is not a readable record of a login: delete it and log in again",
        )
    ]
    shown = command("doctor")
    assert shown.code == 0 and "login.json" in " ".join(shown.out.split()).replace(" ", "")
    assert command("mcp", "status").code == 1
