"""Recordings of the Responses and Interactions APIs, whole: streams gathered and cut, conversations
there and back, every request that is made judged by the vendors' types.

Recordings are the kept ones, those of the shared corpus, and the cassettes and fixtures in
checkouts of public suites, whose directories VESPE_RECORDINGS lists, one path behind a colon after
another; without it they are left out, and this is said.
"""

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from tests.adapters import google_judges, judges
from tests.adapters.streams.streams import (
    differences,
    fed,
    fed_in_places,
    kept,
    of_corpus,
    openai_response,
    result,
)
from tests.benchmarks import adapters as translation
from tests.benchmarks import streams as speed
from vespe import InteractionsStreamingProcessor, ResponsesStreamingProcessor
from vespe.adapters import gemini_interactions, openai_responses
from vespe.errors import InvalidDocument
from vespe.features.agents.providers.gemini import GeminiProvider
from vespe.features.agents.providers.openai_responses import OpenAIResponsesProvider

SHARED: Final = Path(__file__).resolve().parents[3] / "shared"
CHECKOUTS: Final = "VESPE_RECORDINGS"
APIS: Final = ("openai-responses", "gemini")


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its answer, each where it was recorded: `body` is a stream, `answer` a
    document."""

    name: str
    api: str
    request: dict[str, Any] | None = None
    answer: dict[str, Any] | None = None
    body: bytes = b""
    status: int = 200


@dataclass(slots=True)
class Found:
    """How many there were of each sort, and what was wrong."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def fault(self, name: str, what: object) -> None:
        self.wrong.append(f"{name}: {what}"[:400])


def exchanges() -> Iterator[Exchange]:
    """Give every recording of these two APIs."""
    rows = [*kept(), *(of_corpus(SHARED) if (SHARED / "corpus").is_dir() else ())]
    seen = set()
    for row in rows:
        if row.api in APIS and row.body not in seen:
            seen.add(row.body)
            yield Exchange(row.name, row.api, body=row.body)
    for place in filter(None, os.environ.get(CHECKOUTS, "").split(":")):
        for path in sorted(Path(place).rglob("*")):
            if path.is_file():
                yield from of_file(path, str(path.relative_to(place)))


def of_file(path: Path, name: str) -> Iterator[Exchange]:
    """Give what a cassette or a fixture holds."""
    if path.suffix in (".yaml", ".yml") and "cassettes" in path.parts:
        held = yaml.load(path.read_bytes(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        for at, row in enumerate((held or {}).get("interactions", ())):
            yield from of_cassette(row, f"{name}#{at}")
    elif path.name.endswith(".chunks.txt") and "__fixtures__" in path.parts:
        lines = [line for line in path.read_text("utf-8").splitlines() if line.strip()]
        body = "".join(f"data: {line}\n\n" for line in lines).encode()
        if lines and (api := api_of(lines[0])):
            yield Exchange(name, api, body=body)
    elif path.suffix == ".json" and "__fixtures__" in path.parts:
        answer = json.loads(path.read_text("utf-8"))
        if isinstance(answer, dict) and isinstance(answer.get("output"), list):
            yield Exchange(name, "openai-responses", answer=answer)
        elif isinstance(answer, dict) and isinstance(answer.get("steps"), list):
            yield Exchange(name, "gemini", answer=answer)


def of_cassette(row: dict[str, Any], name: str) -> Iterator[Exchange]:
    request, response = row.get("request"), row.get("response")
    if not isinstance(request, dict) or not isinstance(response, dict):
        return  # a socket's
    path = request["uri"].partition("?")[0]
    api = {"/responses": "openai-responses", "/interactions": "gemini"}.get(
        next((end for end in ("/responses", "/interactions") if path.endswith(end)), "")
    )
    if api is None or request["method"] != "POST":
        return
    asked, told = request.get("parsed_body"), response.get("parsed_body")
    body = (response.get("body") or {}).get("string") or ""
    body = body.encode() if isinstance(body, str) else body
    streams = isinstance(asked, dict) and asked.get("stream")
    yield Exchange(
        name,
        api,
        request=asked if isinstance(asked, dict) else None,
        answer=told if isinstance(told, dict) else None,
        body=body if streams else b"",
        status=(response.get("status") or {}).get("code", 200),
    )


def api_of(line: str) -> str:
    try:
        event = json.loads(line)
    except ValueError:
        return ""
    if "event_type" in event:
        return "gemini"
    return "openai-responses" if str(event.get("type", "")).startswith("response.") else ""


def stream_checked(one: Exchange, found: Found) -> None:
    """Gather a stream whole, cut, in CRLF and between comments, and compare it with what the
    vendor's SDK gathers.
    """
    whole, events = fed(one.api, one.body)
    told = result(whole)
    cut, cut_events = fed_in_places(one.api, one.body)
    if (cut_events, result(cut)) != (events, told):
        found.fault(one.name, "gives something else where it is cut")
    plain = one.body.replace(b"\r\n", b"\n")
    forms = {
        "CRLF": plain.replace(b"\n", b"\r\n"),
        "comments": b": hello\n\n" + plain.replace(b"\n\n", b"\n\n: keep-alive\n\n"),
    }
    for form, body in forms.items():
        if result(fed(one.api, body)[0]) != told:
            found.fault(one.name, f"gives something else with {form}")
    if [event.type for event in events].count("done") != 1:
        found.fault(one.name, "is not done once")
    broken_off_checked(one, told["calls"], found)
    if whole.error is not None:
        found.counts[f"{one.api}: streams that tell an error"] += 1
    elif one.api == "openai-responses":
        sdk_checked(one, whole.native_message(), found)
    else:
        for line in one.body.splitlines():
            if line.startswith(b"data: {") and google_judges.complaint(
                "event", json.loads(line[6:])
            ):
                found.counts["gemini: events that Google's types do not know"] += 1
    found.counts[f"{one.api}: streams"] += 1
    answer_checked(one, whole.native_message(), found)


def broken_off_checked(one: Exchange, calls: list[dict[str, Any]], found: Found) -> None:
    """Break a stream off in 60 places: only calls that the whole one makes may run."""
    whole = [call["function"] for call in calls]
    for at in range(0, len(one.body), max(1, len(one.body) // 60)):
        processor, _ = fed(one.api, one.body[:at])
        cut = processor.cut_calls()
        for call in processor.get_tool_calls():
            if call["id"] not in cut and call["function"] not in whole:
                found.fault(one.name, f"another call may run where it breaks off at {at}")
        found.counts[f"{one.api}: streams broken off"] += 1


def sdk_checked(one: Exchange, ours: dict[str, Any], found: Found) -> None:
    try:
        theirs = openai_response(one.body)
    except RuntimeError as error:
        found.counts[f"openai's SDK refuses: {error}"] += 1
        return
    for place, mine, other in differences(ours, theirs):
        if place == "/output" and other == []:
            found.counts["openai's SDK loses the items"] += 1
        else:
            found.fault(one.name, f"{place}: {mine!r:.80} where the SDK has {other!r:.80}")


def answer_checked(one: Exchange, answer: dict[str, Any], found: Found) -> None:
    """Make an answer a message, and the items or steps of the next request again."""
    responses = one.api == "openai-responses"
    module: Any = openai_responses if responses else gemini_interactions
    items = answer.get("output" if responses else "steps") or []
    message = module.assistant_message(items)
    wanted = items if responses else gemini_interactions.last_turn(items)
    made = module.from_openai_messages([{"role": "user", "content": "Hi"}, message])["input"][1:]
    for place, mine, other in differences(made, wanted):
        found.fault(one.name, f"answer{place}: {mine!r:.80} came back of {other!r:.80}")
    found.counts[f"{one.api}: answers"] += 1
    if one.request is None:
        continued = [{"role": "user", "content": "Hi"}, message, *results(message)]
        recorded = {"model": "m", "input": module.from_openai_messages(continued)["input"]}
        request_checked(one, continued, recorded, found)


def results(message: dict[str, Any]) -> list[dict[str, Any]]:
    """Give a result of each call of a message."""
    return [
        {"role": "tool", "tool_call_id": call["id"], "content": "3"}
        for call in message.get("tool_calls", ())
    ]


def conversation_checked(one: Exchange, found: Found) -> None:
    """Read a recorded request's conversation, give it back, and ask it again as a provider does."""
    request: dict[str, Any] = one.request or {}
    responses = one.api == "openai-responses"
    module: Any = openai_responses if responses else gemini_interactions
    items = (module.as_items if responses else module.as_steps)(request["input"])
    system = request.get("instructions" if responses else "system_instruction")
    try:
        messages = module.to_openai_messages(items, system)
        made = module.from_openai_messages(messages)
    except InvalidDocument:
        stored = "previous_response_id" in request or "conversation" in request
        refused = 400 <= one.status < 500
        if not (stored or refused):
            raise
        kind = "of which the vendor keeps a part" if stored else "that the vendor refused too"
        found.counts[f"{one.api}: conversations {kind}"] += 1
        return
    wanted = [
        {"type": "message", **item} if "role" in item else item
        for item in items
        if item.get("content") != "" or item.get("role") == "assistant"
    ]
    if responses and system:
        wanted.insert(0, {"type": "message", "role": "system", "content": system})
    for place, mine, other in differences(made["input"], wanted):
        found.fault(one.name, f"input{place}: {mine!r:.100} came back of {other!r:.100}")
    found.counts[f"{one.api}: conversations"] += 1
    request_checked(one, messages, {"model": "m", "input": wanted}, found)


def request_checked(
    one: Exchange, messages: list[dict[str, Any]], recorded: dict[str, Any], found: Found
) -> None:
    """Make the request that asks a conversation anew. It is judged by the vendor's types, and by
    the document of Open Responses, where these take what was recorded.
    """
    responses = one.api == "openai-responses"
    made: Any = (OpenAIResponsesProvider if responses else GeminiProvider)("m", api_key="none")
    tools = [
        tool
        for tool in (one.request or {}).get("tools") or ()
        if isinstance(tool, dict) and tool.get("type") == "function"
    ]
    for stream in (False, True):
        payload = made.payload(messages, tools, stream=stream)
        for kind in kinds_of(one.api, stream=stream):
            if complaint(kind, recorded | ({"stream": True} if stream else {})):
                found.counts[f"{kind}: recorded items that it does not know"] += 1
            elif said := complaint(kind, payload):
                found.fault(one.name, f"{kind}: {said}")
            else:
                found.counts[f"{kind}: valid"] += 1
        found.counts[f"{one.api}: requests"] += 1


def kinds_of(api: str, *, stream: bool) -> tuple[str, ...]:
    if api == "gemini":
        return ("request",)
    return (f"openai-responses {'streamed ' * stream}request", "open responses request")


def complaint(kind: str, value: dict[str, Any]) -> str:
    if kind == "request":
        return google_judges.complaint(kind, value)
    return judges.complaint(kind, value)


def speeds(size: int) -> dict[str, float]:
    """Give by processor time how fast both APIs are: streams beside bare loops over lines, and
    translations beside those of Anthropic's API.
    """
    made: dict[str, float] = {}
    for name, data, bare, processor in (
        (
            "responses",
            speed.responses_stream(size),
            speed.bare_responses,
            ResponsesStreamingProcessor,
        ),
        (
            "interactions",
            speed.interactions_stream(size),
            speed.bare_interactions,
            InteractionsStreamingProcessor,
        ),
    ):
        ratio = compared(speed.gathered(processor, 65536), bare, data)
        made[f"stream of {name}, beside a bare loop"] = ratio
    roads = translation.roads(translation.conversation(1000))
    us = {name: translation.best(road) * 1000 for name, road in roads.items()}
    for name in ("responses", "interactions"):
        made[f"µs a message, openai -> {name}"] = round(us[f"vespe: openai -> {name}"], 2)
        made[f"µs a message, {name} -> openai"] = round(us[f"vespe: {name} -> openai"], 2)
    made["µs a message, openai -> anthropic"] = round(us["vespe: openai -> anthropic"], 2)
    made["µs a message, anthropic -> openai"] = round(us["vespe: anthropic -> openai"], 2)
    return made


def compared(ours: Callable[[bytes], Any], bare: Callable[[bytes], Any], data: bytes) -> float:
    """Give how fast ours is beside the bare loop, each round of one behind one of the other."""
    rates = [(speed.best(ours, data, 1), speed.best(bare, data, 1)) for _ in range(15)]
    return round(max(rate for rate, _ in rates) / max(rate for _, rate in rates), 2)


def surveyed() -> dict[str, Any]:
    """Give what became of every recording."""
    found = Found()
    for one in exchanges():
        try:
            if one.body:
                stream_checked(one, found)
            elif one.answer is not None:
                answer_checked(one, one.answer, found)
            if one.request is not None and one.request.get("input") is not None:
                conversation_checked(one, found)
        except Exception as error:  # a fault of ours, of any kind, is what is looked for
            found.fault(one.name, repr(error))
    return {"counts": dict(sorted(found.counts.items())), "wrong": found.wrong}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--megabytes", type=float, default=5, help="the size of a timed stream")
    options = parser.parse_args()
    places = [place for place in os.environ.get(CHECKOUTS, "").split(":") if place]
    if not places:
        sys.stderr.write(f"{CHECKOUTS} names no checkout: public suites are left out\n")
    made = {"suites": [Path(place).name for place in places], **surveyed()}
    made["speeds"] = speeds(int(options.megabytes * 1e6))
    sys.stdout.write(json.dumps(made, indent=2, ensure_ascii=False) + "\n")
    slow = [name for name, ratio in made["speeds"].items() if "bare" in name and ratio < 0.8]
    return 1 if made["wrong"] or slow else 0


if __name__ == "__main__":
    sys.exit(main())
