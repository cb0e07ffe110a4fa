"""The mistakes that people make most: each is answered with what is wrong, where, and what to do
next.
"""

import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

Command = Callable[..., Any]
MISTAKES = Path(__file__).resolve().parents[1] / "cases/mistakes.json"
FUNCTION = '''\
def calc(a: float, b: float = 1) -> float:
    """Add two numbers.

    Args:
        a: left
        b: right
    """
    return a + b
'''


def test_each_mistake_is_told_with_the_next_step(command: Command, project: Path) -> None:
    (project / "calc.py").write_text(FUNCTION, encoding="utf-8")
    (project / "broken.py").write_text("def f(\n", encoding="utf-8")
    assert command("tool", "create", "calc", "--from", "calc.py:calc").code == 0
    boom = project / ".vespe/tools/tool-boom"
    boom.mkdir()
    (boom / "config.json").write_text("{\n", encoding="utf-8")
    mistakes = json.loads(MISTAKES.read_text(encoding="utf-8"))
    assert len(mistakes) >= 40
    wrong = []
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for mistake in mistakes:
            said = command(*(word.replace("FREE", port) for word in mistake["typed"]))
            told = " ".join(said.err.split())
            wanted = [mistake[key].replace("FREE", port) for key in ("says", "next")]
            if said.code != mistake["exit"] or any(one not in told for one in wanted):
                wrong.append((mistake, said.code, told))
    assert not wrong, "\n".join(map(str, wrong))


def test_a_project_whose_config_is_wrong_says_so_with_the_next_step(
    command: Command, project: Path
) -> None:
    config = project / ".vespe/config.json"
    config.write_text('{"active_kit": []}', encoding="utf-8")
    said = command("tool", "list").err
    assert "/active_kit in .vespe/config.json" in said and "did you mean active_kits?" in said
    config.write_text('{"active_kits": [}', encoding="utf-8")
    said = command("tool", "list").err
    assert ".vespe/config.json:1:18: is not JSON" in said and "correct the file" in said
