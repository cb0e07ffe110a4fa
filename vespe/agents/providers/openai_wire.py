"""OpenAI's chat completions on the wire: the request, and an answer that was not streamed."""

from collections.abc import Collection, Iterable, Mapping

from vespe.adapters import openai
from vespe.adapters.streams.openai import GptStreamingProcessor
from vespe.agents.providers import requests
from vespe.agents.providers.base import Answer, Tools
from vespe.documents import strict_json
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
    """Give the request; what only Vespe or another API knows, but for the fields in `keep`, is taken off the messages."""
    made: JsonObject = {"model": model, "messages": openai.to_wire(messages, keep=keep)}
    if defined := requests.definitions(tools, openai.OpenAIShape()):
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
