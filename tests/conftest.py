"""Isolation that fails loudly, and what tests share: a home, a project, the corpus."""

import gc
import io
import json
import os
import random
import signal
import socket
import sys
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from vespe.cli import main
from vespe.projects.init import found_project

HERE = Path(__file__).resolve().parent
_SEED = "VESPE_TEST_SEED"
"""The variable that fixes the order of the tests; 0 leaves them as they stand in the files."""
_USER_VARIABLES = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect with no garbage collector, which would look again and again through modules and trees
    that all live to the end.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_configure() -> None:
    """Choose the order of the tests where the environment names none; xdist's workers inherit
    it.
    """
    os.environ.setdefault(_SEED, str(random.SystemRandom().randrange(1, 100_000)))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Shuffle the modules, and the tests in each: no test may need one that ran before. Skip what
    only root can test for everybody else.
    """
    modules: dict[Path, list[pytest.Item]] = {}
    for item in items:
        modules.setdefault(item.path, []).append(item)
        if item.get_closest_marker("root") and os.geteuid():
            item.add_marker(pytest.mark.skip(reason="only root can test this: `pytest -m root`"))
    if (seed := os.environ[_SEED]) != "0":
        order = random.Random(seed)
        shuffled = list(modules.values())
        order.shuffle(shuffled)
        for tests in shuffled:
            order.shuffle(tests)
        items[:] = [item for tests in shuffled for item in tests]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say the order, so that it can be had again; `-q` prints no header that would."""
    if seed := os.environ.get(_SEED):
        terminalreporter.write_line(f"the order of the tests: {_SEED}={seed}")


@pytest.fixture(scope="session", autouse=True)
def guard() -> Iterator[None]:
    """Make the home directory, the git configuration and the network unusable unless a test asks
    for them.
    """
    saved = dict(os.environ)
    # A test runner that was started in the background ignores these, and so would every process
    # that a test interrupts.
    for number, handler in (
        (signal.SIGINT, signal.default_int_handler),
        (signal.SIGTERM, signal.SIG_DFL),
        (signal.SIGHUP, signal.SIG_DFL),
    ):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)
    for name in [n for n in os.environ if n.startswith(("VESPE_", "GIT_"))]:
        del os.environ[name]
    for name in ("HOME", *_USER_VARIABLES):
        os.environ[name] = "/dev/null/no-home-in-tests"
    os.environ.update(GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null", NO_COLOR="1")
    connect = socket.socket.connect
    socket.socket.connect = _loopback_only(connect)  # type: ignore[method-assign,assignment]  # the guard stands in for it
    yield
    socket.socket.connect = connect  # type: ignore[method-assign]  # put back
    os.environ.clear()
    os.environ.update(saved)


def _loopback_only(
    connect: Callable[[socket.socket, Any], None],
) -> Callable[[socket.socket, Any], None]:
    def guarded(self: socket.socket, address: Any) -> None:
        if isinstance(address, tuple) and address[0] not in ("127.0.0.1", "::1", "localhost"):
            raise AssertionError(f"a test tried to reach {address}")
        connect(self, address)

    return guarded


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh home directory with its own user data, state, configuration and cache directories."""
    directory = tmp_path / "home"
    directory.mkdir()
    monkeypatch.setenv("HOME", str(directory))
    monkeypatch.delenv("GIT_CONFIG_GLOBAL", raising=False)
    # what a command sets in this process ends with the test; a name that was absent has to be set
    # before, or it is not put back
    monkeypatch.setenv("VESPE_KITS_PATH", os.environ.get("VESPE_KITS_PATH", ""))
    monkeypatch.delenv("VESPE_KITS_PATH")
    for name in _USER_VARIABLES:
        monkeypatch.setenv(name, str(directory / name.split("_")[1].lower()))
    return directory


@pytest.fixture(scope="session")
def shared() -> Path:
    """The corpus of real material beside a checkout; tests that need it are skipped, loudly, where
    it is absent.
    """
    directory = HERE.parent.parent / "shared"
    if not (directory / "corpus").is_dir():
        pytest.skip(
            f"no corpus at {directory}: this test needs real recordings that are "
            "not part of the repository"
        )
    return directory


@pytest.fixture
def project(home: Path, tmp_path: Path) -> Path:
    """A project made as `vespe init` makes it, trusted, in a home of its own; in this process,
    since a thousand tests begin so.
    """
    directory = tmp_path / "project"
    directory.mkdir()
    found_project(str(directory))
    return directory


@dataclass(frozen=True)
class Said:
    """What one command printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document on stdout."""
        return json.loads(self.out)


@pytest.fixture
def command(
    project: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., Said]:
    """Run command lines in this process, in the project's directory, as the `vespe` command
    does.
    """
    monkeypatch.chdir(project)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b""), encoding="utf-8"))

    def run(*arguments: str) -> Said:
        code = main(list(arguments))
        captured = capfd.readouterr()
        assert "Traceback" not in captured.err, captured.err
        return Said(code, captured.out, captured.err)

    return run
