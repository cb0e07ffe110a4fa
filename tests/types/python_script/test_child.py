"""The child by itself: what it reads, where it answers, and what it leaves alone."""

import json
import os
import runpy
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import PATIENCE_S
from vespe.processes import child_scripts
from vespe.types.python_script import child as python_child
from vespe.types.python_script import values as python_values

HERE = Path(child_scripts.__file__).parents[1] / "types" / "python_script"
CHILD, VALUES = str(HERE / "child.py"), str(HERE / "values.py")


COVERAGE = {name: value for name, value in os.environ.items() if name.startswith("COVERAGE_")}


def answer(
    directory: Path, source: str, *, env: Mapping[str, str] = COVERAGE, **message: Any
) -> tuple[dict[str, Any] | None, str]:
    """Run a child as the executor does; gives its answer and what was printed."""
    whole = {
        "directory": str(directory),
        "path": str(directory / "main.py"),
        "source": source.encode(),
        "entrypoint": "f",
    }
    data = child_scripts.boot_message(
        CHILD,
        [
            whole | {"inputs": {}, "args": {}, "watched": False} | message,
            child_scripts.compiled(VALUES),
        ],
    )
    reader, writer = os.pipe()
    arguments = [sys.executable, "-I", "-B", "-X", "utf8", "-c", child_scripts.BOOT, str(writer)]
    done = subprocess.run(
        arguments,
        input=data,
        capture_output=True,
        pass_fds=[writer],
        env=env,
        check=False,
        timeout=PATIENCE_S,
    )
    os.close(writer)
    with open(reader, "rb") as result:
        told = result.read()
    assert done.stdout == b""
    return json.loads(told) if told else None, done.stderr.decode()


def test_the_answer_is_one_json_document_on_the_result_descriptor(tmp_path: Path) -> None:
    assert answer(tmp_path, "def f(): print('log'); return {'a': [1, 'é']}") == (
        {"result": {"a": [1, "é"]}},
        "log\n",
    )


def test_an_error_is_an_answer_of_its_kind(tmp_path: Path) -> None:
    for source, kind in (("def f(): 1 / 0", "tool"), ("def f(): return {...}", "output")):
        told, _ = answer(tmp_path, source)
        assert told is not None and told["error"]["kind"] == kind
    source = "import enum\nclass E(enum.Enum): A = 1\ndef f(a: E): pass"
    told, _ = answer(tmp_path, source, inputs={"a": 2})
    assert told == {
        "error": {"kind": "arguments", "message": "is not one of 1: 2", "pointer": "/a"}
    }


def test_what_stands_at_the_descriptors_number_in_the_end_is_never_written_to(
    tmp_path: Path,
) -> None:
    opens = f"KEPT.extend(open({str(tmp_path)!r} + f'/{{n}}', 'w') for n in range(20))"
    source = f"import os\nKEPT = []\ndef f():\n    os.closerange(3, 64)\n    {opens}\n    return 1"
    assert answer(tmp_path, source)[0] is None
    assert [path.name for path in tmp_path.iterdir() if path.stat().st_size] == []


def test_a_script_named_like_a_library_does_not_stand_in_its_place(tmp_path: Path) -> None:
    source = "import json\ndef f(): return [__name__, json.dumps(1)]"
    assert answer(tmp_path, source, path=str(tmp_path / "json.py"))[0] == {
        "result": ["vespe_tool", "1"]
    }
    assert answer(tmp_path, source, path=str(tmp_path / "pytest.py"))[0] == {
        "result": ["vespe_tool", "1"]
    }
    assert answer(tmp_path, source, path=str(tmp_path / "a-b.py"))[0] == {
        "result": ["vespe_tool", "1"]
    }
    assert answer(tmp_path, source)[0] == {"result": ["main", "1"]}


def test_a_script_is_not_run_as_the_main_program(tmp_path: Path) -> None:
    source = "import sys\nif __name__ == '__main__': raise SystemExit(1)\ndef f(): return sys.argv"
    assert answer(tmp_path, source)[0] == {"result": [str(tmp_path / "main.py")]}


def test_nothing_heavy_is_loaded_for_a_plain_function(tmp_path: Path) -> None:
    told, _ = answer(
        tmp_path,
        "import sys\ndef f(a: str, b: 'int' = 1): return sorted(sys.modules)",
        env={},
        inputs={"a": "x"},
    )
    assert told is not None
    assert {"json", "re", "typing", "dataclasses", "asyncio", "inspect", "traceback"} & set(
        told["result"]
    ) == set()


def test_the_trace_of_a_deep_recursion_is_its_two_ends() -> None:
    trace = runpy.run_path(CHILD)["_trace"]
    frames = [("main.py", n, "f") for n in range(1000)]
    assert len(trace(frames)) == 20
    assert (trace(frames)[0], trace(frames)[-1]) == (
        "main.py, line 0, in f",
        "main.py, line 999, in f",
    )


@pytest.mark.parametrize("text", ["x" * 100_000, "é" * 100_000])
def test_the_text_of_an_error_is_bounded(tmp_path: Path, text: str) -> None:
    told, _ = answer(tmp_path, "def f(text): raise ValueError(text)", inputs={"text": text})
    assert told is not None and len(told["error"]["message"]) == 4000


def test_a_rehearsal_leaves_no_module_and_no_place_to_import_from() -> None:
    before = set(sys.modules), list(sys.path)
    python_child.rehearse(python_values)
    assert (set(sys.modules), sys.path) == before


def test_a_database_is_noted_as_it_is_opened_and_none_in_memory(tmp_path: Path) -> None:
    source = (
        "import os, sqlite3\n"
        "def f(where):\n"
        "    os.chdir(where)\n"
        "    for name in ('file:a.db?mode=ro', 'file:b%20c.db', ':memory:', '',\n"
        "                 'file:x?mode=memory', 'file:x?mode=%6demory', 'd.db',\n"
        "                 f'file:{where}/e.db?cache=shared%26mode=memory',\n"
        "                 f'file:{where}/b%20c.db?x=1%26mode=ro'):\n"
        "        try:\n"
        "            sqlite3.connect(name, uri=name.startswith('file:')).close()\n"
        "        except sqlite3.Error:\n"
        "            pass\n"
        "    raise ValueError('seen')\n"
    )
    tool = tmp_path / "tool"
    told, _ = answer(tool, source, inputs={"where": str(tmp_path)}, watched=True)
    assert told is not None
    touched, here = [tuple(one) for one in told["touched"]], tmp_path
    assert [one for one in touched if one[1].endswith(".db")] == [
        ("read", f"{here}/a.db"),
        ("write", f"{here}/b c.db"),
        ("write", f"{here}/d.db"),
        ("write", f"{here}/e.db"),
    ]
    assert not [one for one in touched if "memory" in one[1]]


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("file://[x/a.db", "/a.db"),
        ("file://\u2100/a.db", "/a.db"),
        ("file:///{here}/a\tb.db", "/{here}/a\tb.db"),
        ("file:{here}/%5bx.db?mode=rwc#no.db", "/{here}/[x.db"),
        ("file://localhost", None),
    ],
)
def test_a_database_is_opened_as_it_would_be_if_nobody_took_note(
    tmp_path: Path, name: str, seen: str | None
) -> None:
    source = (
        "import sqlite3\n"
        "def f(name):\n"
        "    try:\n"
        "        sqlite3.connect(name, uri=True).close()\n"
        "    except sqlite3.OperationalError:\n"
        "        pass\n"
        "    raise ValueError('seen')\n"
    )
    here = str(tmp_path).removeprefix("/")
    named = name.format(here=here if "///" in name else tmp_path)
    told, _ = answer(tmp_path / "tool", source, inputs={"name": named}, watched=True)
    assert told is not None and told["error"]["message"].startswith("ValueError: seen"), told
    found = [one for one in told.get("touched", ()) if one[1].endswith(".db")]
    assert found == ([] if seen is None else [["write", seen.format(here=here)]])
