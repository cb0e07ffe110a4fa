"""Text that a person does not see or is not meant to weigh: invisible characters, and sentences
that steer a model; pure.
"""

import re
import unicodedata
from typing import Final, NamedTuple

_CONTROLS: Final = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
_DIRECTIONS: Final = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_UNSEEN: Final = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u2028\u2029\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
    "\U000e0000-\U000e0fff"
)
_JOINERS: Final = "\u200c\u200d"
_SELECTORS: Final = "\ufe00-\ufe0f"
_ODD: Final = re.compile(f"[{_CONTROLS}{_DIRECTIONS}{_UNSEEN}{_JOINERS}]|[{_SELECTORS}]{{2,}}")
_PICTURE: Final = frozenset(("So", "Sk", "Sm", "Cn"))
_TAG: Final = re.compile("[\U000e0020-\U000e007e]+")

_UNASSIGNED: Final = ("Cn", "Co")
"""Categories of what is no character yet, or only by private agreement: a terminal shows a box, or
nothing.
"""


class Odd(NamedTuple):
    """One kind of invisible character in a text: how it is written (U+202E), its name, how many,
    and the index of the first.
    """

    point: str
    name: str
    times: int
    at: int


class Steer(NamedTuple):
    """A sentence that addresses a model: what it tries, and the words, cut to 80 characters."""

    aim: str
    words: str


def invisible(text: str) -> list[Odd]:
    """Return the kinds of characters in `text` that are not seen or reorder what is, in the order
    in which they first stand.

    Joiners inside words of scripts that need them, and in emoji, are not among them; nor are
    newlines, tabs, and the one selector after an emoji.
    """
    if text.isascii() and (text.isprintable() or not _ODD.search(text)):
        return []
    found: dict[str, list[int]] = {}
    for match in _ODD.finditer(text):
        if match[0] in _JOINERS and _joins(text, match.start()):
            continue
        found.setdefault(match[0][0], []).append(match.start())
    for at, one in enumerate(text):
        if (
            one > "\x7f"
            and unicodedata.category(one) in _UNASSIGNED
            and not (one in found and at in found[one])
        ):
            found.setdefault(one, []).append(at)
    return [
        Odd(f"U+{ord(one):04X}", unicodedata.name(one, "CONTROL CHARACTER"), len(at), at[0])
        for one, at in found.items()
    ]


def tagged(text: str) -> str:
    """Return what the tag characters of `text` spell: letters that a model reads and a person does
    not see; "" for none.
    """
    return "".join(chr(ord(one) - 0xE0000) for run in _TAG.findall(text) for one in run)


def _joins(text: str, index: int) -> bool:
    """Whether a joiner stands between two characters of a script, or an emoji, that joiners are
    made for.
    """
    around = (text[index - 1 : index], text[index + 1 : index + 2])
    return all(
        one and (unicodedata.category(one) in _PICTURE or one == "\ufe0f" or _needs_joiners(one))
        for one in around
    )


def _needs_joiners(one: str) -> bool:
    return ord(one) >= 0x1F000 or (ord(one) > 0x5FF and unicodedata.category(one)[0] in "LM")


_STEERING: Final = tuple(
    (aim, clues, re.compile(pattern))
    for aim, clues, pattern in (
        (
            "tells a model to drop its other instructions",
            ("ignore", "disregard", "forget", "overrid", "bypass"),
            r"\b(?:ignore|disregard|forget|override|bypass)\s+(?:\w+\s+){0,3}?"
            r"(?:previous|prior|above|earlier|preceding|other|system|safety|existing)\s+(?:\w+\s+){0,2}?"
            r"(?:instruction|prompt|rule|message|guideline|direction|polic)\w*",
        ),
        (
            "tells a model to keep something from the user",
            ("not", "n't", "dont", "never", "without"),
            r"\b(?:do\s+not|don'?t|never|must\s+not|without)\s+(?:\w+\s+){0,2}?"
            r"(?:tell|telling|inform|informing|notify|notifying|alert|alerting|mention|mentioning|reveal|revealing|disclose|disclosing|"
            r"show|showing|let)\s+"
            r"(?:\w+\s+){0,4}?(?:to\s+)?(?:the\s+|any\s+)?(?:user|human|person|developer|operator)s?\b",
        ),
        (
            "addresses the model in a tag of its own",
            ("<", "["),
            r"<\s*/?\s*(?:important|system|assistant|instructions?|secret|hidden|admin|critical)\s*>|\[\s*(?:system|inst|/inst)\s*\]"
            r"|<\|(?:im_start|im_end|system|endoftext)\|>",
        ),
        (
            "tells a model to call this tool or read a file before anything else",
            ("before", "prior"),
            r"\b(?:before|prior\s+to)\s+(?:using|calling|invoking|running)\s+(?:this|any|another|other|all)\s+(?:other\s+)?tools?\b"
            r"[^.\n]{0,80}\b(?:read|open|send|pass|include|call|fetch|access|get)\b",
        ),
        (
            "asks a model for credentials or for private files",
            (
                ".ssh",
                "id_rsa",
                "id_ed",
                "credentials",
                "/etc/",
                "netrc",
                "mcp.json",
                "prompt",
                "history",
                "key",
            ),
            r"(?:\b(?:read|open|cat|include|send|pass|attach|upload|fetch|access|contents?\s+of|get)\b[^.\n]{0,60})"
            r"(?:~?/?\.ssh/|id_rsa|id_ed25519|\.aws/credentials|/etc/(?:passwd|shadow)|\.netrc|mcp\.json|"
            r"\b(?:system\s+prompt|conversation\s+history|chat\s+history|private\s+keys?)\b)",
        ),
        (
            "tells a model to act without asking",
            ("confirm", "permission", "approval", "consent", "the user"),
            r"\b(?:do\s+not|don'?t|never|without)\s+(?:ask|asking|request|requesting|wait|waiting)\b[^.\n]{0,30}"
            r"\b(?:confirm\w*|permission|approval|consent|the\s+user)\b",
        ),
        (
            "tells a model to send data elsewhere",
            ("http", "@"),
            r"\b(?:must|always|secretly|silently|quietly)\b[^.\n]{0,60}\b(?:send|forward|copy|bcc|upload|post|report|exfiltrate)\w*\b[^\n]{0,60}"
            r"(?:https?://|[\w.+-]+@[\w-]+\.\w)",
        ),
        ("hides words in a comment", ("<!--",), r"<!--(?:.|\n){3,}?-->"),
        (
            "gives a model another part to play",
            ("you", "new", "act"),
            r"\byou\s+are\s+now\s+(?:an?|the|in)\b|\bnew\s+(?:system\s+)?(?:instructions|prompt)\s*:|\bact\s+as\s+(?:if\s+you\s+(?:are|were)|root|admin)\b",
        ),
        (
            "tells a model to leave other tools",
            ("tool",),
            r"\b(?:do\s+not|don'?t|never)\s+(?:use|call|invoke)\s+(?:any\s+other|the\s+other|other|another)\s+tools?\b",
        ),
    )
)


def steering(text: str) -> list[Steer]:
    """Return the sentences of a description that tell a model what to do beyond the tool: each aim
    once, in a fixed order.

    It goes by words that real attacks used; that nothing is found proves nothing.
    """
    plain = text if text.isascii() else unicodedata.normalize("NFKC", _ODD.sub("", text))
    lower = plain.lower()
    found = (
        (aim, pattern.search(lower))
        for aim, clues, pattern in _STEERING
        if any(clue in lower for clue in clues)
    )
    return [
        Steer(aim, " ".join(plain[slice(*match.span())].split())[:80])
        for aim, match in found
        if match
    ]
