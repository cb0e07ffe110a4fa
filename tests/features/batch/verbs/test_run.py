"""`vespe batch`, from a file to a file."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.batches import calls_in, counting_tool
from tests.support.ondisk import python_tool
from tests.support.terminal import vespe_on_a_terminal

Command = Callable[..., Any]


def write_inputs(project: Path, count: int, **more: Any) -> Path:
    path = project / "in.jsonl"
    path.write_text(
        "".join(json.dumps({"n": n, **more}) + "\n" for n in range(count)), encoding="utf-8"
    )
    return path


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_outcomes_go_to_a_file_one_line_each(command: Command, project: Path) -> None:
    counting_tool(project, "count", read_only=True)
    said = command(
        "batch", "count", str(write_inputs(project, 5)), "-o", "out.jsonl", "--jobs", "2"
    )
    assert said.code == 0 and said.out == "" and "5 done" in said.err
    assert {line["id"]: line["result"] for line in lines(project / "out.jsonl")} == {
        n + 1: 2 * n for n in range(5)
    }


def test_without_a_file_they_go_to_stdout_and_one_failure_is_exit_code_1(
    command: Command, project: Path
) -> None:
    counting_tool(project, "count", read_only=True)
    (project / "in.jsonl").write_text('{"n": 1}\nnonsense\n{"n": "x"}\n', encoding="utf-8")
    said = command("batch", "count", "in.jsonl", "--ordered")
    codes = [json.loads(line).get("error", {}).get("code") for line in said.out.splitlines()]
    assert (
        said.code == 1
        and codes == [None, "invalid_json", "invalid_arguments"]
        and "2 failed" in said.err
    )


def test_csv_is_typed_and_its_id_field_is_no_argument(command: Command, project: Path) -> None:
    counting_tool(project, "count", read_only=True)
    (project / "in.csv").write_text("key,n\na,4\nb,5\n", encoding="utf-8")
    said = command("batch", "count", "in.csv", "--id", "key", "--ordered")
    assert [(row["id"], row["result"]) for row in map(json.loads, said.out.splitlines())] == [
        ("a", 8),
        ("b", 10),
    ]


def test_a_limit_ends_the_batch_early(command: Command, project: Path) -> None:
    notes = counting_tool(project, "count", read_only=True)
    assert command("batch", "count", str(write_inputs(project, 9)), "--limit", "2").code == 0
    assert calls_in(notes) == [0, 1]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--resume",), 2, "-o OUT"),
        (("-o", "in.jsonl"), 6, "--resume"),
        (("--on", "spark"), 2, "engine"),
        (("missing.jsonl",), 2, "missing"),
    ],
)
def test_what_cannot_run_is_a_sentence(
    command: Command, project: Path, arguments: tuple[str, ...], code: int, words: str
) -> None:
    counting_tool(project, "count", read_only=True)
    write_inputs(project, 1)
    given = arguments if arguments[0].endswith(".jsonl") else ("in.jsonl", *arguments)
    said = command("batch", "count", *given)
    assert said.code == code and words in said.err


def start(project: Path, *more: str) -> "subprocess.Popen[bytes]":
    argv = [
        sys.executable,
        "-m",
        "vespe",
        "batch",
        "count",
        "in.jsonl",
        "-o",
        "out.jsonl",
        "--jobs",
        "3",
        *more,
    ]
    return subprocess.Popen(argv, cwd=project, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.mark.parametrize(("read_only", "seed"), [(True, 1), (False, 2), (False, 3)])
def test_after_any_kill_every_id_comes_once_and_nothing_that_must_not_runs_twice(
    project: Path, read_only: bool, seed: int
) -> None:
    notes = counting_tool(project, "count", read_only=read_only)
    write_inputs(project, 30, s=0.02)
    chance = random.Random(seed)
    code = None
    for attempt in range(20):
        batch = start(project, *(["--resume"] if attempt else []))
        try:
            code = batch.wait(chance.uniform(0.3, 1.5) if attempt < 5 else 90)
            break
        except subprocess.TimeoutExpired:
            os.kill(batch.pid, signal.SIGKILL)
            batch.wait()
    called, found = calls_in(notes), lines(project / "out.jsonl")
    assert sorted(line["id"] for line in found) == list(range(1, 31)) and set(called) <= set(
        range(30)
    )
    unknown = {line["id"] for line in found if not line["ok"]}
    assert code == (1 if unknown else 0) and (not read_only or not unknown)
    assert read_only or len(called) == len(set(called))
    assert not (project / "out.jsonl.begun").exists()


def test_on_a_terminal_an_outcome_stands_on_a_line_of_its_own_and_the_figures_come_last(
    project: Path,
) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    python_tool(
        project / ".vespe/tools/tool-nap",
        "nap",
        "import time\ntime.sleep(0.25)\nreturn n",
        params="n",
        schema=schema,
    )
    shown = vespe_on_a_terminal(
        "batch", "nap", str(write_inputs(project, 4)), "--jobs", "1", cwd=project
    )
    assert re.search(r"1 done, [0-9,]+/s, 25%, ", shown)
    seen = [line.rpartition("\x1b[K")[2] for line in shown.strip("\n").split("\n")]
    assert (
        [json.loads(line)["id"] for line in seen[:-1]] == [1, 2, 3, 4]
        and seen[-1].startswith("4 done, ")
        and "1 done" in shown
    )


def test_what_failed_before_is_counted_when_nothing_is_left_to_do(
    command: Command, project: Path
) -> None:
    counting_tool(project, "count", read_only=True)
    (project / "bad.jsonl").write_text("{\n", encoding="utf-8")
    command("batch", "count", "bad.jsonl", "-o", "out.jsonl")
    assert (
        "0 done, 1 failed before"
        in command("batch", "count", "bad.jsonl", "-o", "out.jsonl", "--resume").err
    )


def test_ctrl_c_keeps_what_is_done_and_says_how_to_go_on(project: Path) -> None:
    counting_tool(project, "count", read_only=True)
    write_inputs(project, 200, s=0.05)
    argv = [
        sys.executable,
        "-m",
        "vespe",
        "batch",
        "count",
        "in.jsonl",
        "-o",
        "out.jsonl",
        "--jobs",
        "2",
    ]
    batch = subprocess.Popen(argv, cwd=project, stderr=subprocess.PIPE, text=True, encoding="utf-8")
    while not (project / "out.jsonl").exists() or not lines(project / "out.jsonl"):
        time.sleep(0.02)
    batch.send_signal(signal.SIGINT)
    _, err = batch.communicate(timeout=60)
    assert batch.returncode == 130 and "--resume" in err
    assert all(line["ok"] for line in lines(project / "out.jsonl"))


def test_a_link_that_came_with_the_project_leads_no_output_out_of_it(
    command: Command, project: Path, tmp_path: Path
) -> None:
    counting_tool(project, "count", read_only=True)
    source = str(write_inputs(project, 1))
    (tmp_path / "elsewhere").mkdir()
    (project / "out").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere/own.jsonl").touch()
    (project / "own.jsonl").symlink_to(tmp_path / "elsewhere/own.jsonl")
    for words in (("-o", "out/x.jsonl"), ("-o", "own.jsonl", "--resume")):
        said = command("batch", "count", source, *words)
        assert said.code == 6 and "leads out of the project" in said.err
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == ["own.jsonl"]
    assert (tmp_path / "elsewhere/own.jsonl").read_bytes() == b""
    (project / "results").mkdir()
    (project / "inside").symlink_to("results")
    for place in ("inside/x.jsonl", str(tmp_path / "elsewhere/named.jsonl")):
        assert command("batch", "count", source, "-o", place).code == 0


@pytest.mark.parametrize("engine", ["dask://127.0.0.1:1", "ray://127.0.0.1:1"])
def test_a_cluster_that_does_not_know_its_users_is_refused_where_nobody_can_be_asked(
    command: Command, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if engine.startswith("dask"):
        pytest.importorskip("distributed")
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    said = command("batch", "count", "in.jsonl", "--on", engine)
    assert (
        said.code == 6
        and "does not authenticate its users" in said.err
        and "--insecure" in said.err
    )
