"""The access token for a call: kept, refreshed once, by one process at a time."""

import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.features.oauth.test_sdk import Robot, logged_in
from tests.support.authorization import Issuer, Resource, authorized
from vespe.errors import LoginRequired, ToolExecutionError
from vespe.features.oauth import login as logins
from vespe.features.oauth import records, tokens
from vespe.features.oauth.login import LoginChoices
from vespe.features.oauth.sdk import Wanted
from vespe.projects import user_config

ASK = """
import sys
from vespe.features.oauth import tokens

kit, url, times = sys.argv[1:]
token = ""
for _ in range(int(times)):
    token = tokens.find(kit, url, refused=token)
print(token)
"""


@pytest.fixture
def world(home: Path) -> Iterator[tuple[Issuer, Resource]]:
    user_config.set_value("allow_hosts", ["127.0.0.1"])
    with authorized() as (issuer, resource):
        yield issuer, resource


def kept(resource: Resource, **changes: Any) -> records.Login:
    """Log in by a robot, and keep that as `vespe mcp login` does."""
    grant = replace(logged_in(resource.url, Robot()), **changes)
    wanted = Wanted(kit_id="notes", url=resource.url)
    made = logins.made_of(grant, wanted, LoginChoices(), None)
    with records.locked("notes", resource.url):
        return records.keep(made, grant, store="file")


def test_without_a_login_there_is_no_token() -> None:
    assert tokens.find("notes", "https://mcp.example.com/mcp") == ""


def test_p81_a_token_is_for_its_kit_and_its_url_alone(world: tuple[Issuer, Resource]) -> None:
    issuer, resource = world
    kept(resource)
    assert tokens.find("notes", resource.url) in issuer.access
    assert tokens.find("notes", resource.url + "/") == "" == tokens.find("other", resource.url)


def test_a_fresh_token_is_used_as_it_is_and_one_that_lives_shortly_is_refreshed_before_each_use(
    world: tuple[Issuer, Resource],
) -> None:
    issuer, resource = world
    first = records.grant_of(kept(resource)).access_token
    assert [tokens.find("notes", resource.url) for _ in range(2)] == [first, first]
    assert issuer.refreshes == 0
    issuer.lifetime_s = 0
    assert tokens.find("notes", resource.url, refused=first) != first
    others = {tokens.find("notes", resource.url) for _ in range(3)}
    assert len(others) == 3 and issuer.refreshes == 4


def test_a_token_that_expired_or_was_refused_is_refreshed_once(
    world: tuple[Issuer, Resource],
) -> None:
    issuer, resource = world
    login = kept(resource, fresh_until=time.time() - 1)
    first = tokens.find("notes", resource.url)
    assert issuer.refreshes == 1 and tokens.find("notes", resource.url) == first
    other = tokens.find("notes", resource.url, refused=first)
    assert other != first and issuer.refreshes == 2
    # Another process, or another call, was refused the same token before.
    assert tokens.find("notes", resource.url, refused=first) == other and issuer.refreshes == 2
    assert records.grant_of(login).access_token == other


def test_a_login_that_the_issuer_ended_is_not_tried_again(world: tuple[Issuer, Resource]) -> None:
    issuer, resource = world
    kept(resource, fresh_until=time.time() - 1)
    issuer.refresh.clear()
    for _ in range(2):
        with pytest.raises(LoginRequired, match="ended the last one") as caught:
            tokens.find("notes", resource.url)
        assert "vespe mcp login notes" in caught.value.hint
        issuer.clients.clear()


def test_a_login_without_a_refresh_token_ends_with_its_token(
    world: tuple[Issuer, Resource],
) -> None:
    kept(world[1], fresh_until=time.time() - 1, refresh_token="")
    with pytest.raises(LoginRequired, match="expired"):
        tokens.find("notes", world[1].url)


@pytest.mark.usefixtures("home")
def test_an_issuer_that_is_away_is_told_and_the_login_stays() -> None:
    user_config.set_value("allow_hosts", ["127.0.0.1"])
    with authorized() as (_, resource):
        kept(resource, fresh_until=time.time() - 1)
    with pytest.raises(ToolExecutionError, match="could not be refreshed"):
        tokens.find("notes", resource.url)
    found = records.find("notes", resource.url)
    assert found is not None and not found.ended


def test_a_login_that_was_removed_is_not_remembered(world: tuple[Issuer, Resource]) -> None:
    login = kept(world[1])
    assert tokens.find("notes", world[1].url)
    records.forget(login)
    assert tokens.find("notes", world[1].url) == ""


def test_processes_that_refresh_at_once_use_no_token_twice(world: tuple[Issuer, Resource]) -> None:
    issuer, resource = world
    kept(resource)
    words = [sys.executable, "-c", ASK, "notes", resource.url, "6"]
    running = [subprocess.Popen(words, stdout=subprocess.PIPE, encoding="utf-8") for _ in range(2)]
    said = [process.communicate()[0].strip() for process in running]
    assert all(process.returncode == 0 for process in running) and all(said)
    assert issuer.reused == 0 and issuer.refreshes >= 6


def test_a_process_that_is_killed_leaves_the_old_tokens_or_the_new(
    world: tuple[Issuer, Resource],
) -> None:
    issuer, resource = world
    login = kept(resource)
    for wait_s in (0.0, 1.0, 1.2, 1.4):
        words = [sys.executable, "-c", ASK, "notes", resource.url, "100000"]
        with subprocess.Popen(words) as running:
            time.sleep(wait_s)
            running.kill()
        grant = records.grant_of(login)
        assert grant.access_token.startswith("access-")
        assert grant.refresh_token in issuer.refresh or grant.refresh_token in issuer.spent
