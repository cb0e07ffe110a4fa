"""Providers that write down what passes, and ones that give it again: without a network, and
without running a tool.
"""

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

from vespe.adapters.streams.base import StreamingProcessor
from vespe.errors import Diverged, InvalidDocument, ProviderError
from vespe.features.agents import providers, recording_file
from vespe.features.agents.providers import turns
from vespe.features.agents.providers.base import (
    LLMProvider,
    ModelAnswer,
    OnEvent,
    Reply,
    Tools,
    traits_of,
)
from vespe.features.agents.providers.endpoint_provider import EndpointProvider
from vespe.models import JsonObject, JsonValue, Outcome

_APIS: Final = ("openai", "openai-responses", "anthropic", "gemini", "ollama")
_ERROR_FIELDS: Final = ("status", "vendor_code", "request_id", "transient")
_AGAIN: Final = "record it again if the change is intended"


class RecordingProvider:
    """A provider that wraps another one and writes all its turns to `path`, together with the
    outcomes passed to `record_outcome`. Keys are never written.

    Raises StorageError if the file cannot be written; this is checked when the object is created.

    ```python
    from vespe import RecordingProvider, ReplayProvider, SimulatedProvider

    asked = [{"role": "user", "content": "Hi"}]
    model = SimulatedProvider({"turns": [{"text": "Hello."}]})
    RecordingProvider(model, "said.jsonl").create_message(asked)
    assert ReplayProvider("said.jsonl").create_message(asked)["content"] == "Hello."
    ```
    """

    create_message = turns.create_message
    respond = turns.respond

    def __init__(self, inner: LLMProvider, path: str | os.PathLike[str]) -> None:
        self.inner, self.name, self.api, self.model = inner, inner.name, inner.api, inner.model
        self.keep: Sequence[str] = getattr(inner, "keep", ())
        about = {"provider": self.name, "api": self.api, "model": self.model}
        self._recording = recording_file.Recording(os.fspath(path), **about, keep=self.keep)
        self.traits = traits_of(inner)
        self.payload, self.answer, self.processor, self.close = (
            inner.payload,
            inner.answer,
            inner.processor,
            inner.close,
        )

    @contextmanager
    def send(
        self, payload: JsonObject, *, cancel: threading.Event | None = None
    ) -> Iterator[Reply]:
        """Send a request through the other provider, and record it with its answer or failure."""
        body: list[bytes] = []
        told: JsonObject = {}
        redacted: Callable[[JsonValue], JsonValue] = _same
        try:
            with self.inner.send(payload, cancel=cancel) as reply:
                redacted = reply.redacted
                told = {
                    "status": reply.status,
                    "content_type": dict(reply.headers).get("content-type", ""),
                    "framed": reply.framed,
                }
                yield replace(reply, pieces=_kept(reply.pieces, body))
        except Diverged:
            raise
        except ProviderError as error:
            told["error"] = {
                "message": error.message,
                **{key: error.details[key] for key in _ERROR_FIELDS},
            }
            self._add(payload, told, body, redacted)
            raise
        self._add(payload, told, body, redacted)

    def record_outcome(
        self, call_id: str, outcome: Outcome, *, made: JsonObject | None = None
    ) -> None:
        """Record the outcome of a call, so that a replay need not run it. For a call that a program
        made, `made` has its `name` and `arguments`.
        """
        self._recording.add_outcome(call_id, outcome, made=made)

    def record_end(self, stop_reason: str) -> None:
        """Record why the conversation ended; see `RunResult.stop_reason`."""
        self._recording.end(stop_reason)

    def _add(self, payload: JsonObject, told: JsonObject, body: list[bytes], redacted: Any) -> None:
        self._recording.add_turn(
            redacted(payload), redacted(told | recording_file.body_as_json(b"".join(body)))
        )


class ReplayProvider:
    """A provider that returns a recording's answers, in order, to the same requests. Nothing is
    sent. With `recorded_outcome`, tools need not run either.

    Raises InvalidDocument if the file is not a recording, and Diverged at the first request that
    differs. With `compare=False`, requests are not compared.

    ```python
    from vespe import Agent, RecordingProvider, ReplayProvider, SimulatedProvider, Toolset

    model = RecordingProvider(SimulatedProvider({"turns": [{"text": "Hello."}]}), "hello.jsonl")
    Agent(model, tools=Toolset()).run("Hi")
    assert Agent(ReplayProvider("hello.jsonl"), tools=Toolset()).run("Hi").text == "Hello."
    ```
    """

    create_message = turns.create_message

    def __init__(self, path: str | os.PathLike[str], *, compare: bool = True) -> None:
        self._path, self._compare = os.fspath(path), compare
        self._document = recording_file.read_recording(self._path)
        self.name, self.api, self.model = (
            str(self._document[key]) for key in ("provider", "api", "model")
        )
        if self.api not in _APIS:
            raise InvalidDocument(
                f"was recorded from an API that Vespe does not know: {self.api!r}",
                path=self._path,
                pointer="/api",
            )
        self.keep: Sequence[str] = self._document["keep"]
        self.bounds_results = self._document.get("bounds_results") is True
        # The one that builds the same requests; it is never asked to send one.
        self._inner = providers.provider_class(self.api)(self.model)
        self.traits = traits_of(self._inner)
        self.payload, self.answer = self._inner.payload, self._inner.answer
        # What an endpoint wanted back is said by the recording, and not by this machine's settings.
        if isinstance(self._inner, EndpointProvider):
            self._inner.keep = self.keep
        self._turn = 0
        self._outcomes: list[JsonObject] = list(self._document["outcomes"])
        self._lock = threading.Lock()

    def respond(
        self,
        messages: Iterable[JsonObject],
        tools: Tools | None = None,
        *,
        options: Mapping[str, object] | None = None,
        on_event: OnEvent | None = None,
        cancel: threading.Event | None = None,
    ) -> ModelAnswer:
        """Return the recorded answer, whether or not it was recorded as a stream. Its events are
        reported in both cases.
        """
        recorded = self._document["turns"]
        streamed = self._turn < len(recorded) and recorded[self._turn]["request"].get("stream")
        if streamed or on_event is None:
            told = (on_event or _unheard) if streamed else None
            return turns.respond(
                self, messages, tools, options=options, on_event=told, cancel=cancel
            )
        answer = turns.respond(self, messages, tools, options=options, cancel=cancel)
        turns.retell(answer, on_event)
        return answer

    @contextmanager
    def send(
        self, payload: JsonObject, *, cancel: threading.Event | None = None
    ) -> Iterator[Reply]:
        """Return the next turn's answer; raises Diverged if the recording has another request
        there, or none.
        """
        answer = self._next(payload)
        error = answer.get("error")
        if isinstance(error, dict) and "status" not in answer:
            raise _error(error)
        headers = (("content-type", str(answer.get("content_type", ""))),)
        pieces = _pieces(recording_file.body_of(answer), error)
        yield Reply(
            status=int(answer.get("status", 200)),
            headers=headers,
            pieces=pieces,
            framed=bool(answer.get("framed", True)),
        )

    def processor(self) -> StreamingProcessor:
        """Return a processor for a streamed body."""
        return self._inner.processor()

    def close(self) -> None:
        """Do nothing: there are no connections."""

    def recorded_outcome(self, call_id: str) -> Outcome | None:
        """Return the recorded outcome of a call, each record once; None if nothing was recorded."""
        with self._lock:
            for place, item in enumerate(self._outcomes):
                if item["call_id"] == call_id:
                    return recording_file.outcome_of(self._outcomes.pop(place)["outcome"])
        return None

    def recorded_program(self, call_id: str) -> list[tuple[str, JsonObject, Outcome]]:
        """Return the calls that the program in this call made, in order: the id, `name` and
        `arguments`, and outcome of each.
        """
        with self._lock:
            return [
                (str(item["call_id"]), item["call"], recording_file.outcome_of(item["outcome"]))
                for item in self._outcomes
                if _is_made(item.get("call")) and str(item["call_id"]).rpartition("/")[0] == call_id
            ]

    @property
    def is_over(self) -> bool:
        """Whether all turns have been returned."""
        return self._turn >= len(self._document["turns"])

    @property
    def stop_reason(self) -> str:
        """Why the recorded conversation ended; `cancelled` if that was not recorded."""
        return str(self._document.get("stop_reason", "cancelled"))

    def check_finished(self) -> None:
        """Raise Diverged if the recording continues after the end of the conversation."""
        count = len(self._document["turns"])
        if self._turn < count:
            raise Diverged(
                f"the recording {self._path} has {count} turn{'' if count == 1 else 's'}, "
                f"and the conversation ended after {self._turn}",
                turn=self._turn + 1,
                pointer=f"/turns/{self._turn}",
                hint=_AGAIN,
            )

    def _next(self, payload: JsonObject) -> JsonObject:
        recorded, number = self._document["turns"], self._turn + 1
        if number > len(recorded):
            why = (
                f"the recording {self._path} has {len(recorded)} "
                f"turn{'' if len(recorded) == 1 else 's'}, and this is request {number}"
            )
            raise Diverged(why, turn=number, pointer=f"/turns/{number - 1}", hint=_AGAIN)
        asked = payload
        if not self.bounds_results:
            from vespe.features.agents import recordings_of_02

            asked = recordings_of_02.as_sent(payload)
        found = (
            recording_file.first_difference(recorded[number - 1]["request"], asked, masked=True)
            if self._compare
            else None
        )
        if found:
            pointer, sentence = found
            why = (
                f"request {number} is not the one of the recording {self._path}: "
                f"at {pointer or 'its root'} {sentence}"
            )
            raise Diverged(why, turn=number, pointer=pointer, hint=_AGAIN)
        self._turn = number
        given: JsonObject = recorded[number - 1]["answer"]
        return given


def _is_made(call: JsonValue) -> bool:
    """Whether this is a call that a program made."""
    return (
        isinstance(call, dict)
        and isinstance(call.get("name"), str)
        and isinstance(call.get("arguments"), dict)
    )


def _kept(pieces: Iterator[bytes], body: list[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        body.append(piece)
        yield piece


def _error(told: JsonObject) -> ProviderError:
    return ProviderError(
        str(told.get("message")), **{key: told[key] for key in _ERROR_FIELDS if key in told}
    )


def _pieces(body: bytes, error: JsonValue) -> Iterator[bytes]:
    yield body
    if isinstance(error, dict):
        raise _error(error)


def _same(value: JsonValue) -> JsonValue:
    return value


def _unheard(_: object) -> None:
    return None
