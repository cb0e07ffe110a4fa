"""What the providers of endpoints share."""

import inspect

import pytest

from tests.features.agents.providers.serving import CLASSES, asking, said
from tests.features.agents.providers.serving import HELLO as WHOLE
from vespe.features.agents.providers.base import Traits, traits_of
from vespe.features.agents.providers.endpoint_provider import EndpointProvider


@pytest.mark.parametrize("api", CLASSES)
def test_each_says_what_is_its_own_and_takes_the_same_options(api: str) -> None:
    made = CLASSES[api]("m", base_url="http://127.0.0.1:1", api_key="sk-0123456789")
    assert isinstance(made, EndpointProvider) and (made.name, made.api, made.model) == (
        api,
        api,
        "m",
    )
    assert made.request_url(made.account.url()).target.startswith("/")
    assert inspect.signature(type(made)) == inspect.signature(EndpointProvider)


def test_what_is_peculiar_to_an_api_is_said_by_its_provider() -> None:
    assert (
        CLASSES["anthropic"].traits.no_calls == {"tool_choice": {"type": "none"}}
        and CLASSES["ollama"].traits.always_streams
    )
    assert traits_of(CLASSES["openai"]("m", api_key="k")) == Traits()


def test_a_request_goes_to_the_endpoint_alone_and_its_answer_is_read() -> None:
    with asking(said(WHOLE)) as (provider, server):
        assert provider.create_message([{"role": "user", "content": "Hi"}])["content"] == "Hello"
    assert len(server.requests) == 1
