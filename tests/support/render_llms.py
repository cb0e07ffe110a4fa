"""Render docs/llms.txt (https://llmstxt.org) from the pages of the site; `python -m
tests.support.render_llms` writes it.
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "llms.txt"
GENERATED = {
    "cli.md": "Every command with its options.",
    "reference.md": "Every key of config.json, kit_config.json and the settings.",
    "api.md": "Every public class and function with its signature.",
    "lint.md": "Every rule of `vespe lint`, with a bad and a good example.",
}
MOST = 200
"""How many characters of a page's first paragraph are shown."""


def render() -> str:
    """Return the whole file."""
    project = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]
    parts = [f"# {project['site_name']}\n\n> {project['site_description']}\n"]
    alone = [entry for entry in project["nav"] if isinstance(next(iter(entry.values())), str)]
    parts += ["\n## Start\n\n", *_lines(alone)]
    for entry in project["nav"]:
        for title, pages in entry.items():
            if not isinstance(pages, str):
                parts += [f"\n## {title}\n\n", *_lines(pages)]
    return "".join(parts)


def _lines(entries: list[dict[str, str]]) -> Iterator[str]:
    for entry in entries:
        for title, page in entry.items():
            told = GENERATED.get(page) or _first_sentence(ROOT / "docs" / page)
            yield f"- [{title}]({page})" + (f": {told}\n" if told else "\n")


def _first_sentence(page: Path) -> str:
    """Return the first sentence below a page's title, without links and marks."""
    text = page.read_text(encoding="utf-8").split("\n\n", 2)[1].replace("\n", " ")
    text = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", text).replace("**", "")
    first = re.split(r"(?<=[.:]) (?=[A-Z`])", text)[0]
    return first if len(first) <= MOST else f"{first[:MOST].rpartition(' ')[0]} …"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
