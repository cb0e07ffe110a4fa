"""`vespe mcp logout`."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.features.oauth.test_records import GRANT, LOGIN, URL, kept
from tests.features.oauth.test_tokens import kept as really_kept
from tests.support.authorization import authorized
from tests.support.keyrings import use_a_keyring
from tests.support.mcp_servers import definition
from vespe.features.oauth import records
from vespe.kits import mcp_kits
from vespe.projects import user_config
from vespe.types.mcp_tool import server_kits


def test_it_revokes_the_tokens_and_removes_them(command: Callable[..., Any]) -> None:
    user_config.set_value("allow_hosts", ["127.0.0.1"])
    with authorized() as (issuer, resource):
        login = really_kept(resource)
        grant = records.grant_of(login)
        done = command("mcp", "logout", "notes", "--json")
        assert done.document == {"kit_id": "notes", "urls": [resource.url], "gone": True}
        assert set(issuer.revoked) == {grant.access_token, grant.refresh_token}
    assert records.every() == [] and not os.path.exists(login.directory)


def test_where_there_is_no_login_it_says_so(command: Callable[..., Any]) -> None:
    done = command("mcp", "logout", "notes")
    assert done.code == 3 and "you are not logged in to notes" in done.err


def test_a_keyring_that_does_not_answer_may_keep_them_which_is_said(
    command: Callable[..., Any], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = use_a_keyring(home, monkeypatch)
    kept("keyring")
    entries.write_text('{"fault": "locked"}', encoding="utf-8")
    done = command("mcp", "logout", "notes")
    assert done.code == 1 and "may still be in keyring:vespe/" in done.err
    assert records.find("notes", URL) is None


@pytest.mark.usefixtures("project")
def test_a_kit_that_is_removed_leaves_its_login_and_says_so_or_logs_out(
    command: Callable[..., Any],
) -> None:
    for words, is_out in (((), False), (("--logout",), True)):
        kept()
        assert command("kit", "create", "notes").code == 0
        done = command("kit", "remove", "notes", "--yes", *words)
        assert done.code == 0 and (records.every() == []) is is_out
        said = (
            f"logged out of notes at {URL}"
            if is_out
            else f"still logged in to notes at {URL}: `vespe mcp logout notes` removes the tokens"
        )
        assert said in " ".join(done.err.split())
    command("kit", "create", "notes")
    done = command("kit", "remove", "notes", "--yes", "--logout")
    assert (done.code, "you were not logged in to notes" in done.err) == (0, True)


def test_each_login_that_ends_is_named_and_none_of_a_kit_that_others_use(
    project: Path, tmp_path: Path, command: Callable[..., Any]
) -> None:
    kept()
    other = URL.replace("mcp.", "other.")
    with records.locked("notes", other):
        grant = replace(GRANT, url=other)
        records.keep(replace(LOGIN, url=other), grant, store="file")
    made = mcp_kits.draft("notes", {"url": URL}, [definition()], about={})
    mcp_kits.write(made)
    (tmp_path / "second/.vespe").mkdir(parents=True)
    for root in (str(project), str(tmp_path / "second")):
        server_kits.keep_in_project(root, [made], activate=True)
    words = ("kit", "remove", "notes", "--yes", "--logout")
    first = command(*words)
    assert first.code == 0 and "other projects on this machine use it" in first.err
    assert len(records.every()) == 2
    last = command(*words, "--project", str(tmp_path / "second"))
    assert last.code == 0 and records.every() == []
    for url in (URL, other):
        assert f"logged out of notes at {url}" in " ".join(last.err.split())
