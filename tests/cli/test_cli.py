"""The group and its lazy table."""

import importlib
import signal
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from vespe.cli import main

Command = Callable[..., Any]


def test_a_mistyped_verb_gets_the_nearest_ones(command: Command) -> None:
    said = command("tool", "lst")
    assert said.code == 2 and "list" in said.err


def test_usage_errors_are_json_where_json_is_asked_for(command: Command) -> None:
    said = command("tool", "list", "--bogus", "--json")
    assert said.code == 2 and said.document["error"]["code"] == "usage"


def test_the_version_is_printed(command: Command) -> None:
    assert command("--version").out.startswith("vespe, version 0.")


def test_p31_a_signal_never_cuts_the_import_of_a_verb_in_two(monkeypatch: pytest.MonkeyPatch) -> None:
    blocked: list[bool] = []
    load = importlib.import_module

    def watched(name: str) -> ModuleType:
        blocked.append({signal.SIGINT, signal.SIGTERM, signal.SIGHUP} <= signal.pthread_sigmask(signal.SIG_BLOCK, ()))
        return load(name)

    monkeypatch.setattr(importlib, "import_module", watched)
    assert main(["kit", "list"]) == 0
    assert blocked[0] and signal.SIGTERM not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_without_a_verb_the_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    captured = capsys.readouterr()
    assert "Commands:" in captured.out + captured.err
