"""Well-known shapes of secrets: API keys and tokens that vendors give a prefix, and private keys;
pure.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from vespe.documents.redaction import MASK

_SHAPES: Final[tuple[tuple[str, tuple[str, ...], str], ...]] = (
    ("an Anthropic API key", ("sk-ant-",), r"sk-ant-[a-z0-9]{2,12}-[A-Za-z0-9_-]{20,}"),
    (
        "an OpenAI API key",
        ("sk-",),
        r"sk-(?:proj-|svcacct-|admin-)[A-Za-z0-9_-]{20,}|sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}|sk-[A-Za-z0-9]{48}",
    ),
    (
        "a GitHub token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        r"gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{40,}",
    ),
    ("a GitLab token", ("glpat-",), r"glpat-[A-Za-z0-9_-]{20,}"),
    ("an AWS access key id", ("AKIA", "ASIA"), r"(?:AKIA|ASIA)[A-Z0-9]{16}"),
    (
        "an AWS secret key",
        ("ecret", "ECRET"),
        r"(?i:aws_?secret_?(?:access_?)?key)[\"'\s:=]{1,5}[A-Za-z0-9/+]{40}",
    ),
    ("an Azure storage key", ("AccountKey=",), r"AccountKey=[A-Za-z0-9+/]{60,}={0,2}"),
    ("a Google API key", ("AIza",), r"AIza[A-Za-z0-9_-]{35}"),
    ("a Google OAuth token", ("ya29.",), r"ya29\.[A-Za-z0-9_-]{20,}"),
    ("a Google client secret", ("GOCSPX-",), r"GOCSPX-[A-Za-z0-9_-]{20,}"),
    (
        "a Slack token",
        ("xox", "xapp-"),
        r"xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{10,}",
    ),
    (
        "a Slack webhook",
        ("hooks.slack.com",),
        r"https://hooks\.slack\.com/services/T[A-Z0-9]{6,}/B[A-Z0-9]{6,}/[A-Za-z0-9]{16,}",
    ),
    ("a Stripe key", ("k_live_", "k_test_"), r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    ("an npm token", ("npm_",), r"npm_[A-Za-z0-9]{36}"),
    ("a PyPI token", ("pypi-",), r"pypi-[A-Za-z0-9_-]{50,}"),
    ("a Hugging Face token", ("hf_",), r"hf_[A-Za-z0-9]{30,}"),
    ("a SendGrid key", ("SG.",), r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    ("a Twilio key", ("SK",), r"SK[0-9a-f]{32}"),
    ("a DigitalOcean token", ("_v1_",), r"do[opr]_v1_[0-9a-f]{64}"),
    ("a Telegram bot token", (":AA",), r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}"),
    (
        "an API key",
        ("gsk_", "xai-", "pplx-", "shpat_", "dckr_pat_", "lin_api_", "figd_", "nvapi-"),
        r"(?:gsk_|xai-|pplx-|shpat_|dckr_pat_|lin_api_|figd_|nvapi-)[A-Za-z0-9_-]{24,}",
    ),
    ("a bearer token", ("earer ",), r"[Bb]earer (?=[A-Za-z_.~+/-]*[0-9])[A-Za-z0-9_.~+/-]{20,}=*"),
    (
        "a JSON Web Token",
        ("eyJ",),
        r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
    ),
    (
        "a private key",
        ("-----BEGIN",),
        r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----(?:\s|\\[nr]|[A-Za-z-]+: "
        r"[^\n]*\n){0,9}[A-Za-z0-9+/=]{40}",
    ),
    (
        "a password in a URL",
        ("://",),
        r"[a-z][a-z0-9+.-]*://[^\s/:@{}$\"'<>]+:[^\s/:@{}$\"'<>]{4,}@[A-Za-z0-9.-]+",
    ),
)
"""What each looks like, words of which one is in every such text (looking for them is much
quicker), and its pattern.
"""
_COMPILED: Final = tuple(
    (what, clues, re.compile(rf"(?<![A-Za-z0-9_])(?:{pattern})"))
    for what, clues, pattern in _SHAPES
)
_MADE_UP: Final = re.compile(
    r"(?i)example|placeholder|your[_-]|dummy|redacted|changeme|xxxx|\*\*\*|<[a-z_ "
    r"-]+>|(.)\1{7}|1234567890|abcdefghij"
    r"|:(?:pass(?:word|wd)?|secret|pw|pwd)@"
)

_PRIVATE_KEY: Final = re.compile(
    r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z ]+-----|\Z)", re.DOTALL
)


class Shape(NamedTuple):
    """One secret: what it looks like, its first characters (never the whole), and its place in the
    text.
    """

    what: str
    begins: str
    at: int


def secrets_in(text: str) -> Iterator[Shape]:
    """Return what has the shape of a well-known secret, by its place; examples that say that they
    are made up are not among them.

    A place that has several shapes counts as the longest.
    """
    for start, _, what in _places(text):
        yield Shape(what, f"{text[start : start + 6]}…", start)


def masked(text: str) -> str:
    """Return a text with `***` for each such secret, and for the whole of a private key."""
    if "-----BEGIN" in text:
        text = _PRIVATE_KEY.sub(MASK, text)
    pieces: list[str] = []
    done = 0
    for start, end, _ in _places(text):
        pieces += (text[done:start], MASK)
        done = end
    return "".join((*pieces, text[done:]))


def _places(text: str) -> Iterator[tuple[int, int, str]]:
    found = [
        (match.start(), -match.end(), what)
        for what, clues, pattern in _COMPILED
        if any(clue in text for clue in clues)
        for match in pattern.finditer(text)
        if not _MADE_UP.search(match[0])
    ]
    done = 0
    for start, end, what in sorted(found):
        if start >= done:
            yield start, -end, what
            done = -end
