"""The vendors' own SDKs, asked over the network: what they make of an endpoint's answer, in the
terms that all of them share.
"""

import json
import warnings
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anthropic
import ollama
import openai
from openai.lib.streaming.chat import ChatCompletionStreamState

from tests.adapters.streams.streams import Recording
from tests.features.agents.providers.serving import KINDS, asking, chunked
from vespe.errors import ProviderError
from vespe.models import JsonObject

# `verify=False`: nothing here speaks TLS, and reading the certificates that the machine trusts
# takes longer than an answer.
USER = [{"role": "user", "content": "Hi"}]


@dataclass(frozen=True)
class Said:
    """What a model said: its text, and (id, name, arguments) of each call; no id where the vendor
    gives none.
    """

    text: str
    calls: list[tuple[str, str, Any]] = field(default_factory=list)


def of_message(message: JsonObject, *, ids: bool = True) -> Said:
    """Give what an inner message says."""
    content = message.get("content") or ""
    text = (
        content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
    )
    calls = [
        (
            call["id"] if ids else "",
            call["function"]["name"],
            arguments(call["function"]["arguments"]),
        )
        for call in _calls(message)
    ]
    return Said(text, calls)


def arguments(text: str) -> Any:
    """Read arguments, where they can be read: the SDKs keep texts or objects."""
    try:
        return json.loads(text) if text else {}
    except ValueError:
        return text


def _calls(message: JsonObject) -> list[JsonObject]:
    return [call for call in message.get("tool_calls") or () if "function" in call]


def openai_sdk(url: str) -> Said:
    """Ask by OpenAI's SDK, streamed, and gather by its own accumulator."""
    with openai.OpenAI(
        base_url=f"{url}/v1",
        api_key="sk-sdk",
        max_retries=0,
        timeout=20,
        http_client=openai.DefaultHttpxClient(verify=False),
    ) as client:
        state = ChatCompletionStreamState()
        asked: Any = client.chat.completions.create(model="m", messages=USER, stream=True)  # type: ignore[arg-type]  # plain data
        with asked as chunks:
            for chunk in chunks:
                state.handle_chunk(chunk)
        message = state.current_completion_snapshot.choices[0].message
        calls = [
            (call.id, call.function.name, arguments(call.function.arguments))
            for call in message.tool_calls or ()
        ]
        return Said(message.content or "", calls)


def anthropic_sdk(url: str) -> Said:
    """Ask by Anthropic's SDK, streamed, and gather by its own accumulator."""
    with anthropic.Anthropic(
        base_url=url,
        api_key="sk-sdk",
        max_retries=0,
        timeout=20,
        http_client=anthropic.DefaultHttpxClient(verify=False),
    ) as client:
        with client.messages.stream(model="m", max_tokens=9, messages=USER) as stream:  # type: ignore[arg-type]  # plain data
            message = stream.get_final_message()
        text = "".join(block.text for block in message.content if block.type == "text")
        return Said(
            text,
            [
                (block.id, block.name, block.input)
                for block in message.content
                if block.type == "tool_use"
            ],
        )


def ollama_sdk(url: str) -> Said:
    """Ask by Ollama's SDK, streamed; it gathers nothing itself, so what it reads is put together
    here.
    """
    with ollama.Client(host=url, timeout=20, verify=False) as client:
        parts = [part.message for part in client.chat(model="m", messages=USER, stream=True)]
    calls = [
        ("", call.function.name, dict(call.function.arguments))
        for part in parts
        for call in part.tool_calls or ()
    ]
    return Said("".join(part.content or "" for part in parts), calls)


SDKS: dict[str, Callable[[str], Said]] = {
    "openai": openai_sdk,
    "anthropic": anthropic_sdk,
    "ollama": ollama_sdk,
}


def heard_by(api: str, url: str) -> Said | None:
    """Give what a vendor's SDK makes of an endpoint's answer; None where it cannot read it, as it
    cannot several of the recordings.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return SDKS[api](url)
        except (
            AssertionError,
            AttributeError,
            TypeError,
            ValueError,
            RuntimeError,
            LookupError,
            openai.OpenAIError,
            anthropic.AnthropicError,
        ):
            return None


def both_hear(body: bytes, api: str) -> tuple[Said | None, Said | None]:
    """Serve a recording to our provider and to the vendor's SDK; None is for one that raises."""
    with asking(chunked(body, KINDS[api], size=997), api) as (provider, server):
        try:
            ours = of_message(
                provider.create_message(USER, on_event=lambda event: None), ids=api != "ollama"
            )
        except ProviderError:
            ours = None
        return ours, heard_by(api, server.url(""))


def unlike(
    recordings: Iterable[Recording], api: str, known: Collection[str]
) -> tuple[int, list[str]]:
    """Give how many recordings both hear alike, and the names of those that they do not, but for
    the `known` ones.

    A recording that the vendor's SDK cannot read counts as neither.
    """
    alike, different = 0, []
    for recording in recordings:
        if recording.api == api:
            ours, theirs = both_hear(recording.body, api)
            alike += ours == theirs
            if ours != theirs and theirs is not None and Path(recording.name).stem not in known:
                different.append(recording.name)
    return alike, different
