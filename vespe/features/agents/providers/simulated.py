"""A model that is none: it answers as a script says, over OpenAI's wire format, without a network;
the same each time.
"""

import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from vespe.adapters.streams.openai import GptStreamingProcessor
from vespe.errors import Diverged, ProviderError
from vespe.features.agents.providers import answers, failures, openai, retries, scripts, turns
from vespe.features.agents.providers import scripts as provider_scripts
from vespe.features.agents.providers.base import ModelAnswer, ProviderClass, Reply, Tools
from vespe.features.agents.providers.scripts import Script
from vespe.http.sockets import ExchangeLimits
from vespe.models import JsonObject


class SimulatedProvider:
    """A provider that answers from a script, with each turn once and in order. `script` is the path
    of a file, a dictionary, or a Script.

    Each request is compared with the turn's `match`. Diverged is raised if it does not match, and
    after the last turn. Raises InvalidDocument if `script` is not a valid script.

    ```python
    from vespe import SimulatedProvider

    model = SimulatedProvider({"turns": [{"text": "Hello."}]})
    assert model.create_message([{"role": "user", "content": "Hi"}])["content"] == "Hello."
    ```
    """

    name = "simulated"
    api = "openai"
    create_message = turns.create_message
    respond = turns.respond
    processor = GptStreamingProcessor

    def __init__(
        self,
        script: Script | JsonObject | str | os.PathLike[str],
        *,
        model: str = "",
        patience: retries.Patience = retries.AT_ONCE,
    ) -> None:
        if isinstance(script, (str, os.PathLike)):
            script = scripts.read_script(os.fspath(script))
        self._script = script if isinstance(script, Script) else scripts.checked_script(script)
        self.model = model or self._script.model
        self._patience = patience
        self._turn = self._failed = 0
        self._counted: tuple[int, int, JsonObject | None] = (0, 0, None)

    def payload(
        self,
        messages: Iterable[JsonObject],
        tools: Tools | None = None,
        *,
        options: Mapping[str, object] | None = None,
        stream: bool = False,
    ) -> JsonObject:
        """Return the request in OpenAI's format."""
        return openai.payload(self.model, messages, tools, options=options, stream=stream)

    @contextmanager
    def send(
        self, payload: JsonObject, *, cancel: threading.Event | None = None
    ) -> Iterator[Reply]:
        """Answer a request with the script's next turn, including its failures."""
        limits = self._patience.limits("the simulated request", cancel)
        limits.remaining()
        yield retries.persistently(
            lambda: self._attempt(payload, limits), self._patience, limits=limits, cancel=cancel
        )

    def answer(self, document: JsonObject) -> ModelAnswer:
        """Read a body in OpenAI's format that was not streamed."""
        return answers.of_document(GptStreamingProcessor(), document)

    def close(self) -> None:
        """Do nothing: there are no connections."""

    def _attempt(self, payload: JsonObject, limits: ExchangeLimits) -> Reply:
        number, turn = self._turn + 1, self._next()
        scripts.check_match(turn, payload, number=number, path=self._script.path)
        fail = turn.get("fail", {})
        if fail and (self._failed < fail.get("times", 1) or not scripts.says_something(turn)):
            self._failed += 1
            return self._failing(fail, self._pieces(turn, payload), limits)
        pieces = self._pieces(turn, payload)
        self._turn, self._failed = number, 0
        return Reply(
            status=200,
            headers=(("content-type", _kind(payload)),),
            pieces=pieces,
            request_id=f"simulated-{number}",
        )

    def _answers_in(self, messages: list[JsonObject]) -> int:
        """Count the assistant's messages: behind those that were counted before, where they are the
        same ones.
        """
        known, count, last = self._counted
        if not (0 < known <= len(messages) and messages[known - 1] is last):
            known = count = 0
        count += sum(1 for message in messages[known:] if message.get("role") == "assistant")
        self._counted = len(messages), count, messages[-1] if messages else None
        return count

    def _next(self) -> JsonObject:
        if self._turn < len(self._script.turns):
            return self._script.turns[self._turn]
        count, path = len(self._script.turns), self._script.path
        raise Diverged(
            f"the script {path or 'of the simulated provider'} is exhausted: "
            f"request {count + 1} of {count}",
            turn=count + 1,
            pointer="/turns",
            hint="add a turn to the script, or end the conversation earlier",
        )

    def _failing(self, fail: JsonObject, pieces: Iterator[bytes], limits: ExchangeLimits) -> Reply:
        if "status" in fail:
            headers = {"retry-after": str(fail["retry_after"])} if "retry_after" in fail else {}
            raise failures.of_status(
                fail["status"],
                headers,
                provider_scripts.failure(fail),
                who="the simulated provider",
            )
        if "stall" in fail:
            limits.sleep()
        whole = b"".join(pieces)
        kept = whole[: len(whole) // 2 if fail["cut"] is True else fail["cut"]]
        if not kept:
            raise failures.broken("the simulated provider", "as the script says")
        return Reply(status=200, headers=(), pieces=_cut(kept))

    def _pieces(self, turn: JsonObject, payload: JsonObject) -> Iterator[bytes]:
        # by the conversation and not by the script, so that one that is resumed with another script
        # has no id twice
        number = 1 + self._answers_in(payload["messages"])
        if payload.get("stream"):
            return provider_scripts.streamed(turn, number=number, model=self.model)
        return iter([provider_scripts.whole(turn, number=number, model=self.model)])


def _cut(kept: bytes) -> Iterator[bytes]:
    yield kept
    raise ProviderError(
        f"the simulated provider broke off after {len(kept)} bytes of its answer, "
        "as the script says",
        transient=True,
    )


def _kind(payload: JsonObject) -> str:
    return "text/event-stream" if payload.get("stream") else "application/json"


SIMULATED: Final[ProviderClass] = SimulatedProvider
