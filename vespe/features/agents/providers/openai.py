"""Models behind OpenAI's chat completions: OpenAI's own, and those of any endpoint that speaks
them.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from vespe.adapters import openai as adapter_openai
from vespe.adapters.streams.openai import GptStreamingProcessor
from vespe.features.agents.providers import requests
from vespe.features.agents.providers.base import ProviderClass, Tools
from vespe.features.agents.providers.endpoint_account import Account
from vespe.features.agents.providers.endpoint_provider import EndpointProvider
from vespe.models import JsonObject


def payload(
    model: str,
    messages: Iterable[JsonObject],
    tools: Tools | None,
    *,
    options: Mapping[str, object] | None,
    stream: bool,
    keep: Collection[str] = (),
) -> JsonObject:
    """Return the request; what only Vespe or another API knows, but for the fields in `keep`, is
    taken off the messages.
    """
    made: JsonObject = {"model": model, "messages": adapter_openai.to_wire(messages, keep=keep)}
    if stream:
        made["stream_options"] = {"include_usage": True}
    own = requests.checked_options(options)
    return requests.finished(made, tools, adapter_openai.OpenAIShape(), stream=stream, options=own)


class OpenAIProvider(EndpointProvider):
    """A provider for OpenAI's chat completions and compatible endpoints.

    The default key is in OPENAI_API_KEY. `/v1` is added to a `base_url` without a path.

    ```python
    from vespe import OpenAIProvider

    # a server of your own
    model = OpenAIProvider("qwen3", base_url="http://127.0.0.1:8000", api_key="any")
    assert model.api == "openai"
    ```
    """

    name = api = "openai"
    account = Account(
        provider="openai", default_url="https://api.openai.com/v1", variable="OPENAI_API_KEY"
    )
    processor = GptStreamingProcessor
    path = "/chat/completions"

    def payload(
        self,
        messages: Iterable[JsonObject],
        tools: Tools | None = None,
        *,
        options: Mapping[str, object] | None = None,
        stream: bool = False,
    ) -> JsonObject:
        """Return the request; see `payload` of this module."""
        return payload(self.model, messages, tools, options=options, stream=stream, keep=self.keep)

    def own_headers(self) -> Mapping[str, str]:
        """Return the header of the organization."""
        return {"openai-organization": self._account.settings.organization}


OPENAI: Final[ProviderClass] = OpenAIProvider
