"""Which characters a person does not see, or takes for a plain space: one table for names, for
terminals and for reviews; pure.
"""

from typing import Final

from vespe.lazy import pattern

_BLANK: Final = pattern(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U0001d159\U000e0100-\U000e01ef]"
)
"""What is a letter, a mark or a symbol by its category, and nothing to the eye: fillers, blanks,
selectors of variants.
"""


def is_seen(text: str) -> bool:
    """Say whether a person sees every character: none that controls, formats or is private or
    unassigned, no space but U+0020.
    """
    return text.isprintable() and (text.isascii() or not _BLANK.search(text))
