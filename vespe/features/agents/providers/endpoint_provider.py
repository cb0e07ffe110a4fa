"""A provider that asks an endpoint; what differs from one API to another is what its subclasses
say, one file each.
"""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import ClassVar

from vespe.adapters.streams.base import StreamingProcessor
from vespe.errors import Refused
from vespe.features.agents.providers import answers, endpoint_account, retries, turns
from vespe.features.agents.providers.base import ModelAnswer, Reply, Tools, Traits
from vespe.features.agents.providers.endpoint import Destination, Endpoint
from vespe.features.agents.providers.endpoint_account import Account
from vespe.http.addresses import Url
from vespe.models import JsonObject


class EndpointProvider:
    """Asks one model at an endpoint.

    What is not given comes from the user's configuration (`providers.NAME`), the key else from the
    environment (the account's variable, or what `api_key_env` names); it goes to `base_url` alone.
    `keep` are the fields beside OpenAI's own that the endpoint wants back in messages.
    """

    name: ClassVar[str]
    api: ClassVar[str]
    account: ClassVar[Account]
    traits: ClassVar[Traits] = Traits()
    bearer: ClassVar[bool] = True
    """Whether the key is a bearer token, or else stands in the `key_header`."""
    key_header: ClassVar[str] = "x-api-key"
    request: "ClassVar[staticmethod[..., JsonObject]]"
    """Makes the vendor's request of the model's name and what `payload` is given."""
    processor: ClassVar[Callable[[], StreamingProcessor]]
    version: ClassVar[str] = "/v1"
    path: ClassVar[str] = ""
    """Where requests go: the path of a base URL without one, and what stands behind it."""
    create_message = turns.create_message
    respond = turns.respond

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
        said = {
            "base_url": base_url,
            "api_key": api_key,
            "organization": organization,
            "headers": headers,
            "model": model,
        }
        self._account = endpoint_account.known(self.account, **said)
        self.model = self._account.settings.model
        self.keep: Sequence[str] = self._account.settings.keep
        self._endpoint = Endpoint(self._destination, patience)

    @property
    def server(self) -> tuple[str, int] | None:
        """The host and port that requests go to; None where the base URL is refused."""
        try:
            url = self._account.url()
        except Refused:
            return None
        return url.host, url.port

    def payload(
        self,
        messages: Iterable[JsonObject],
        tools: Tools | None = None,
        *,
        options: Mapping[str, object] | None = None,
        stream: bool = False,
    ) -> JsonObject:
        """Return the vendor's request."""
        return self.request(self.model, messages, tools, options=options, stream=stream)

    def answer(self, document: JsonObject) -> ModelAnswer:
        """Read a body that was not streamed."""
        return answers.of_document(type(self).processor(), document)

    def send(
        self, payload: JsonObject, *, cancel: threading.Event | None = None
    ) -> AbstractContextManager[Reply]:
        """Send a request; see `Endpoint.send`."""
        return self._endpoint.send(payload, cancel=cancel)

    def close(self) -> None:
        """Close kept connections."""
        self._endpoint.close()

    def own_headers(self) -> Mapping[str, str]:
        """Return the API's own headers, beside that of the key."""
        return {}

    @classmethod
    def request_url(cls, base: Url) -> Url:
        """Return where requests go, of the base URL as the user wrote it."""
        path, mark, query = base.target.partition("?")
        path = path.rstrip("/").removesuffix(cls.path) or cls.version
        return replace(base, target=f"{path}{cls.path}{mark}{query}")

    def _destination(self) -> Destination:
        return endpoint_account.destination(
            self._account,
            self.own_headers(),
            bearer=self.bearer,
            at=self.request_url,
            key_header=self.key_header,
        )
