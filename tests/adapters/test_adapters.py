"""The table of shapes knows the model APIs that the commands offer."""

from vespe.adapters import SHAPES


def test_the_four_shapes_are_in_the_table() -> None:
    assert set(SHAPES) == {"openai", "anthropic", "ollama", "mcp"}
