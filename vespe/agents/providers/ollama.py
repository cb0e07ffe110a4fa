"""Models behind Ollama's chat API."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import ClassVar

from vespe.adapters.streams.ollama import OllamaStreamingProcessor
from vespe.agents.providers import endpoint, endpoint_account, ollama_wire, retries, turns
from vespe.agents.providers.base import Tools
from vespe.agents.providers.endpoint import Destination, Endpoint
from vespe.http.addresses import Url
from vespe.models import JsonObject


class OllamaProvider:
    """Asks Ollama, on this machine or at `base_url`, which may be given with or without `/api`.

    What is not given comes from the user's configuration (`providers.ollama`). It needs no key; one in OLLAMA_API_KEY,
    or what `api_key_env` names, is sent along.
    """

    name: ClassVar[str] = "ollama"
    api: ClassVar[str] = "ollama"
    account: ClassVar[endpoint_account.Account] = endpoint_account.Account(
        provider="ollama", default_url="http://127.0.0.1:11434", variable="OLLAMA_API_KEY", key_needed=False
    )
    create_message = turns.create_message
    respond = turns.respond
    send = endpoint.send
    close = endpoint.close
    answer = staticmethod(ollama_wire.answer)
    processor = OllamaStreamingProcessor

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
        """Give the request; see `ollama_wire.payload`."""
        return ollama_wire.payload(self.model, messages, tools, options=options, stream=stream)

    def _destination(self) -> Destination:
        return endpoint_account.destination(self._account, {}, bearer=True, at=_chat)


def _chat(base: Url) -> Url:
    path, mark, query = base.target.partition("?")
    path = path.rstrip("/").removesuffix("/chat").removesuffix("/api").removesuffix("/v1")
    return replace(base, target=f"{path}/api/chat{mark}{query}")
