"""The recorded conversations through every translation: `python -m tests.adapters.corpus [FOLDER]`
prints what becomes of each.

FOLDER holds `openai/`, `anthropic/` and `ollama/` with `{"request": …}` files; by default the
shared corpus beside a checkout.
"""

import contextlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.adapters.judges import assert_anthropic_request
from vespe.adapters import anthropic, ollama
from vespe.errors import InvalidDocument

DEFAULT = Path(__file__).resolve().parents[3] / "shared" / "corpus" / "conversations"
Messages = list[dict[str, Any]]


@dataclass(frozen=True)
class Passage:
    """One conversation on one road there and back: `refused` is the sentence, `lost` the fields
    that did not come back.
    """

    source: str
    target: str
    name: str
    refused: str = ""
    lost: tuple[str, ...] = ()


def inner(api: str, request: dict[str, Any]) -> Messages:
    """Give the inner messages of a recorded request."""
    if api == "anthropic":
        return anthropic.to_openai_messages(request["messages"], request.get("system"))
    return (
        ollama.to_openai_messages(request["messages"]) if api == "ollama" else request["messages"]
    )


def through_anthropic(messages: Messages) -> Messages:
    """Give messages as they come back from Anthropic's format, whose types and rules take them on
    the way.
    """
    made = anthropic.from_openai_messages(messages)
    assert_anthropic_request(made["system"], made["messages"])
    back = anthropic.to_openai_messages(made["messages"], made["system"])
    assert anthropic.from_openai_messages(back) == made, "a second pass changes the request"
    return back


def through_ollama(messages: Messages) -> Messages:
    """Give messages as they come back from Ollama's format."""
    made = ollama.from_openai_messages(messages)["messages"]
    back = ollama.to_openai_messages(made)
    assert ollama.from_openai_messages(back)["messages"] == made, (
        "a second pass changes the request"
    )
    return back


ROADS: dict[str, Callable[[Messages], Messages]] = {
    "anthropic": through_anthropic,
    "ollama": through_ollama,
}


def survey(folder: Path) -> Iterator[Passage]:
    """Give what becomes of every conversation under `folder` on each road; a recorded request on
    its way home, too.
    """
    for path in sorted(folder.glob("*/*.json")):
        api, request = path.parent.name, json.loads(path.read_text(encoding="utf-8"))["request"]
        if "messages" not in request:
            continue
        messages = inner(api, request)
        for target, road in ROADS.items():
            try:
                yield Passage(
                    api, target, path.stem, lost=tuple(sorted(missing(messages, road(messages))))
                )
            except InvalidDocument as error:
                yield Passage(api, target, path.stem, refused=str(error))


def missing(before: Messages, after: Messages) -> set[str]:
    """Name the fields of `before` that `after` has not, or has otherwise; JSON texts are compared
    as values, nothing as nothing.
    """
    first, second = (
        [plain(message) for message in before if said(message)],
        [plain(message) for message in after],
    )
    if len(first) != len(second):
        return {"messages merged or split"}
    return {
        name
        for one, other in zip(first, second, strict=True)
        for name in differences(one, other, one.get("role", ""))
    }


def said(message: dict[str, Any]) -> bool:
    return bool(
        message.get("content") or message.get("tool_calls") or message.get("role") == "tool"
    )


def plain(value: Any) -> Any:
    """Bring a message to the form in which two that mean the same are the same."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    made = {
        key: plain(item)
        for key, item in value.items()
        if item not in (None, "", []) and (key, item) != ("is_error", False)
    }
    if isinstance(made.get("arguments"), str):
        with contextlib.suppress(ValueError):
            made["arguments"] = json.loads(made["arguments"])
    content = made.get("content")
    if isinstance(content, list) and len(content) == 1 and content[0].keys() == {"type", "text"}:
        made["content"] = content[0]["text"]
    return made


def differences(one: Any, other: Any, place: str) -> Iterator[str]:
    if isinstance(one, dict) and isinstance(other, dict):
        for key in one:
            if key not in other:
                yield f"{place}.{key}"
            else:
                yield from differences(one[key], other[key], f"{place}.{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for left, right in zip(one, other, strict=True):
            yield from differences(left, right, f"{place}[]")
    elif one != other:
        yield place


def counts(passages: Iterable[Passage]) -> str:
    """Give the table of docs/adapters.md: how many conversations took each road, and how many came
    back whole.
    """
    listed = list(passages)
    total = Counter((p.source, p.target) for p in listed)
    done = Counter((p.source, p.target) for p in listed if not p.refused)
    whole = Counter((p.source, p.target) for p in listed if not p.refused and not p.lost)
    rows = [
        f"| {source} | {target} | {n} | {done[source, target]} | {whole[source, target]} |"
        for (source, target), n in sorted(total.items())
    ]
    return "\n".join(
        [
            "| recorded for | translated to | conversations | translated | came back whole |",
            "|---|---|---|---|---|",
            *rows,
        ]
    )


def losses(passages: Iterable[Passage]) -> str:
    """Give the other table of docs/adapters.md: by road, what was lost, and the conversations that
    lost just that.
    """
    grouped: dict[tuple[str, str, str], list[str]] = {}
    for p in passages:
        if p.refused or p.lost:
            said = (
                "refused: "
                + p.refused.partition(": ")[2]
                .partition(",")[0]
                .partition(" at /")[0]
                .partition(" in a data")[0]
            )
            grouped.setdefault(
                (
                    p.source,
                    p.target,
                    said if p.refused else ", ".join(f"`{name}`" for name in p.lost),
                ),
                [],
            ).append(p.name)
    rows = [
        f"| {source} | {target} | {lost} | {', '.join(names)} |"
        for (source, target, lost), names in sorted(grouped.items())
    ]
    return "\n".join(["| recorded for | translated to | lost | in |", "|---|---|---|---|", *rows])


def main(folder: Path) -> None:
    """Print a line for each conversation that did not come back whole, then the counts."""
    passages = list(survey(folder))
    lines = [
        f"{p.source} -> {p.target}  {p.name}  {verdict(p)}" for p in passages if p.refused or p.lost
    ]
    fields = Counter(name for passage in passages for name in passage.lost).most_common()
    lines += [
        "",
        counts(passages),
        "",
        losses(passages),
        "",
        "fields that did not come back, and in how many conversations:",
    ]
    sys.stdout.write(
        "\n".join([*lines, *(f"  {count:3}  {name}" for name, count in fields)]) + "\n"
    )


def verdict(passage: Passage) -> str:
    return f"refused: {passage.refused}" if passage.refused else f"lost: {', '.join(passage.lost)}"


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT)
