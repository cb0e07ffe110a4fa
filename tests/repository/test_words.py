"""Plain English as a test: word patterns that a native reader stumbles over, in the docs, the help
pages and the messages.

Only patterns that are wrong in every sentence are here, each with what to write instead. The changelog
and the table of lint rules' ids are not checked.
"""

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path

import vespe

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    *(page for page in sorted((ROOT / "docs").glob("*.md")) if page.name != "changelog.md"),
]
INSTEAD = {
    r"\bto be had\b": "is available",
    r"\bnot without a yes\b": "approval is needed",
    r"\bsay it with\b": "run it again with",
    r"\btook back\b": "revoked, removed",
    r"\b(stands?|stood) in (your|a) (state )?(directory|key)\b": "is in ...",
    r"\bwhatever becomes of\b": "even if it changes",
    r"\bshall\b": "must, will",
    r"\bmust (be|hold) (a |an )?texts?\b(?! (block|file|part))": "must be a string",
    r"\blists? of texts\b|\bas texts\b|\bis a text\b|, a text(,|$)": "a string, strings",
}
AS_EVER = (
    "vespe/schemas/forms.py",
    "vespe/tools/fields.py",
    "vespe/tools/implementations.py",
    *(f"vespe/types/{name}/form.py" for name in os.listdir(ROOT / "vespe/types")),
)
"""What these say of a broken config.json is held word by word."""


def strings(path: Path) -> Iterator[tuple[int, str]]:
    """Yield every string of a module that is not a docstring or a pattern, with its line."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    silent = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in silent
        ):
            yield node.lineno, node.value


def texts() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
            yield f"{page.relative_to(ROOT)}:{number}", line
    for module in sorted(Path(vespe.__file__).parent.rglob("*.py")):
        for at, text in strings(module) if str(module.relative_to(ROOT)) not in AS_EVER else ():
            yield f"{module.relative_to(ROOT)}:{at}", text


def test_no_page_and_no_message_has_a_phrase_that_readers_stumble_over() -> None:
    found = [
        f"{place}: {phrase[0]!r} in {text[max(0, phrase.start() - 30) : phrase.end() + 30]!r}; "
        f"write: {instead}"
        for place, text in texts()
        for pattern, instead in INSTEAD.items()
        if (phrase := re.search(pattern, text))
    ]
    assert found == [], "\n".join(found)
