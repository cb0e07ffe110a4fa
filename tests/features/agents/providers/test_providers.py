"""The table of providers: each is there, keeps the protocol, and is imported when it is asked
for.
"""

import ast
import importlib.util
from pathlib import Path

import pytest

from tests.features.agents.providers.serving import HELLO, USER, said, sent
from tests.support.loopback import Exchange, Handler, Loopback
from vespe.errors import ProviderError, Refused, SecretUnavailable, UsageError
from vespe.features.agents import providers
from vespe.features.agents.providers.base import LLMProvider
from vespe.projects import user_config


def test_every_provider_of_the_table_is_of_its_name() -> None:
    assert [providers.provider_class(name).name for name in providers.PROVIDERS] == list(  # type: ignore[attr-defined]  # a class
        providers.PROVIDERS
    )


@pytest.mark.parametrize("name", providers.PROVIDERS)
def test_each_row_names_a_class_that_mypy_holds_to_the_protocol(name: str) -> None:
    module, _, attribute = providers.PROVIDERS[name].rpartition(".")
    found = importlib.util.find_spec(module)
    assert found is not None and found.origin is not None
    tree = ast.parse(Path(found.origin).read_text(encoding="utf-8"))
    assert f"{attribute}: Final[ProviderClass]" in [
        ast.unparse(node).partition(" =")[0]
        for node in tree.body
        if isinstance(node, ast.AnnAssign)
    ]


def test_every_provider_keeps_the_protocol(tmp_path: Path) -> None:
    made: list[LLMProvider] = [
        providers.provider_class(name)("m") for name in providers.PROVIDERS if name != "simulated"
    ]
    script = tmp_path / "script.json"
    script.write_text('{"turns": []}', encoding="utf-8")
    made.append(providers.provider_class("simulated")(str(script)))
    assert [(provider.name, provider.api) for provider in made] == [
        ("openai", "openai"),
        ("openai-responses", "openai-responses"),
        ("anthropic", "anthropic"),
        ("gemini", "gemini"),
        ("ollama", "ollama"),
        ("simulated", "openai"),
    ]


def test_p40b_an_endpoint_of_the_users_own_name_gets_its_own_key_alone(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-vendor-0123456789")
    with Loopback(said(HELLO)) as server:
        user_config.set_value(
            "providers.groq", {"api": "openai", "base_url": server.url("/openai/v1"), "model": "m"}
        )
        provider = providers.provider_class("groq")("")
        assert provider.create_message(USER)["content"] == "Hello"
        target, headers, _ = sent(server)
        assert (target, "authorization" in headers) == ("/openai/v1/chat/completions", False)
        user_config.set_value("providers.groq.api_key", "gsk-0123456789")
        assert providers.provider_class("groq")("").create_message(USER)["content"] == "Hello"
    assert sent(server)[1]["authorization"] == "Bearer gsk-0123456789"
    assert (provider.name, provider.api, provider.model) == ("groq", "openai", "m")
    assert providers.provider_names() == [*providers.PROVIDERS, "groq"]


def test_two_names_of_one_api_are_told_apart_in_errors(home: Path) -> None:
    with Loopback(said({"error": "no"}, status=400)) as server:
        for name in ("here", "there"):
            user_config.set_value(
                f"providers.{name}", {"api": "anthropic", "base_url": server.url("")}
            )
        for name in ("here", "there"):
            with pytest.raises(ProviderError, match=f"^{name} answered with status 400: no"):
                providers.provider_class(name)("m").create_message(USER)


def test_a_name_that_nobody_gave_and_one_that_says_too_little_are_told(home: Path) -> None:
    with pytest.raises(UsageError, match="there is no provider 'groq'") as caught:
        providers.provider_class("groq")
    assert ", ".join(providers.PROVIDERS) in str(caught.value.hint)
    user_config.set_value("providers.groq.model", "m")
    with pytest.raises(UsageError, match="your provider 'groq' has no api"):
        providers.provider_class("groq")
    user_config.set_value("providers.groq.api", "openai")
    with pytest.raises(UsageError, match="your provider 'groq' has no base_url"):
        providers.provider_class("groq")


def test_p40b_an_endpoint_of_the_users_own_name_is_https_or_this_machine_too(home: Path) -> None:
    user_config.set_value("providers.lan.api", "openai")
    with pytest.raises(Refused, match="is not on this machine"):
        user_config.set_value("providers.lan.base_url", "http://10.0.0.7:8000/v1")
    with pytest.raises(UsageError, match="there is no API 'grok'"):
        user_config.set_value("providers.lan.api", "grok")


def _by_the_key(right: str) -> Handler:
    """Answer who sends this key; refuse others, quoting what they sent."""

    def answer(exchange: Exchange) -> bool:
        given = exchange.headers.get("authorization", "")
        if given == f"Bearer {right}":
            return said(HELLO)(exchange)
        return said({"error": f"no such key: {given}"}, status=401)(exchange)

    return answer


def test_p80_a_key_that_is_referred_to_is_fetched_once_and_once_more_after_a_401(
    home: Path,
) -> None:
    file = home / "key"
    file.touch(0o600)
    file.write_text("gsk-0123456789\n", encoding="utf-8")
    with Loopback(_by_the_key("gsk-9876543210")) as server:
        user_config.set_value(
            "providers.groq", {"api": "openai", "base_url": server.url(""), "model": "m"}
        )
        user_config.set_value("providers.groq.api_key", {"ref": f"file:{file}"})
        provider = providers.provider_class("groq")("")
        with pytest.raises(ProviderError, match="status 401") as caught:
            provider.create_message(USER)
        assert "gsk-0123456789" not in str(caught.value) and len(server.requests) == 1
        file.write_text("gsk-9876543210\n", encoding="utf-8")
        assert provider.create_message(USER)["content"] == "Hello"
        assert len(server.requests) == 3
        file.unlink()
        assert provider.create_message(USER)["content"] == "Hello"
        assert len(server.requests) == 4
    written = Path(user_config.config_path()).read_text(encoding="utf-8")
    assert '"version": 2' in written and "gsk-" not in written


def test_a_key_that_cannot_be_had_is_said_with_its_setting_and_nothing_is_sent(
    home: Path,
) -> None:
    with Loopback(said(HELLO)) as server:
        user_config.set_value(
            "providers.groq",
            {
                "api": "openai",
                "base_url": server.url(""),
                "model": "m",
                "api_key": {"command": ["false"]},
            },
        )
        with pytest.raises(
            SecretUnavailable, match=r"providers\.groq\.api_key cannot be read"
        ) as at:
            providers.provider_class("groq")("").create_message(USER)
        assert at.value.store == "command" and server.requests == []
    with pytest.raises(UsageError, match="/providers/groq/api_key/ref does not name a store"):
        user_config.set_value("providers.groq.api_key", {"ref": "vault:x"})
