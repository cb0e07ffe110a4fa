"""Models behind Anthropic's Messages API."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import ClassVar, Final

from vespe.adapters.streams.anthropic import ClaudeStreamingProcessor
from vespe.agents.providers import anthropic_wire, endpoint, endpoint_account, retries, turns
from vespe.agents.providers.base import Tools
from vespe.agents.providers.endpoint import Destination, Endpoint
from vespe.http.addresses import Url
from vespe.models import JsonObject

VERSION: Final = "2023-06-01"
"""The version of the API, which each request names."""


class AnthropicProvider:
    """Asks an endpoint that speaks Anthropic's Messages API.

    What is not given comes from the user's configuration (`providers.anthropic`), the key else from the environment
    (ANTHROPIC_API_KEY, or what `api_key_env` names); it goes to `base_url` alone, which may be given with or without `/v1`.
    """

    name: ClassVar[str] = "anthropic"
    api: ClassVar[str] = "anthropic"
    account: ClassVar[endpoint_account.Account] = endpoint_account.Account(
        provider="anthropic", default_url="https://api.anthropic.com", variable="ANTHROPIC_API_KEY"
    )
    create_message = turns.create_message
    respond = turns.respond
    send = endpoint.send
    close = endpoint.close
    answer = staticmethod(anthropic_wire.answer)
    processor = ClaudeStreamingProcessor

    def __init__(
        self,
        model: str = "",
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        headers: Mapping[str, str] | None = None,
        patience: retries.Patience = retries.PATIENCE,
    ) -> None:
        said = {"base_url": base_url, "api_key": api_key, "headers": headers, "model": model}
        self._account = endpoint_account.known(self.account, **said)
        self.model = self._account.settings.model
        self._endpoint = Endpoint(self._destination, patience)

    def payload(
        self,
        messages: Iterable[JsonObject],
        tools: Tools | None = None,
        *,
        options: Mapping[str, object] | None = None,
        stream: bool = False,
    ) -> JsonObject:
        """Give the request; see `anthropic_wire.payload`."""
        return anthropic_wire.payload(self.model, messages, tools, options=options, stream=stream)

    def _destination(self) -> Destination:
        return endpoint_account.destination(self._account, {"anthropic-version": VERSION}, bearer=False, at=_messages)


def _messages(base: Url) -> Url:
    path, mark, query = base.target.partition("?")
    path = path.rstrip("/").removesuffix("/messages").removesuffix("/v1")
    return replace(base, target=f"{path}/v1/messages{mark}{query}")
