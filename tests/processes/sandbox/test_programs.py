"""Programs by name: where they are, and what has to start with them."""

import os
from pathlib import Path

from vespe.processes.sandbox import programs


def script(path: Path, first: str) -> Path:
    path.write_text(f"{first}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_a_script_needs_the_programs_of_its_first_line(tmp_path: Path) -> None:
    script(tmp_path / "tool", "#!/usr/bin/env sh")
    found = set(programs.of_programs(["tool"], search=f"{tmp_path}:/usr/bin:/bin", home="/"))
    assert {
        str(tmp_path / "tool"),
        os.path.realpath("/usr/bin/env"),
        os.path.realpath("/bin/sh"),
    } <= found
    assert not any("perl" in path for path in found)


def test_a_program_that_is_not_there_needs_nothing(tmp_path: Path) -> None:
    assert set(programs.of_programs(["none-such"], search=str(tmp_path), home="/")) == set(
        programs.loaders()
    )


def test_a_path_may_be_relative_to_the_project(tmp_path: Path) -> None:
    script(tmp_path / "run", "#!/bin/sh")
    assert str(tmp_path / "run") in set(
        programs.of_programs(["./run"], search="", home=str(tmp_path))
    )


def test_a_bin_brings_what_it_stands_in_but_never_a_home(
    tmp_path: Path, monkeypatch: object
) -> None:
    (tmp_path / "node/bin").mkdir(parents=True)
    assert list(programs.search_path(f"relative:{tmp_path}/node/bin:/none")) == [
        f"{tmp_path}/node/bin",
        f"{tmp_path}/node",
    ]
    assert "/" not in list(programs.search_path("/bin:/usr/bin"))
