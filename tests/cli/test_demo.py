"""`vespe demo`."""

import os
import subprocess
import sys

from vespe.cli.demo import STEPS


def test_every_step_is_printed_before_its_real_output_and_ends_as_it_should() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "vespe", "demo"], capture_output=True, text=True, encoding="utf-8", timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n$ vespe ") + done.stdout.startswith("$ vespe ") == len(STEPS)
    for real in ('"sky": "clear"', "(exit code 5)", "(exit code 6)", "write_file"):
        assert real in done.stdout
    first, again = done.stdout.split("$ vespe agent run")[1:]
    for shown in ("It is clear in Lucca", "weather ok", "weather invalid_arguments", "count_words denied"):
        assert shown in first and shown in again
    assert "-> weather" in first and "-> weather" not in again
    assert not os.path.exists("/dev/null/no-home-in-tests")
