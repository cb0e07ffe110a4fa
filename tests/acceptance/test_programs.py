"""Hostile programs have no effect, and their honest twins pass. The judges stand outside: files, a
listener, and a counter that a tool writes.
"""

import socket
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import pytest

from vespe import Project, ProjectConfig, Tool, ToolRegistry
from vespe.calls.in_process import FunctionImplementation
from vespe.errors import InvalidProgram, VespeError
from vespe.features.programs.checking import check_program
from vespe.features.programs.own_calls import OwnCalls
from vespe.features.programs.running import InnerCall, ProgramRun
from vespe.models import Failure, JsonObject, Outcome

CASES: Final = Path(__file__).resolve().parents[1] / "cases/programs"
_MAY_CALL: Final = {"endless_calls"}


def hostile_cases() -> list[str]:
    """Return the names of the cases, each with a hostile program and an honest one."""
    return sorted(path.name.removesuffix(".hostile.py") for path in CASES.glob("*.hostile.py"))


def is_from_the_docs(name: str) -> bool:
    """Whether who wrote a case knew docs/programs.md alone, and had not read the code."""
    first = (CASES / f"{name}.hostile.py").read_text(encoding="utf-8").splitlines()[0]
    return first.endswith("(from the docs alone)")


class Denying:
    """Makes calls on a path, but of the tool that is denied."""

    def __init__(self, own: OwnCalls) -> None:
        self._own = own

    def run(self, calls: Sequence[InnerCall]) -> Sequence[Outcome]:
        return [
            Outcome(tool="steal", uid="", error=Failure(code="denied", message="it is denied"))
            if call.tool.name == "steal"
            else self._own.run([call])[0]
            for call in calls
        ]


class Judged:
    """Runs cases in a place with canaries."""

    def __init__(self, place: Path) -> None:
        self._directory, self._counter = place / "canaries", place / "counter"
        self._directory.mkdir()
        (self._directory / "kept").write_text("kept", encoding="utf-8")
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._heard: list[object] = []
        threading.Thread(target=self._listen, daemon=True).start()
        number = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
        anything = {"type": "object", "properties": {"value": {}}, "required": ["value"]}
        self._tools = {
            name: Tool(
                uid="",
                name=name,
                description=name,
                input_schema=schema | {"additionalProperties": False},
            )
            for name, schema in (("spend", number), ("steal", number), ("echo", anything))
        }
        registry = ToolRegistry()
        known: dict[str, Callable[..., Any]] = {
            "spend": self._spend,
            "steal": self._spend,
            "echo": lambda value: value,
        }
        for name, function in known.items():
            registry.register(FunctionImplementation(name, function))
        self._path = Project(ProjectConfig(), registry=registry).call_path()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._listener.close()

    def row(self, name: str) -> JsonObject:
        """Run a case: how many effects it had, whether it ended cleanly, and its twin's result."""
        before = self._effects()
        clean, said = self._run((CASES / f"{name}.hostile.py").read_text(encoding="utf-8"))
        effects = self._effects() - before
        _, honest = self._run((CASES / f"{name}.honest.py").read_text(encoding="utf-8"))
        return {"name": name, "effects": effects, "clean": clean, "said": said[:200]} | {
            "honest": honest == "True",
            "honest_said": honest[:200],
        }

    def _run(self, code: str) -> tuple[bool, str]:
        port = str(self._listener.getsockname()[1])
        code = code.replace("CANARY_FILE", str(self._directory / "made"))
        code = code.replace("CANARY_DIR", str(self._directory)).replace("CANARY_PORT", port)
        try:
            checked = check_program(code, self._tools, setting="auto")
        except InvalidProgram as error:
            return True, str(error)
        calls = Denying(OwnCalls(path=self._path))
        try:
            outcome = ProgramRun(
                checked=checked, calls=calls, setting="auto", call_id="p", timeout_s=3, max_calls=50
            ).run()
        except VespeError as error:
            return False, str(error)
        if outcome.error is None:
            return False, str(outcome.result)
        return True, f"{outcome.error.code}: {outcome.error.message}"

    def _spend(self, n: int) -> int:
        with self._counter.open("a", encoding="utf-8") as file:
            file.write("x")
        return n

    def _listen(self) -> None:
        while True:
            try:
                self._heard.append(self._listener.accept())
            except OSError:
                return

    def _effects(self) -> int:
        kept = (self._directory / "kept").is_file()
        spent = len(self._counter.read_text(encoding="utf-8")) if self._counter.exists() else 0
        made = len(list(self._directory.iterdir())) if self._directory.is_dir() else 0
        return spent + len(self._heard) + (made - 1) + (0 if kept else 100)


def test_hostile_programs_have_no_effect_and_honest_ones_pass(home: Path, tmp_path: Path) -> None:
    pytest.importorskip("pydantic_monty")
    names = hostile_cases()
    assert len(names) == 157
    with Judged(tmp_path) as judged:
        # the gate tries every sixteenth; `./dev acceptance programs` tries all
        rows = [judged.row(name) for name in names[::16]]
    assert [row for row in rows if row["effects"] or not row["clean"] or not row["honest"]] == []
