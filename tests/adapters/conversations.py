"""Whole conversations and tools from a seed: what both formats can express, in its canonical form,
and nonsense under the right names.
"""

import json
import string
from collections.abc import Iterator
from typing import Any

from tests.support.nonsense import Nonsense
from vespe.models import Tool

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
CACHED: dict[str, Any] = {"cache_control": {"type": "ephemeral"}}
IMAGES: list[dict[str, Any]] = [
    {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
    {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
]
FILES: list[dict[str, Any]] = [
    {
        "type": "file",
        "file": {"file_data": "data:application/pdf;base64,JVBERi0xLjQK", "filename": "a.pdf"},
    },
    {"type": "file", "file": {"file_data": "data:text/plain;base64,aGVsbG8=", "filename": "a.txt"}},
    {"type": "file", "file": {"file_id": "file-abc"}},
]
ASIDE: list[dict[str, Any]] = [
    {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
    {"type": "redacted_thinking", "data": "eHh4"},
    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "a"}},
]
RESULT_BLOCKS: list[dict[str, Any]] = [
    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
    {
        "type": "image",
        "source": {"type": "url", "url": "https://example.com/a.png"},
        "cache_control": {"type": "ephemeral"},
    },
    {
        "type": "document",
        "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0xLjQK"},
        "title": "a",
        "context": "b",
    },
    {"type": "document", "source": {"type": "url", "url": "https://example.com/a.pdf"}},
    {
        "type": "search_result",
        "content": [{"type": "text", "text": "a"}],
        "source": "s",
        "title": "t",
    },
    {"type": "tool_reference", "tool_name": "t"},
]
USER_BLOCKS: list[dict[str, Any]] = [
    *RESULT_BLOCKS[:-1],
    {"type": "container_upload", "file_id": "file_1"},
]
MARKLIKE = ("[name: bob]", "[name: eve]", "[name: ]", "[name]")
LETTERS, WORD = string.ascii_letters, string.ascii_letters + string.digits
EVERY_PLANE = [(0, 0x7F), (0x80, 0xD7FF), (0xE000, 0xFFFF), (0x10000, 0x10FFFF)]


def openai(count: int, *, images: bool = True) -> Iterator[list[dict[str, Any]]]:
    """Yield `count` conversations in OpenAI's format that Anthropic can express: turns in order,
    each call answered, ids unique.
    """
    return (_Conversation(seed, images=images).openai() for seed in range(count))


def anthropic(count: int) -> Iterator[tuple[Any, list[dict[str, Any]]]]:
    """Yield `count` (system, messages) that keep Anthropic's rules, with every kind of block in
    every place that it may stand in.
    """
    return (_Conversation(seed).anthropic() for seed in range(count))


def wild(count: int) -> Iterator[list[dict[str, Any]]]:
    """Yield `count` lists of messages of nonsense under the right names."""
    return (_Wild(seed).messages() for seed in range(count))


def objects(count: int) -> Iterator[dict[str, Any]]:
    """Yield `count` objects as arguments have them, many of which look like those that we keep as a
    text.
    """
    return (_Conversation(seed).object() for seed in range(count))


def tools(count: int) -> Iterator[Tool]:
    """Yield `count` tools of any name, with schemas of several properties."""
    return (_Conversation(seed).tool() for seed in range(count))


class _Conversation(Nonsense):
    """What one seed says; many texts look like our own marks, which must not be taken for them."""

    def __init__(self, seed: int, *, images: bool = True) -> None:
        super().__init__(seed)
        self.images = images

    def openai(self) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = [
            {"role": "system", "content": said} for said in self.some(self.spoken)
        ]
        ids = iter(self.ids(foreign=True))
        messages += self.users()
        for _ in range(self.randint(0, 3)):
            names = self.some(self.name)
            calls = [
                {
                    "id": next(ids),
                    "type": "function",
                    "function": {"name": name, "arguments": self.arguments()},
                }
                for name in names
            ]
            messages += self.answer_and_results(calls)
            if not calls or self.random() < 0.5:
                messages += self.users()
        return messages

    def anthropic(self) -> tuple[Any, list[dict[str, Any]]]:
        system: Any = self.choice(([], self.spoken(), self.blocks([], 1, 3)))
        ids = iter(self.ids(foreign=False))
        messages: list[dict[str, Any]] = [
            {
                "role": "user",
                "content": self.choice((self.spoken(), self.blocks(USER_BLOCKS, 1, 3))),
            }
        ]
        for _ in range(self.randint(0, 3)):
            calls = [
                {"type": "tool_use", "id": next(ids), "name": self.name(), **self.call()}
                for _ in range(self.randint(0, 3))
            ]
            said = [*calls, *self.blocks(ASIDE, 0 if calls else 1, 3)]
            self.shuffle(said)
            messages.append({"role": "assistant", "content": said})
            results = [
                {"type": "tool_result", "tool_use_id": call["id"], **self.result()}
                for call in calls
            ]
            messages.append(
                {
                    "role": "user",
                    "content": [*results, *self.blocks(USER_BLOCKS, 0 if results else 1, 2)],
                }
            )
            if self.random() < 0.5:
                messages.append(
                    {
                        "role": "system",
                        "content": self.choice((self.spoken(), self.blocks([], 1, 2))),
                    }
                )
        return system, messages

    def text(self, most: int = 30) -> str:
        """Return a text that says something, of characters of every plane but halves."""
        if self.random() < 0.15:
            return self.choice(MARKLIKE)
        return "".join(
            chr(self.randint(*self.choice(EVERY_PLANE)))
            for _ in range(self.randint(1, self.choice((1, 4, most))))
        )

    def spoken(self) -> str:
        return next(text for _ in range(99) if (text := self.text()).strip())

    def name(self) -> str:
        return self.choice(LETTERS + "_") + "".join(
            self.choices(WORD + "_-", k=self.randint(0, 20))
        )

    def ids(self, *, foreign: bool) -> list[str]:
        def made() -> str:
            kind = self.random()
            if kind < 0.2:
                return self.choice(("vespe_id_6162", "vespe_id_613a62", "vespe_id_"))
            if foreign and kind < 0.6:
                return self.text(6)
            return self.choice(("call_", "toolu_")) + "".join(
                self.choices(WORD, k=self.randint(4, 12))
            )

        return list(dict.fromkeys(made() for _ in range(60)))[:12]

    def object(self) -> Any:
        if self.random() < 0.3:
            return {
                "vespe_arguments": self.choice(
                    ("x", "{}", "", '{"vespe_arguments":"x"}', {"custom": 1}, {}, 3)
                )
            }
        return {
            self.text(): self.anything(leaf=self.scalar, depth=2) for _ in range(self.randint(0, 4))
        }

    def scalar(self) -> Any:
        return self.choice(
            (
                None,
                True,
                False,
                self.randint(-(10**18), 10**18),
                self.uniform(-1e9, 1e9),
                1e300,
                self.text(),
                self.text(),
            )
        )

    def schema(self) -> dict[str, Any]:
        kinds: list[Any] = [
            {"type": "string"},
            {"type": "integer", "minimum": 0},
            {"anyOf": [{"type": "string"}, {"type": "null"}]},
            {"enum": ["a", 1]},
        ]
        properties = {self.name(): self.choice(kinds) for _ in range(self.randint(0, 4))}
        return {
            "type": "object",
            "properties": properties,
            "additionalProperties": self.random() < 0.5,
        }

    def tool(self) -> Tool:
        return Tool(
            uid="tool-t",
            name=self.name(),
            description=self.spoken(),
            input_schema=self.schema(),
            output_schema=self.choice((None, self.schema())),
            annotations=self.choice(({}, {"title": "T"})),
            document=self.choice(
                (
                    {},
                    *(
                        {"api_fields": {"openai": {"function": {"strict": strict}}}}
                        for strict in (True, False)
                    ),
                )
            ),
        )

    def arguments(self) -> str:
        """Return arguments in the form that they come back in: compact JSON of an object, or a text
        that is none.
        """
        if self.random() < 0.3:
            return self.choice(('{"a": ', "[1]", "not json"))
        return json.dumps(self.object(), ensure_ascii=False, separators=(",", ":"))

    def part(self, text: str) -> dict[str, Any]:
        return {"type": "text", "text": text, **self.choice(({}, CACHED))}

    def user(self) -> dict[str, Any]:
        others = [*IMAGES, *FILES] if self.images else []
        more = [
            self.part(self.text()) if self.random() < 0.4 or not others else self.choice(others)
            for _ in range(self.randint(1, 3))
        ]
        content = self.choice((self.spoken(), [self.part(self.spoken()), *more]))
        return {
            "role": "user",
            "content": content,
            **self.choice(({}, {}, {"name": "alice"}, {"name": "bob"})),
        }

    def users(self) -> list[dict[str, Any]]:
        """Return a turn of one user, or of a named one and others, of whom each is marked."""
        first, *more = (self.user() for _ in range(self.randint(1, 3)))
        return [{**first, "name": "bob"}, *more] if more else [first]

    def answer_and_results(self, calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
        parts = [self.part(self.spoken()) for _ in range(self.randint(2 if calls else 1, 3))]
        if not calls:
            return [{"role": "assistant", "content": self.choice((self.spoken(), parts))}]
        made = [
            {
                "role": "assistant",
                "content": self.choice((None, self.spoken(), parts)),
                "tool_calls": calls,
            }
        ]
        for call in calls:
            told = [
                self.choice(IMAGES)
                if self.images and self.random() < 0.5
                else self.part(self.text())
                for _ in range(self.randint(1, 2))
            ]
            result: dict[str, Any] = {
                "role": "tool",
                "tool_call_id": call["id"],
                "content": self.choice(("", self.text(), told)),
            }
            made.append(result | self.choice(({}, {"is_error": True}, {"is_error": False})))
        return made

    def blocks(self, others: list[dict[str, Any]], least: int, most: int) -> list[Any]:
        """Return text blocks of Anthropic's, among `others`."""

        def block() -> dict[str, Any]:
            if others and self.random() < 0.7:
                return self.choice(others)
            return {
                "type": "text",
                "text": self.spoken(),
                **self.choice(({}, {}, CACHED, {"citations": None})),
            }

        return [block() for _ in range(self.randint(least, most))]

    def call(self) -> dict[str, Any]:
        return {"input": self.object(), **self.choice(({}, CACHED, {"caller": {"type": "direct"}}))}

    def result(self) -> dict[str, Any]:
        """Return what a result holds besides its call's id."""
        content = self.choice(
            ({}, {"content": self.text()}, {"content": self.blocks(RESULT_BLOCKS, 1, 3)})
        )
        return {**content, **self.choice(({}, {"is_error": True}, {"is_error": False}, CACHED))}


KEYS = (
    *(
        "content",
        "tool_calls",
        "tool_call_id",
        "name",
        "refusal",
        "function_call",
        "anthropic_blocks",
        "cache_control",
        "is_error",
    ),
    *("images", "thinking", "reasoning_details", "anthropic"),
)
BLOCK_KEYS = (
    *(
        "type",
        "text",
        "source",
        "image_url",
        "file",
        "id",
        "name",
        "input",
        "content",
        "tool_use_id",
        "function",
        "anthropic",
    ),
    *("cache_control", "arguments", "url", "custom"),
)
BLOCK_TYPES = (
    *(
        "text",
        "image",
        "image_url",
        "file",
        "document",
        "document_url",
        "tool_use",
        "tool_result",
        "refusal",
        "function",
        "custom",
    ),
    *("base64", "url"),
)
ROLES = ("system", "developer", "user", "assistant", "tool", "function")


class _Wild(Nonsense):
    def messages(self) -> list[dict[str, Any]]:
        chance = self.choice((0.2, 0.5))
        return [
            {"role": self.choice(ROLES), **self.fields(dict.fromkeys(KEYS, self.value), chance)}
            for _ in range(self.randint(0, 4))
        ]

    def value(self, depth: int = 3) -> Any:
        kind = self.random() if depth else 0
        if kind < 0.3:
            return self.anything(depth=2)
        if kind < 0.6:
            return [self.value(depth - 1) for _ in range(self.randint(0, 3))]
        fields = self.fields(dict.fromkeys(BLOCK_KEYS, lambda: self.value(depth - 1)), 0.25)
        return {
            **fields,
            **self.fields({"type": lambda: self.choice((*BLOCK_TYPES, self.scalar()))}, 0.8),
        }
