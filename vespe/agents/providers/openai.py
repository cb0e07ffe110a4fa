"""Models behind OpenAI's chat completions: OpenAI's own, and those of any endpoint that speaks them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from vespe.adapters import openai as adapter_openai
from vespe.adapters.streams.openai import GptStreamingProcessor
from vespe.agents.providers import endpoint, endpoint_account, requests, retries, turns
from vespe.agents.providers.base import Answer, Tools
from vespe.agents.providers.endpoint import Destination, Endpoint
from vespe.documents import strict_json
from vespe.http.addresses import Url
from vespe.models import JsonObject


def _completions(base: Url) -> Url:
    path, mark, query = base.target.partition("?")
    path = path.rstrip("/").removesuffix("/chat/completions") or "/v1"
    return replace(base, target=f"{path}/chat/completions{mark}{query}")


def payload(
    model: str,
    messages: Iterable[JsonObject],
    tools: Tools | None,
    *,
    options: Mapping[str, object] | None,
    stream: bool,
    keep: Collection[str] = (),
) -> JsonObject:
    """Return the request; what only Vespe or another API knows, but for the fields in `keep`, is taken off the messages."""
    made: JsonObject = {"model": model, "messages": adapter_openai.to_wire(messages, keep=keep)}
    if defined := requests.definitions(tools, adapter_openai.OpenAIShape()):
        made["tools"] = defined
    if stream:
        made |= {"stream": True, "stream_options": {"include_usage": True}}
    return requests.with_options(made, requests.checked_options(options))


def answer(document: JsonObject) -> Answer:
    """Read a whole answer, by the rules that a streamed one is read by, so that both give the same message."""
    read = GptStreamingProcessor()
    read.feed(b"data: " + strict_json.compact_json(document).encode("utf-8") + b"\n\ndata: [DONE]\n\n")
    read.close()
    return Answer(message=read.message(), finish_reason=read.finish_reason, usage=read.usage)


class OpenAIProvider:
    """Asks an endpoint that speaks OpenAI's chat completions.

    What is not given comes from the user's configuration (`providers.openai`), the key else from the environment
    (OPENAI_API_KEY, or what `api_key_env` names); it goes to `base_url` alone. `base_url` may be given with or without
    `/v1`: without a path, `/v1` is meant. `model` is the model's name.
    """

    name: ClassVar[str] = "openai"
    api: ClassVar[str] = "openai"
    account: ClassVar[endpoint_account.Account] = endpoint_account.Account(
        provider="openai", default_url="https://api.openai.com/v1", variable="OPENAI_API_KEY"
    )
    create_message = turns.create_message
    respond = turns.respond
    send = endpoint.send
    close = endpoint.close
    answer = staticmethod(answer)
    processor = GptStreamingProcessor

    def __init__(
        self,
        model: str = "",
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        organization: str | None = None,
        headers: Mapping[str, str] | None = None,
        patience: retries.Patience = retries.PATIENCE,
    ) -> None:
        said = {"base_url": base_url, "api_key": api_key, "organization": organization, "headers": headers, "model": model}
        self._account = endpoint_account.known(self.account, **said)
        self.model = self._account.settings.model
        self._endpoint = Endpoint(self._destination, patience)

    @property
    def keep(self) -> Sequence[str]:
        """The fields beside OpenAI's own that the endpoint wants back in messages."""
        return self._account.settings.keep

    def payload(
        self,
        messages: Iterable[JsonObject],
        tools: Tools | None = None,
        *,
        options: Mapping[str, object] | None = None,
        stream: bool = False,
    ) -> JsonObject:
        """Return the request; see `openai_wire.payload`."""
        return payload(self.model, messages, tools, options=options, stream=stream, keep=self.keep)

    def _destination(self) -> Destination:
        own = {"openai-organization": self._account.settings.organization}
        return endpoint_account.destination(self._account, own, bearer=True, at=_completions)
