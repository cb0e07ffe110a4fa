"""Programs over tools, judged from outside.

    python -m tests.acceptance.programs [--json] [--only PART]

`bfcl`: the ground truths of BFCL v4 multi-turn (`bfcl-eval` from PyPI, installed into a directory
of this run, or at BFCL_SITE) as programs, whose final states are compared with those of direct
calls as the suite does; then each with one wrong argument. `hostile`: tests/cases/programs, each
with its honest twin; the judges are files, a listener and a counter outside. `times`: seven calls
of functions beside bare monty, and the check of a new text.
"""

import argparse
import copy
import importlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from tests.acceptance.test_programs import Judged, hostile_cases, is_from_the_docs
from tests.benchmarks import programs
from vespe import Project, ProjectConfig, Tool, ToolRegistry
from vespe.calls.in_process import FunctionImplementation
from vespe.errors import InvalidProgram
from vespe.features.programs.checking import check_program
from vespe.features.programs.own_calls import OwnCalls
from vespe.features.programs.running import ProgramRun
from vespe.models import JsonObject, Outcome

_SOURCES: Final = "bfcl_eval.eval_checker.multi_turn_eval.func_source_code."
_MODULES: Final = {
    "GorillaFileSystem": "gorilla_file_system",
    "MathAPI": "math_api",
    "MessageAPI": "message_api",
    "TwitterAPI": "posting_api",
    "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking",
    "VehicleControlAPI": "vehicle_control",
}
_KINDS: Final = {"dict": "object", "float": "number", "tuple": "array", "any": None}
_PARTS: Final = ("base", "miss_func", "miss_param", "long_context")


def suite() -> Path:
    """Return a directory with the suite's package, which is installed where it is nowhere."""
    place = os.environ.get("BFCL_SITE") or tempfile.mkdtemp(prefix="bfcl-")
    if not (Path(place) / "bfcl_eval").is_dir():
        pip = [sys.executable, "-m", "pip", "install", "-q", "--target", place]
        subprocess.run([*pip, "--no-deps", "bfcl-eval"], check=True, stdout=sys.stderr)
        subprocess.run([*pip, "mpmath"], check=True, stdout=sys.stderr)
    sys.path.insert(0, place)
    return Path(place) / "bfcl_eval"


def lines(path: Path) -> list[JsonObject]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def instances(entry: JsonObject, *, long: bool) -> dict[str, Any]:
    """Return the suite's objects in the state that an entry begins with."""
    made = {}
    for name in entry["involved_classes"]:
        one = getattr(importlib.import_module(_SOURCES + _MODULES[name]), name)()
        if name != "MathAPI":
            given = copy.deepcopy(entry["initial_config"].get(name, {}))
            one._load_scenario(given, long_context=long)
        made[name] = one
    return made


def functions(objects: Mapping[str, Any]) -> dict[str, Callable[..., Any]]:
    return {
        name: getattr(one, name)
        for one in objects.values()
        for name in dir(one)
        if not name.startswith("_") and callable(getattr(one, name))
    }


def same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Compare final states as the suite does."""
    return all(
        getattr(one[name], key) == getattr(other[name], key)
        for name in one
        for key in vars(one[name])
        if not key.startswith("_")
    )


def schema(given: Any) -> Any:
    """Return a schema of the suite in JSON Schema's words."""
    if not isinstance(given, dict):
        return given
    made = {key: schema(value) for key, value in given.items() if key not in ("optional",)}
    if "properties" in given:
        made["properties"] = {key: schema(value) for key, value in given["properties"].items()}
    kind = given.get("type")
    if isinstance(kind, str) and kind in _KINDS:
        made.pop("type")
        made |= {"type": _KINDS[kind]} if _KINDS[kind] else {}
    return made


def tools_of(data: Path, entry: JsonObject) -> dict[str, Tool]:
    found = {}
    for name in entry["involved_classes"]:
        for one in lines(data / "multi_turn_func_doc" / f"{_MODULES[name]}.json"):
            parameters = schema(one["parameters"]) | {"additionalProperties": False}
            found[one["name"]] = Tool(
                uid="", name=one["name"], description=one["description"], input_schema=parameters
            )
    return found


def told(value: Any) -> Any:
    return json.loads(json.dumps(value, default=lambda one: float(one)))


def run(code: str, tools: Mapping[str, Tool], known: Mapping[str, Callable[..., Any]]) -> Outcome:
    """Run a program over functions, with the tools' own schemas; raises InvalidProgram."""
    registry = ToolRegistry()
    for name in tools:
        function = known[name]

        def execute(function: Callable[..., Any] = function, **inputs: Any) -> Any:
            return told(function(**inputs))

        registry.register(FunctionImplementation(name, execute))
    path = Project(ProjectConfig(), registry=registry).call_path()
    checked = check_program(code, tools, setting="auto")
    return ProgramRun(
        checked=checked, calls=OwnCalls(path=path), setting="auto", call_id="p", max_calls=1000
    ).run()


def wrapped(calls: list[str]) -> str:
    body = "".join(
        f"try:\n    out.append({call})\nexcept Exception as e:\n    out.append(str(e))\n"
        for call in calls
    )
    return f"out = []\n{body}len(out)"


def bfcl() -> JsonObject:
    """Run every ground truth as a program, and each with one wrong argument."""
    data = suite() / "data"
    found: JsonObject = {"programs": 0, "calls": 0, "same_state": 0, "refused_nothing_ran": 0}
    found |= {"wrong_argument_refused": 0, "wrong_arguments": 0, "others": []}
    for part in _PARTS:
        truths = {
            one["id"]: one["ground_truth"]
            for one in lines(data / "possible_answer" / f"BFCL_v4_multi_turn_{part}.json")
        }
        for entry in lines(data / f"BFCL_v4_multi_turn_{part}.json"):
            calls = [call for turn in truths[entry["id"]] for call in turn]
            _one(entry, calls, tools_of(data, entry), found, long=part == "long_context")
            if found["programs"] % 100 == 0:
                sys.stderr.write(f"{found}\n")
    return found


def _one(
    entry: JsonObject, calls: list[str], tools: Mapping[str, Tool], found: JsonObject, *, long: bool
) -> None:
    found["programs"] += 1
    found["calls"] += len(calls)
    direct, through = instances(entry, long=long), instances(entry, long=long)
    untouched, known = instances(entry, long=long), functions(direct)
    for call in calls:
        try:
            eval(call, dict(known))
        except Exception:  # the suite's own tools raise what they like
            continue
    try:
        outcome = run(wrapped(calls), tools, functions(through))
    except InvalidProgram as error:
        nothing = same(through, untouched)
        found["refused_nothing_ran"] += nothing
        found["others"].append([entry["id"], "refused", str(error)[:200], nothing])
    else:
        equal = outcome.ok and same(direct, through)
        found["same_state"] += equal
        if not equal:
            found["others"].append([entry["id"], "differs", str(outcome.error)[:200]])
    if calls:
        found["wrong_arguments"] += 1
        more = ", " if not calls[-1].endswith("()") else ""
        wrong = [*calls[:-1], f"{calls[-1][:-1]}{more}no_such_argument=1)"]
        try:
            run("\n".join(wrong), tools, functions(untouched))
        except InvalidProgram:
            again = instances(entry, long=long)
            found["wrong_argument_refused"] += same(untouched, again)


def hostile() -> JsonObject:
    """Run every hostile program and its honest twin."""
    rows = []
    with tempfile.TemporaryDirectory() as place, Judged(Path(place)) as judged:
        for name in hostile_cases():
            rows.append(judged.row(name))
    bad = [row for row in rows if row["effects"] or not row["clean"] or not row["honest"]]
    return {
        "programs": len(rows),
        "written_from_the_docs_alone": sum(is_from_the_docs(name) for name in hostile_cases()),
        "effects": sum(row["effects"] for row in rows),
        "faults": bad,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--only", nargs="*", choices=("bfcl", "hostile", "times"))
    asked = parser.parse_args()
    parts = {"bfcl": bfcl, "hostile": hostile, "times": programs.figures}
    with tempfile.TemporaryDirectory() as state:
        os.environ["XDG_STATE_HOME"] = state
        found = {name: part() for name, part in parts.items() if name in (asked.only or parts)}
    sys.stdout.write(json.dumps(found, indent=2) + "\n")
    faults = found.get("hostile", {}).get("faults", [])
    states = found.get("bfcl", {"same_state": 796, "refused_nothing_ran": 4})
    wrong = states.get("wrong_argument_refused", 0) == states.get("wrong_arguments", 0)
    right = states["same_state"] == 796 and states["refused_nothing_ran"] == 4 and wrong
    return int(bool(faults) or not right)


if __name__ == "__main__":
    sys.exit(main())
