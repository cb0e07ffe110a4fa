"""What the user says of a provider: checked with its pointer, and no endpoint to which a key could
be read on its way.
"""

from typing import Any

import pytest

from vespe.errors import InvalidDocument, Refused, UsageError
from vespe.features.agents import provider_settings
from vespe.features.agents.provider_settings import ProviderSettings, endpoint_url, read_settings


def test_what_is_said_is_read_and_unknown_keys_mean_nothing() -> None:
    said = {"base_url": "https://h/v1", "api_key_env": "K", "headers": {"X-A": "b"}, "x_future": 1}
    assert read_settings("openai", said) == ProviderSettings(
        base_url="https://h/v1", api_key_env="K", headers={"X-A": "b"}
    )


@pytest.mark.parametrize(
    ("value", "pointer"),
    [
        ("x", "/providers/a~1b"),
        ({"base_url": 1}, "/providers/a~1b/base_url"),
        ({"api_key": ["sk-secret"]}, "/providers/a~1b/api_key"),
        ({"api_key_env": "NOT A NAME"}, "/providers/a~1b/api_key_env"),
        ({"keep": "reasoning_content"}, "/providers/a~1b/keep"),
        ({"headers": []}, "/providers/a~1b/headers"),
        ({"headers": {"X-A": 1}}, "/providers/a~1b/headers/X-A"),
        ({"headers": {"X-A": "sk-secret\r\nX-B: c"}}, "/providers/a~1b/headers/X-A"),
        ({"headers": {"X A": "b"}}, "/providers/a~1b/headers/X A"),
    ],
)
def test_what_is_wrong_is_told_with_its_pointer_and_never_quoted(value: Any, pointer: str) -> None:
    with pytest.raises(InvalidDocument) as caught:
        read_settings("a/b", value, path="config.json")
    assert (caught.value.pointer, caught.value.path) == (pointer, "config.json")
    assert "sk-secret" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "https://api.example.com/v1",
        "http://127.0.0.1:8000",
        "http://127.8.9.1",
        "http://[::1]:1/",
        "http://localhost/x",
    ],
)
def test_https_and_this_machine_are_endpoints(url: str) -> None:
    assert endpoint_url(url).scheme in url


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com",
        "http://10.0.0.1",
        "http://localhost.example.com",
        "http://127.0.0.1.example.com",
        "ftp://x",
        "x",
        "",
        "https://",
    ],
)
def test_p40b_nothing_else_is_an_endpoint(url: str) -> None:
    with pytest.raises(Refused):
        endpoint_url(url)


def test_p40b_a_password_in_a_url_is_refused_and_not_quoted() -> None:
    with pytest.raises(Refused, match="contains a user name or a password") as caught:
        endpoint_url("https://user:s3cret@example.com/v1")
    assert "s3cret" not in str(caught.value)


def test_settings_that_nobody_knows_are_not_set() -> None:
    with pytest.raises(UsageError, match="a provider has no setting 'api_kye'"):
        provider_settings.refuse_unusable("providers.openai.api_kye", "x")
    for key, value in (
        ("providers.openai", {"api_kye": "x"}),
        ("providers", {"openai": {"api_kye": "x"}}),
    ):
        with pytest.raises(UsageError, match="a provider has no setting 'api_kye'"):
            provider_settings.refuse_unusable(key, value)
    with pytest.raises(Refused):
        provider_settings.refuse_unusable("providers.openai", {"base_url": "http://example.com"})
    provider_settings.refuse_unusable("providers.openai.headers.X-A", "x")
    provider_settings.refuse_unusable("providers", {})
