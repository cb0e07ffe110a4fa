"""The table of providers: each is there, keeps the protocol, and is imported when it is asked for."""

from vespe import providers
from vespe.providers.base import LLMProvider


def test_every_provider_of_the_table_is_of_its_name() -> None:
    assert [providers.provider_class(name).name for name in providers.PROVIDERS] == list(providers.PROVIDERS)  # type: ignore[attr-defined]  # a class


def test_every_provider_keeps_the_protocol() -> None:
    made: list[LLMProvider] = [providers.provider_class(name)("m") for name in ("openai", "anthropic", "ollama")]
    made.append(providers.provider_class("simulated")({"turns": []}))
    assert [(provider.name, provider.api) for provider in made] == [
        ("openai", "openai"),
        ("anthropic", "anthropic"),
        ("ollama", "ollama"),
        ("simulated", "openai"),
    ]
