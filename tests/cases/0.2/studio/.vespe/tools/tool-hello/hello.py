"""Count what a text holds; change the function and its docstring, and the schema in config.json with them."""

from typing import TypedDict


class Counts(TypedDict):
    characters: int
    words: int
    lines: int


def hello(text: str = "hello, world") -> Counts:
    """Count the characters, words and lines of a text.

    Args:
        text: The text to count in.

    Returns:
        How many of each the text holds.
    """
    return {"characters": len(text), "words": len(text.split()), "lines": len(text.splitlines())}
