"""What of a kit's files may not be meant for others: told before the kit goes out, and when an
import copies them. They are packed and copied all the same: a tool may need them.
"""

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Final

_EXAMPLES: Final = ("*.example", "*.sample", "*.template", "*.dist")
_SECRETS: Final = (
    ".env",
    ".env.*",
    "*.env",
    ".envrc",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".pgpass",
    "credentials.json",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.kdbx",
)
_KEY: Final = (b"-----BEGIN ", b"PRIVATE KEY-----")
_HEAD_BYTES: Final = 4096
_OPEN: Final = frozenset(
    (
        ".gitignore",
        ".gitattributes",
        ".gitmodules",
        ".gitkeep",
        ".keep",
        ".editorconfig",
        ".github",
        ".gitlab-ci.yml",
        ".pre-commit-config.yaml",
        ".mailmap",
        ".dockerignore",
        ".prettierrc",
    )
)
"""Hidden, and made to be shared."""


def find_private(files: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    """Return each file that may hold a secret, or that listings do not show, with the reason;
    `files` are paths with `/` and at least the beginning of what is in them.
    """
    for path, content in sorted(files.items()):
        name = path.rpartition("/")[2]
        head = content[:_HEAD_BYTES]
        if all(words in head for words in _KEY):
            yield path, "holds a private key"
        elif _fits(name, _SECRETS) and not _fits(name, _EXAMPLES):
            yield path, "is a file that secrets are kept in"
        elif hidden := next((part for part in path.split("/") if _is_hidden(part)), ""):
            yield path, "is hidden" if hidden == name else f"lies in {hidden}, which is hidden"


def _fits(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name.lower(), pattern) for pattern in patterns)


def _is_hidden(part: str) -> bool:
    return part.startswith(".") and part not in _OPEN
