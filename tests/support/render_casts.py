"""The terminal's pictures in README and docs: real runs on a pseudo-terminal of 80 columns, as SVG,
light and dark.
"""

import io
import os
import tempfile
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from tests.support.terminal import vespe_on_a_terminal

ROOT: Final = Path(__file__).resolve().parents[2]
IMAGES: Final = ROOT / "docs/images"
CALC: Final = '''
def calc(a: float, b: float, op: str = "add") -> float:
    """Add or multiply two numbers."""
    return a + b if op == "add" else a * b
'''
MODEL: Final = """{"turns": [{"tool_calls": [{"name": "calc", "arguments": {"a": "six", "b": 7, "op": "mul"}}]},
 {"tool_calls": [{"name": "calc", "arguments": {"a": 6, "b": 7, "op": "mul"}}]}, {"text": "Six boxes of seven are 42."}]}"""
CASTS: Final = {
    "tool": (
        ("tool", "create", "calc", "--from", "calc.py:calc", "--read-only"),
        ("tool", "run", "calc", "a=6", "b=7", "op=mul"),
        ("tool", "run", "calc", "a=six", "b=7"),
        ("kit", "activate", "file_io_without_git"),
        ("tool", "list"),
    ),
    "agent": (
        (
            "agent",
            "run",
            "How many are six boxes of seven?",
            "--provider",
            "simulated",
            "--script",
            "model.json",
        ),
    ),
    "trust": (("untrust",), ("trust",)),
}
LIGHT: Final = TerminalTheme(
    (255, 255, 255),
    (36, 41, 47),
    [
        (36, 41, 47),
        (180, 35, 24),
        (17, 99, 41),
        (125, 78, 0),
        (9, 105, 218),
        (130, 80, 223),
        (27, 124, 131),
        (110, 119, 129),
    ],
    [
        (87, 96, 106),
        (207, 34, 46),
        (26, 127, 55),
        (154, 103, 0),
        (33, 139, 255),
        (164, 117, 249),
        (49, 146, 170),
        (140, 149, 159),
    ],
)
DARK: Final = TerminalTheme(
    (22, 27, 34),
    (201, 209, 217),
    [
        (139, 148, 158),
        (255, 123, 114),
        (63, 185, 80),
        (210, 153, 34),
        (88, 166, 255),
        (188, 140, 255),
        (57, 197, 207),
        (177, 186, 196),
    ],
    [
        (110, 118, 129),
        (255, 161, 152),
        (86, 211, 100),
        (227, 179, 65),
        (121, 192, 255),
        (210, 168, 255),
        (86, 212, 221),
        (240, 246, 252),
    ],
)
FORMAT: Final = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{
  font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
  font-size: {char_height}px;
  line-height: {line_height}px;
}}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/></clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def render() -> None:
    """Run every cast in one project, in order, and write two pictures of each."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        home, project = Path(directory) / "home", Path(directory) / "shop"
        project.mkdir(parents=True)
        os.environ |= {"HOME": str(home)} | {
            f"XDG_{n}_HOME": str(home / n) for n in ("CONFIG", "DATA", "STATE", "CACHE")
        }
        (project / "calc.py").write_text(CALC, encoding="utf-8")
        (project / "model.json").write_text(MODEL, encoding="utf-8")
        vespe_on_a_terminal("init", cwd=project)
        for name, commands in CASTS.items():
            shown = "\n".join(_shown(command, project) for command in commands)
            for theme, colours in (("light", LIGHT), ("dark", DARK)):
                (IMAGES / f"cast-{name}-{theme}.svg").write_text(
                    _picture(shown, colours, f"{name}-{theme}"), encoding="utf-8"
                )


def _shown(command: tuple[str, ...], project: Path) -> str:
    typed = " ".join(f'"{word}"' if " " in word else word for word in command)
    said = vespe_on_a_terminal(
        *command, cwd=project, typed="n\n" if command[0] == "trust" else "", TERM="xterm-256color"
    )
    said = said.replace("\r", "").replace(str(project), "~/shop").partition("[y/N]:")[0]
    said = "\n".join(
        line for line in said.splitlines() if line != "n" and not line.startswith("(exit code")
    ).rstrip()
    return f"\x1b[1m$ vespe {typed}\x1b[0m\n{said}\n"


def _picture(shown: str, theme: TerminalTheme, name: str) -> str:
    console = Console(record=True, width=80, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(shown.rstrip()))
    return console.export_svg(title="", theme=theme, code_format=FORMAT, unique_id=f"cast-{name}")


if __name__ == "__main__":
    render()
