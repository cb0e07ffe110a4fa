"""How many tokens a definition costs a model, where no tokenizer says it exactly; pure."""

from typing import Final

CHARACTERS_PER_TOKEN: Final = 4
"""What English text and JSON come to in the common tokenizers, give or take a fifth."""


def tokens_of(characters: int) -> int:
    """Estimate the tokens of so many characters, rounded up."""
    return -(-characters // CHARACTERS_PER_TOKEN)
