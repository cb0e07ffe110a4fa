"""What `shell_command` is as a type of tools."""

from vespe.models import Implementation
from vespe.tool_types import type_of
from vespe.types.shell_command import execution


def test_it_is_run_by_its_own_executor() -> None:
    assert type_of("shell_command").executor() is execution.EXECUTOR


def test_its_process_starts_with_its_own_file_or_a_program_of_the_path() -> None:
    kind = type_of("shell_command")
    own = Implementation(type="shell_command", path="run.sh", entrypoint="sh")
    assert kind.programs(own, "/tool") == ("/tool/run.sh",)
    assert kind.programs(Implementation(type="shell_command", entrypoint="wc"), "/tool") == ("wc",)


def test_a_review_shows_its_program_and_arguments_however_broken() -> None:
    kind = type_of("shell_command")
    assert kind.runs({"entrypoint": "wc", "args": {"argv": ["-l"]}}) == ["wc", "-l"]
    assert kind.runs({"path": "run.sh", "args": "x"}) == ["run.sh"]
