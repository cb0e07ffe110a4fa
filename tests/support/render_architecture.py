"""Draw docs/architecture.svg from the table of floors, and docs/images/call.svg from the ten stops
of docs/architecture.md.

`python -m tests.support.render_architecture`
"""

import ast
import re
from html import escape
from pathlib import Path

from tests.support.floors import FLOORS
from vespe.features import FEATURES

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs" / "architecture.svg"
WAY = ROOT / "docs" / "images" / "call.svg"
WIDTH, LEFT, HIGH, GAP = 880, 20, 52, 8
STYLE = """
  text { font-family: ui-sans-serif, system-ui, sans-serif; fill: #1b1f24 }
  .name { font-size: 15px; font-weight: 600 } .what { font-size: 11px; fill: #57606a } .note { font-size: 12px; fill: #57606a }
  rect { fill: #f6f8fa; stroke: #8c959f; rx: 6 } .feature rect { fill: #ddf4ff } .ground rect { fill: #fff8c5 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .what, .note { fill: #9da7b1 } rect { fill: #161b22; stroke: #6e7681 }
    .feature rect { fill: #0c2d48 } .ground rect { fill: #332a00 }
  }
"""


def summary(name: str, kind: str = "") -> str:
    """The first paragraph of a package's or a module's docstring."""
    place = ROOT / "vespe" / ("features" if kind == "feature" else "") / name
    source = (place / "__init__.py" if place.is_dir() else place.with_suffix(".py")).read_text(
        encoding="utf-8"
    )
    paragraph = (ast.get_docstring(ast.parse(source)) or "").partition("\n\n")[0]
    return " ".join(paragraph.split())


def cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip(" ,;:") + "…"


def box(name: str, kind: str, place: tuple[float, float], wide: float) -> str:
    x, y = place
    what = cut(summary(name, kind), int((wide - 24) / 5.6))
    return (
        f'<rect x="{x:.0f}" y="{y:.0f}" width="{wide:.0f}" height="{HIGH}"/>'
        f'<text class="name" x="{x + 12:.0f}" y="{y + 21:.0f}">{escape(name)}</text>'
        f'<text class="what" x="{x + 12:.0f}" y="{y + 39:.0f}">{escape(what)}</text>'
    )


def rows_of_boxes() -> list[tuple[str, list[str]]]:
    """Return the rows from the roof down, each with its kind; the features take two rows."""
    rows: list[tuple[str, list[str]]] = []
    for number, rooms in enumerate(reversed(FLOORS)):
        kind = "ground" if number == len(FLOORS) - 1 else "roof" if number < 3 else "floor"
        if rooms == "features/":
            names = list(FEATURES)
            rows += [("feature", names[:5]), ("feature", names[5:])]
        else:
            rows.append((kind, rooms.split()))
    return rows


def draw() -> str:
    """The picture: the roof on top, the ground at the bottom, as one reads a house."""
    rows = []
    for number, (kind, names) in enumerate(rows_of_boxes()):
        wide = (WIDTH - 2 * LEFT - GAP * (len(names) - 1)) / len(names)
        y = 40 + number * (HIGH + GAP)
        boxes = "".join(
            box(name, kind, (LEFT + index * (wide + GAP), y), wide)
            for index, name in enumerate(names)
        )
        rows.append(f'<g class="{kind}">{boxes}</g>')
    high = 40 + len(rows) * (HIGH + GAP) + 10
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {high}" role="img" '
        'aria-label="The packages of Vespe by floors">\n'
        f"<style>{STYLE}</style>\n"
        f'<text class="note" x="{LEFT}" y="24">Each package imports only from floors '
        "below its own. The blue ones are features.</text>\n" + "\n".join(rows) + "\n</svg>\n"
    )


def stops() -> list[tuple[str, str]]:
    """The stops of a call's way as the page has them: what happens, and the module that a reader
    should open first.
    """
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    found = re.findall(r"(?ms)^\d+\. \*\*(.+?)\.\*\*(.+?)(?=^\d+\. |^## )", page)
    return [(title, re.findall(r"\[`vespe/(.+?)`\]", said)[0]) for title, said in found]


def draw_way() -> str:
    """The way of one call, in two columns: what comes before the tool runs, and what comes from
    then on.
    """
    rows, wide = [], (WIDTH - 2 * LEFT - 40) / 2
    found = stops()
    half = len(found) // 2
    for index, (title, module) in enumerate(found):
        x, y = LEFT + (index // half) * (wide + 40), 20 + (index % half) * (HIGH + 24)
        rows.append(
            f'<g class="{"roof" if index < half else "floor"}"><rect x="{x:.0f}" y="{y}" '
            f'width="{wide:.0f}" height="{HIGH}"/>'
            f'<text class="name" x="{x + 12:.0f}" y="{y + 21}">{index + 1}  {escape(title)}</text>'
            f'<text class="what" x="{x + 12:.0f}" y="{y + 39}">{escape(module)}</text></g>'
        )
        if index % half < half - 1:
            rows.append(f'<text class="note" x="{x + wide / 2:.0f}" y="{y + HIGH + 17}">↓</text>')
    high = 20 + half * (HIGH + 24)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {high}" role="img" '
        'aria-label="The path of one call, in ten steps">\n'
        f"<style>{STYLE}</style>\n" + "\n".join(rows) + "\n</svg>\n"
    )


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")
    WAY.write_text(draw_way(), encoding="utf-8")
