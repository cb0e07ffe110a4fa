"""A program on its way: its calls, what they raise in it, its result, and every bound."""

import threading

import pytest

from tests.features.programs.toolbox import Calls, refusing, run
from vespe.features.programs.running import Fixed

pytest.importorskip("pydantic_monty")


def test_a_program_calls_tools_and_its_last_expression_is_the_result() -> None:
    calls = Calls()
    code = "x = read_file('a')\nprint(x)\nwrite_file(path='b', content=x)\nlen(x)"
    outcome = run(code, calls)
    assert outcome.result == 9 and outcome.logs == "text of a\n" and outcome.ok
    assert calls.said == [
        ("read_file", {"path": "a"}),
        ("write-file", {"path": "b", "content": "text of a"}),
    ]
    assert [(call.call_id, call.line) for group in calls.groups for call in group] == [
        ("p/1", 1),
        ("p/2", 3),
    ]


def test_calls_that_are_gathered_are_made_together() -> None:
    calls = Calls()
    code = (
        "import asyncio\ntasks = []\nfor p in 'abc':\n    tasks.append(read_file(p))\n"
        "r = await asyncio.gather(*tasks, asyncio.sleep(0.01))\nr"
    )
    assert run(code, calls).result == ["text of a", "text of b", "text of c", None]
    assert [len(group) for group in calls.groups] == [3]


def test_a_call_in_an_f_string_and_one_by_another_name_are_calls() -> None:
    calls = Calls()
    assert run("f = read_file\nf\"{read_file('é')}, {f('b')}\"", calls).result == (
        "text of é, text of b"
    )
    assert len(calls.said) == 2


@pytest.mark.parametrize(
    ("code", "raised"),
    [
        ("denied", "PermissionError"),
        ("not_trusted", "PermissionError"),
        ("permission_denied", "PermissionError"),
        ("invalid_arguments", "ValueError"),
        ("unknown_result", "ValueError"),
        ("timed_out", "TimeoutError"),
        ("tool_error", "RuntimeError"),
        ("a_code_that_nobody_knows", "RuntimeError"),
    ],
)
def test_a_call_that_fails_raises_in_the_program(code: str, raised: str) -> None:
    program = f"try:\n    read_file('a')\nexcept {raised} as e:\n    r = str(e)\nr"
    assert run(program, Calls(refusing(code))).result == f"{code} it was"
    failed = run("\nread_file('a')", Calls(refusing(code))).error
    assert failed is not None and failed.code == "program_failed"
    assert failed.message == f"line 2: {raised}: {code} it was"
    assert failed.details == {"line": 2, "calls": 1}


def test_arguments_that_are_none_raise_in_the_program() -> None:
    code = "try:\n    measure(float('nan'))\nexcept ValueError as e:\n    r = str(e)\nr"
    calls = Calls()
    assert "cannot be represented in JSON" in run(code, calls).result and calls.said == []


@pytest.mark.parametrize(
    ("code", "result"),
    [
        ("{1}", [1]),
        ("(1, {2: b'x'})", [1, {"2": "b'x'"}]),
        ("x = 1", None),
        ("", None),
        ("'é😀'", "é😀"),
        ("10**30", 10**30),
        ("[1.5, True, None]", [1.5, True, None]),
    ],
)
def test_a_result_is_json(code: str, result: object) -> None:
    assert run(code).result == result


@pytest.mark.parametrize(
    ("code", "error", "said"),
    [
        ("x = 'a' * 10**9", "program_failed", "needs more memory than the 64 MiB"),
        ("x = []\nwhile True:\n    x.append('a' * 1000)", "program_failed", "memory"),
        ("def f(n):\n    return f(n + 1)\nf(0)", "program_failed", "RecursionError"),
        ("print('x' * 2000000)", "output_too_large", "printed more"),
        ("for i in range(10**6):\n    print('hello')", "output_too_large", "printed more"),
        ("['x' * 100] * 20000", "output_too_large", "both together may have 1,048,576"),
        ("x = []\nx.append(x)\nx", "program_failed", "ValueError"),
        ("float('nan')", "invalid_output", "cannot be represented in JSON"),
        ("read_file('a' * 2 * 10**6)", "program_failed", "is larger than"),
        ("raise ValueError('x' * 10**6)", "program_failed", "line 1: ValueError: xxx"),
    ],
)
def test_every_bound_ends_in_an_outcome(code: str, error: str, said: str) -> None:
    outcome = run(code)
    assert outcome.error is not None and outcome.error.code == error, outcome.error
    assert said in outcome.error.message and len(outcome.error.message) < 2200


def test_shared_values_that_would_be_gigabytes_here_end_where_they_are() -> None:
    code = "x = [0] * 100000\ny = [x] * 1000\nz = [y] * 1000\nlist_(path=z)"
    calls = Calls()
    outcome = run("x = [0] * 100000\ny = [x] * 1000\n[y] * 1000", calls)
    assert outcome.error is not None and outcome.error.code == "program_failed"
    with pytest.raises(Exception, match="Expected `str`"):
        run(code, calls)
    assert calls.said == []


def test_time_calls_and_cancelling_are_bounds() -> None:
    late = run("while True: pass", timeout_s=0.3).error
    assert late is not None and late.code == "timed_out"
    asleep = run("import time\ntime.sleep(60)", timeout_s=0.3).error
    assert asleep is not None and asleep.code == "timed_out"
    calls = Calls()
    many = run(
        "for i in range(9):\n    try:\n        read_file('a')\n    except BaseException:\n        pass",
        calls,
        max_calls=3,
    ).error
    assert many is not None and many.code == "max_calls" and len(calls.said) == 3
    cancel = threading.Event()
    threading.Timer(0.2, cancel.set).start()
    gone = run("while True: pass", cancel=cancel).error
    assert gone is not None and gone.code == "interrupted"


def test_clock_and_randomness_are_fixed() -> None:
    code = "import datetime, random, time\n[datetime.datetime.now().isoformat(), random.random()]"
    fixed = Fixed(began="2026-01-02T03:04:05.678+00:00", seed="x")
    first, second = (run(code, fixed=fixed).result for _ in range(2))
    assert first == second and first[0] == "2026-01-02T03:04:05.678000"
    assert run(code).result != first


def test_a_program_has_no_files_and_no_environment() -> None:
    failed = run("import csv\ncsv.reader(__file__)\ngetattr(csv, 'open')").error
    assert failed is not None and failed.code == "program_failed"
