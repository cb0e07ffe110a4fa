"""Accounts: where a key comes from, where it goes, and which texts no error may hold."""

from dataclasses import replace

import pytest

from vespe.errors import MissingKey
from vespe.features.agents.provider_settings import ProviderSettings
from vespe.features.agents.providers import endpoint_account
from vespe.features.agents.providers.endpoint_account import Account
from vespe.http.addresses import parse_url

OWN = Account(provider="p", default_url="https://vendor.example/v1", variable="P_KEY")


def of(**settings: object) -> Account:
    return replace(OWN, settings=ProviderSettings(**settings))  # type: ignore[arg-type]  # fields by name


def test_the_vendors_own_endpoint_wants_a_key_and_another_may_not() -> None:
    for account in (
        OWN,
        of(base_url="https://vendor.example/v1/"),
        of(base_url="http://127.0.0.1:1", api_key_env="OTHER"),
    ):
        with pytest.raises(MissingKey):
            account.key()
    assert of(base_url="http://127.0.0.1:1").key() == ""
    assert replace(OWN, key_needed=False).key() == ""


def test_a_header_of_the_users_own_stands_for_the_key() -> None:
    assert of(headers={"api-key": "k"}).key() == ""
    with pytest.raises(MissingKey):
        of(headers={"X-Team": "k"}).key()


def test_secrets_are_the_key_and_what_is_named_like_one_and_placeholders_are_none() -> None:
    url = parse_url("https://h/v1?sig=s1g-0123456789&api-version=2026-01-01-preview")
    headers = {
        "authorization": "Bearer sk-0123456789",
        "x-team": "a-long-team-name",
        "x-api-key": "ollama",
    }
    assert set(OWN.secrets(headers, url)) == {
        "Bearer sk-0123456789",
        "sk-0123456789",
        "s1g-0123456789",
    }


def test_a_destination_has_the_key_where_the_api_wants_it() -> None:
    account = of(api_key="sk-0123456789")
    for bearer, header in (
        (True, ("authorization", "Bearer sk-0123456789")),
        (False, ("x-api-key", "sk-0123456789")),
    ):
        there = endpoint_account.destination(
            account, {"X-Own": "1", "x-none": ""}, bearer=bearer, at=lambda base: base
        )
        assert header in there.headers.items() and "x-none" not in there.headers
        assert "sk-0123456789" in there.secrets and "sk-0123456789" not in repr(there)
