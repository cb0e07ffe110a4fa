"""Environments for scripts: made aside, once, by one maker, and a sentence where a dependency
cannot be had.
"""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from vespe.calls.sandboxing import machine
from vespe.errors import Interrupted, StorageError, ToolExecutionError
from vespe.files import locations
from vespe.types.python_script.environments import interpreter

OFFLINE = {"PATH": "/usr/local/bin:/usr/bin:/bin", "PIP_NO_INDEX": "1"}


def distribution(directory: Path, name: str) -> str:
    """The source of a distribution whose build needs nothing but what pip is told: a wheel, written
    by hand.
    """
    wheel = directory / f"{name}-1.0-py3-none-any.whl"
    source = (
        f"import zipfile; z = zipfile.ZipFile({str(wheel)!r}, 'w'); z.writestr('{name}.py', "
        f"'WORD = 1'); d = '{name}-1.0.dist-info/'\n"
        f"z.writestr(d + 'METADATA', 'Metadata-Version: 2.1\\nName: {name}\\nVersion: 1.0\\n'); "
        "z.writestr(d + 'RECORD', '')\n"
        "z.writestr(d + 'WHEEL', 'Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: "
        "true\\nTag: py3-none-any\\n'); z.close()"
    )
    subprocess.run([sys.executable, "-c", source], check=True)
    return name


def test_one_environment_is_made_for_all_who_ask_at_once(home: Path, tmp_path: Path) -> None:
    name, heard = distribution(tmp_path, "greeting"), list[str]()
    environment = OFFLINE | {"PIP_FIND_LINKS": str(tmp_path)}
    with ThreadPoolExecutor(3) as pool:
        made = list(
            pool.map(
                lambda _: interpreter((name,), heard.append, environment=environment), range(3)
            )
        )
    assert (len(set(made)), heard) == (
        1,
        ["installing greeting into a separate environment (only once)"],
    )
    root = os.path.join(locations.user_cache_dir(), "envs")
    assert [os.path.join(root, entry, "bin", "python") for entry in os.listdir(root)] == made[:1]
    assert subprocess.run([made[0], "-I", "-c", "import greeting"], check=False).returncode == 0


BACKEND = """
import os, zipfile
def tried(what):
    try:
        what()
        return 1
    except OSError:
        return 0
def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    home = os.path.expanduser("~")
    read = tried(lambda: open(os.path.join(home, ".ssh/id")).read())
    wrote = tried(lambda: open(os.path.join(home, "mark"), "w").write("x"))
    own = tried(lambda: open(os.path.join(wheel_directory, "own"), "w").write("x"))
    with zipfile.ZipFile(os.path.join(wheel_directory, "built-1.0-py3-none-any.whl"), "w") as z:
        z.writestr("built.py", f"SAW = {[read, wrote, own]}")
        z.writestr("built-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: built\\nVersion: 1.0\\n")
        z.writestr("built-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nGenerator: t\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        z.writestr("built-1.0.dist-info/RECORD", "")
    return "built-1.0-py3-none-any.whl"
"""


@pytest.mark.skipif(machine().level == "off", reason="this machine has no sandbox")
@pytest.mark.parametrize(("setting", "saw"), [("auto", "[0, 0, 1]"), ("off", "[1, 1, 1]")])
def test_what_a_dependency_runs_as_it_is_built_is_held(
    home: Path, tmp_path: Path, setting: str, saw: str
) -> None:
    source = tmp_path / "source"
    for path, text in ((home / ".ssh/id", "KEY"), (source / "backend.py", BACKEND)):
        path.parent.mkdir()
        path.write_text(text, encoding="utf-8")
    system = (
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
        '[project]\nname = "built"\nversion = "1.0"\n'
    )
    (source / "pyproject.toml").write_text(system, encoding="utf-8")
    made = interpreter(
        (f"built @ file://{source}",), environment=OFFLINE | {"HOME": str(home)}, sandbox=setting
    )
    said = subprocess.run(
        [made, "-I", "-c", "import built; print(built.SAW)"],
        capture_output=True,
        check=True,
        text=True,
        encoding="utf-8",
    )
    assert said.stdout == f"{saw}\n" and (home / "mark").exists() == (setting == "off")


def test_a_dependency_that_cannot_be_had_is_named_and_nothing_is_left(
    home: Path, tmp_path: Path
) -> None:
    distribution(tmp_path, "greeting")
    with pytest.raises(
        ToolExecutionError, match="the dependency no-such-thing==1 cannot be installed: "
    ) as caught:
        interpreter(
            ("greeting", "no-such-thing==1"),
            environment=OFFLINE | {"PIP_FIND_LINKS": str(tmp_path)},
        )
    assert caught.value.details["dependencies"] == ["no-such-thing==1"]
    assert os.listdir(os.path.join(locations.user_cache_dir(), "envs")) == []


def test_a_call_that_is_cancelled_meanwhile_leaves_nothing(home: Path) -> None:
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(Interrupted):
        interpreter(("greeting",), environment=OFFLINE, cancel=cancel)
    assert os.listdir(os.path.join(locations.user_cache_dir(), "envs")) == []


def test_a_cache_that_cannot_be_made_is_a_sentence(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null/cache")
    monkeypatch.setenv("HOME", "/dev/null/home")
    with pytest.raises(StorageError, match="cannot make /dev/null/"):
        interpreter(("greeting",), environment=OFFLINE)


@pytest.mark.parametrize("has_pip", [True, False])
def test_what_else_pip_says_is_its_last_line(
    has_pip: bool, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not has_pip:  # then the environment is made with one of its own
        monkeypatch.setattr("vespe.types.python_script.environments._HAS_PIP", "import no_such_pip")
    with pytest.raises(
        ToolExecutionError,
        match="the dependency greeting @ file:///no/such/place cannot be installed: ",
    ):
        interpreter(("greeting @ file:///no/such/place",), environment=OFFLINE)


def test_pip_reads_its_own_configuration_and_installs_into_the_environment_all_the_same(
    home: Path, tmp_path: Path
) -> None:
    name = distribution(tmp_path, "greeting")
    settings = home / "config/pip/pip.conf"
    settings.parent.mkdir(parents=True)
    settings.write_text(f"[global]\nno-index = true\nfind-links = {tmp_path}\n", encoding="utf-8")
    environment = {
        "PATH": OFFLINE["PATH"],
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / "config"),
    }
    aside = {"PIP_TARGET": str(tmp_path / "aside"), "PIP_USER": "1"}
    made = interpreter((name,), environment=environment | aside)
    assert (
        subprocess.run([made, "-I", "-c", "import greeting"], check=False).returncode == 0
        and not (tmp_path / "aside").exists()
    )


def test_an_index_that_does_not_answer_is_the_reason_that_is_told(home: Path) -> None:
    environment = {
        "PATH": OFFLINE["PATH"],
        "PIP_INDEX_URL": "http://127.0.0.1:1/simple",
        "PIP_RETRIES": "1",
        "PIP_TIMEOUT": "1",
    }
    with pytest.raises(ToolExecutionError, match=r"the index did not answer: .*refused"):
        interpreter(("greeting",), environment=environment)
