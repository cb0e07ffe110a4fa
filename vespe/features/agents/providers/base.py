"""The protocol of the providers: where a model answers; and what a turn, an answer and a reply on
the wire are.
"""

import functools
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, TypeAlias

from vespe.adapters.streams.base import StreamEvent, StreamingProcessor
from vespe.documents import strict_json
from vespe.features.agents.providers.retries import Patience
from vespe.models import JsonObject, JsonValue, Tool
from vespe.records import dataclass

Tools: TypeAlias = Sequence[Tool | JsonObject]
"""Tools of Vespe, or definitions in any shape that `vespe.adapters` knows; all may stand in one
list.
"""
OnEvent: TypeAlias = Callable[[StreamEvent], None]


class Definitions(list[JsonObject]):
    """Tools as one API is told of them, which nobody changes, with the JSON of them all."""

    @functools.cached_property
    def data(self) -> bytes:
        """The definitions as a request says them."""
        return strict_json.compact_json(self).encode("utf-8")


class ShownTools(tuple[Tool | JsonObject, ...]):
    """The tools that each request of one conversation shows: what an API is told of them is made
    once, by `requests.definitions`, and kept in `told` by the shape's name.

    By the clock, with a server on this machine: a turn with 1,000 tools takes 2.8 ms, and 35 where
    every turn makes the definitions anew; with 128 tools 1.2 and 5.1.
    """

    @functools.cached_property
    def told(self) -> dict[str, Definitions]:
        """By a shape's name, the definitions that were made."""
        return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswer:
    """A model's whole answer: `message` in the inner format, `finish_reason` in OpenAI's words,
    `usage` in OpenAI's shape.

    `complete` is False where the stream did not say that it was over; `cut_calls` are the ids of
    calls that must not run, since their arguments may have been cut. `model` and `response_id` are
    what the answer says of itself, "" where it says nothing, or nobody listens to traces.
    """

    message: JsonObject
    finish_reason: str | None = None
    usage: JsonObject | None = None
    complete: bool = True
    cut_calls: frozenset[str] = frozenset()
    model: str = ""
    response_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What is peculiar to an API.

    `no_calls` are the options that forbid calls where the tools must be named all the same, since
    the conversation holds calls; None where tools can be left out. `always_streams` tells that an
    answer that was not streamed is one line of a stream.
    """

    no_calls: JsonObject | None = None
    always_streams: bool = False


def traits_of(provider: "LLMProvider") -> Traits:
    """Return what is peculiar to a provider's API: its `traits`, where it has any."""
    found: Traits = getattr(provider, "traits", Traits())
    return found


def _same(value: JsonValue) -> JsonValue:
    return value


def _wait_on(_: float | None) -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A successful answer on the wire, as far as it has come.

    `headers` have lowercased names; `pieces` are the body's bytes, decompressed, cut anywhere, to
    be read once: reading raises ProviderError where the connection breaks, TimedOut where a
    deadline passes, and Interrupted. `framed` tells that the body's end was announced, so that one
    that is cut cannot look whole. `redacted` takes the key out of what it is given. `end_within`
    says that the answer is there already: the body then ends after so many seconds, come what may;
    None takes that back.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    pieces: Iterator[bytes]
    request_id: str = ""
    framed: bool = True
    redacted: Callable[[JsonValue], JsonValue] = _same
    end_within: Callable[[float | None], None] = _wait_on


class LLMProvider(Protocol):
    """A model at an endpoint, or a substitute for one.

    `name` is the provider's name (`openai`, `anthropic`, `ollama`, `simulated`, …), and `api` its
    wire format (`openai`, `anthropic`, `ollama`, …). A provider handles one turn at a time; you can
    use several at once.
    """

    @property
    def name(self) -> str:
        """The provider's name."""
        ...

    @property
    def api(self) -> str:
        """The wire format of its API."""
        ...

    @property
    def model(self) -> str:
        """The model's name."""
        ...

    def create_message(
        self,
        messages: Iterable[JsonObject],
        tools: Tools | None = None,
        *,
        options: Mapping[str, object] | None = None,
        on_event: OnEvent | None = None,
        cancel: threading.Event | None = None,
    ) -> JsonObject:
        """Return the model's next message, in OpenAI's format. With `on_event`, the answer is
        streamed.

        `messages` are in OpenAI's format, and `options` are further options of the vendor's request
        (`temperature`, `max_tokens`, …). Raises ProviderError, TimedOut, Interrupted, Refused, and
        InvalidDocument for messages that the vendor does not allow.
        """
        ...

    def respond(
        self,
        messages: Iterable[JsonObject],
        tools: Tools | None = None,
        *,
        options: Mapping[str, object] | None = None,
        on_event: OnEvent | None = None,
        cancel: threading.Event | None = None,
    ) -> ModelAnswer:
        """Do the same as `create_message`, and also return why the model stopped and the usage."""
        ...

    def payload(
        self,
        messages: Iterable[JsonObject],
        tools: Tools | None = None,
        *,
        options: Mapping[str, object] | None = None,
        stream: bool = False,
    ) -> JsonObject:
        """Return the vendor's request."""
        ...

    def send(
        self, payload: JsonObject, *, cancel: threading.Event | None = None
    ) -> AbstractContextManager[Reply]:
        """Send a request. It is retried if that may help and nothing has arrived yet. Leaving the
        context discards unread data.
        """
        ...

    def answer(self, document: JsonObject) -> ModelAnswer:
        """Read a body that was not streamed."""
        ...

    def processor(self) -> StreamingProcessor:
        """Return a processor for a streamed body."""
        ...

    def close(self) -> None:
        """Close the open connections."""
        ...


class ProviderClass(Protocol):
    """What a row of PROVIDERS names: the class of a provider, which makes one of a model's name.

    `model` is "" for the one that the user's settings name; a provider that asks no endpoint may
    take it for something else. `patience` says how often a request is sent again, and when.
    """

    def __call__(self, model: str, /, *, patience: Patience = ...) -> LLMProvider:
        """Make a provider. Raises UsageError and Refused for what it cannot be."""
        ...
