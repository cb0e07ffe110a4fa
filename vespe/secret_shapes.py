"""Well-known shapes of secrets: API keys and tokens that vendors give a prefix, and private keys; pure."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_SHAPES: Final[tuple[tuple[str, str], ...]] = (
    ("an Anthropic API key", r"sk-ant-[a-z0-9]{2,12}-[A-Za-z0-9_-]{20,}"),
    ("an OpenAI API key", r"sk-(?:proj-|svcacct-|admin-)[A-Za-z0-9_-]{20,}|sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}|sk-[A-Za-z0-9]{48}"),
    ("a GitHub token", r"gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{40,}"),
    ("a GitLab token", r"glpat-[A-Za-z0-9_-]{20,}"),
    ("an AWS access key id", r"(?:AKIA|ASIA)[A-Z0-9]{16}"),
    ("a Google API key", r"AIza[A-Za-z0-9_-]{35}"),
    ("a Google OAuth token", r"ya29\.[A-Za-z0-9_-]{20,}"),
    ("a Slack token", r"xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{10,}"),
    ("a Slack webhook", r"https://hooks\.slack\.com/services/T[A-Z0-9]{6,}/B[A-Z0-9]{6,}/[A-Za-z0-9]{16,}"),
    ("a Stripe key", r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    ("an npm token", r"npm_[A-Za-z0-9]{36}"),
    ("a PyPI token", r"pypi-[A-Za-z0-9_-]{50,}"),
    ("a Hugging Face token", r"hf_[A-Za-z0-9]{30,}"),
    ("a SendGrid key", r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    ("a Twilio key", r"SK[0-9a-f]{32}"),
    ("a DigitalOcean token", r"do[opr]_v1_[0-9a-f]{64}"),
    ("a Telegram bot token", r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}"),
    ("a JSON Web Token", r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    ("a private key", r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----(?:\s|\\[nr]|[A-Za-z-]+: [^\n]*\n){0,9}[A-Za-z0-9+/=]{40}"),
    ("a password in a URL", r"[a-z][a-z0-9+.-]*://[^\s/:@{}$\"'<>]+:[^\s/:@{}$\"'<>]{4,}@[A-Za-z0-9.-]+"),
)
_ANY: Final = re.compile("|".join(f"(?P<s{index}>(?<![A-Za-z0-9_])(?:{pattern}))" for index, (_, pattern) in enumerate(_SHAPES)))
_CLUES: Final = ("sk-", "gh", "glpat-", "AKIA", "ASIA", "AIza", "ya29.", "xox", "xapp-", "hooks.slack", "k_live_", "k_test_", "npm_",
                 "pypi-", "hf_", "SG.", "SK", "_v1_", ":AA", "eyJ", "-----BEGIN", "://")  # fmt: skip
_MADE_UP: Final = re.compile(
    r"(?i)example|placeholder|your[_-]|dummy|redacted|changeme|xxxx|\*\*\*|<[a-z_ -]+>|(.)\1{7}|1234567890|abcdefghij"
    r"|:(?:pass(?:word|wd)?|secret|pw|pwd)@"
)


class Shape(NamedTuple):
    """One secret: what it looks like, its first characters (never the whole), and its place in the text."""

    what: str
    begins: str
    at: int


def secrets_in(text: str) -> Iterator[Shape]:
    """Give what has the shape of a well-known secret; examples that say that they are made up are not among them."""
    if not any(clue in text for clue in _CLUES):
        return
    for match in _ANY.finditer(text):
        if not _MADE_UP.search(match[0]):
            name = str(match.lastgroup)
            yield Shape(_SHAPES[int(name[1:])][0], f"{match[0][:6]}…", match.start())
