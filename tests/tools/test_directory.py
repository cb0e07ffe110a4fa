import functools
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.nonsense import Nonsense
from tests.support.ondisk import python_tool, write_kit, write_tool
from vespe.documents import strict_json
from vespe.errors import InvalidDocument, InvalidTool
from vespe.schemas import validator as schema_validator
from vespe.tools import directory as tool_directory

CASES = Path(__file__).parents[1] / "cases" / "tools"
GOOD = sorted((CASES / "good").iterdir())
BAD = sorted((CASES / "bad").iterdir())
DATA = Path(tool_directory.__file__).parents[1] / "data"
SHELL = {"type": "shell_command", "entrypoint": "echo", "args": {"argv": ["hi"]}}


def expectation(case: Path) -> dict[str, Any]:
    expected: dict[str, Any] = json.loads((case / "expect.json").read_text(encoding="utf-8"))
    return expected


@functools.cache
def published(name: str) -> schema_validator.Validator:
    schema = json.loads((DATA / f"{name}.schema.json").read_text(encoding="utf-8"))
    assert schema_validator.check_schema(schema) == []
    return schema_validator.compile_schema(schema, closed=False)


# The case files


@pytest.mark.parametrize("case", GOOD, ids=lambda case: case.name)
def test_a_good_tool_is_loaded_listed_and_allowed_by_the_published_schema(case: Path) -> None:
    document, problems = tool_directory.check(case)
    assert problems == []
    tool = tool_directory.load(case, scope="project_tools")
    assert (tool.uid, tool.document, tool.directory) == (case.name, document, str(case))
    entry = tool_directory.read_entry(case, scope="project_tools", kit_id=None)
    assert (entry.uid, entry.name, entry.problem) == (case.name, tool.name, None)
    assert published("tool").violations(document) == []


@pytest.mark.parametrize("case", BAD, ids=lambda case: case.name)
def test_a_bad_tool_is_told_with_its_place_by_all_who_read_it(case: Path) -> None:
    expected = expectation(case)
    _, problems = tool_directory.check(case)
    assert any(
        one.pointer == expected["pointer"] and expected["says"] in str(one) for one in problems
    ), problems
    with pytest.raises(InvalidTool) as caught:
        tool_directory.load(case)
    assert caught.value.problems == tuple(map(str, problems))
    entry = tool_directory.read_entry(case, scope="project_tools", kit_id=None)
    assert entry.problem is not None
    assert expected["says"] in entry.problem


@pytest.mark.parametrize("case", BAD, ids=lambda case: case.name)
def test_the_published_schema_refuses_what_the_validator_refuses(case: Path) -> None:
    try:
        document = strict_json.read_object(case / "config.json")
    except InvalidDocument:
        assert "only_code_can_tell" in expectation(case)
    else:
        assert published("tool").is_valid(document) is ("only_code_can_tell" in expectation(case))


def test_the_cases_are_many_and_most_can_be_told_by_the_schema() -> None:
    told_by_schema = [case for case in BAD if "only_code_can_tell" not in expectation(case)]
    assert len(GOOD) >= 25
    assert len(told_by_schema) >= 110


# The other published schemas


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        (
            "kit",
            {
                "kit_id": "file_io",
                "version": "1.0.0",
                "x": 1,
                "allow_types": [],
                "allow_hosts": ["a.org:80", "[::1]"],
                "secrets": ["A"],
            },
            [{}, {"kit_id": "File"}, {"kit_id": "project_tools"}, {"kit_id": "a", "name": 1}]
            + [
                {"kit_id": "a", **bad}
                for bad in (
                    {"allow_types": ["x"]},
                    {"allow_hosts": ["https://a.org"]},
                    {"secrets": ["A-B"]},
                )
            ],
        ),
        (
            "project",
            {"active_kits": ["a"], "x": {}},
            [{"active_kits": "a"}, {"tool_resolution_order": [1]}, {"version": 2}, {"trust": True}],
        ),
        (
            "user",
            {"allow_hosts": ["127.0.0.1:8080"], "secrets": {"KEY": "x"}, "allowed_signers": "/a"},
            [{"allow_hosts": [1]}, {"secrets": {"A-B": "x"}}, {"sandbox": 1}],
        ),
        (
            "lock",
            {
                "version": 1,
                "kits": {
                    "a": {
                        "source": "gh:o/r",
                        "ref": "v1",
                        "commit": "a" * 40,
                        "digest": "v1:" + "0" * 64,
                    }
                },
            },
            [{}, {"kits": {"a": {"source": "x"}}}, {"kits": {"A": {}}}],
        ),
    ],
)
def test_the_published_schemas_take_what_is_meant_and_refuse_what_is_not(
    name: str, good: Any, bad: list[Any]
) -> None:
    validator = published(name)
    assert validator.violations(good) == []
    assert [document for document in bad if validator.is_valid(document)] == []


def test_the_published_project_schema_marks_what_only_the_user_may_set() -> None:
    properties = json.loads((DATA / "project.schema.json").read_text(encoding="utf-8"))[
        "properties"
    ]
    restricted = {key for key, schema in properties.items() if schema.get("x-restricted")}
    assert {
        "base_url",
        "api_key_env",
        "env_passthrough",
        "network",
        "trust",
        "install_root",
    } <= restricted


# Loading


def test_a_tool_is_loaded_with_all_that_its_config_says(tmp_path: Path) -> None:
    extra: dict[str, Any] = {
        "version": "1.2",
        "tags": ["a"],
        "secrets": ["KEY"],
        "limits": {"timeout_s": 2, "max_output_bytes": 9},
        "x": [1],
    }
    directory = write_tool(
        tmp_path / "tool-a",
        "a",
        implementation=SHELL,
        annotations={"title": "A"},
        examples=[{"input": {}}],
        **extra,
    )
    tool = tool_directory.load(directory, scope="files", kit_id="files")
    assert (
        tool.name,
        tool.version,
        tool.tags,
        tool.secrets,
        tool.timeout_s,
        tool.max_output_bytes,
    ) == ("a", "1.2", ("a",), ("KEY",), 2, 9)
    assert (tool.scope, tool.kit_id, tool.annotations, tool.examples) == (
        "files",
        "files",
        {"title": "A"},
        ({"input": {}},),
    )
    assert tool.implementation is not None
    assert (tool.implementation.type, tool.implementation.entrypoint, tool.implementation.path) == (
        "shell_command",
        "echo",
        None,
    )
    assert tool.document["x"] == [1]


def test_a_missing_description_md_breaks_nothing(tmp_path: Path) -> None:
    directory = write_tool(tmp_path / "tool-a", implementation=SHELL)
    (directory / "description.md").unlink()
    assert tool_directory.check(directory)[1] == []


def test_a_tool_without_an_implementation_has_none(tmp_path: Path) -> None:
    assert tool_directory.load(write_tool(tmp_path / "tool-a")).implementation is None


def test_a_tool_that_names_another_kit_is_broken_in_this_one(tmp_path: Path) -> None:
    directory = write_tool(tmp_path / "tool-a", implementation=SHELL, kit_id="other")
    assert tool_directory.check(directory)[1] == []
    (problem,) = tool_directory.check(directory, kit_id="files")[1]
    assert problem.pointer == "/kit_id"
    assert "files" in str(
        tool_directory.read_entry(directory, scope="files", kit_id="files").problem
    )


def test_a_broken_tool_still_tells_its_name_type_and_description(tmp_path: Path) -> None:
    directory = write_tool(
        tmp_path / "tool-a", "still_here", implementation={"type": "shell_command"}
    )
    entry = tool_directory.read_entry(directory, scope="project_tools", kit_id=None)
    assert (entry.name, entry.type, entry.description) == (
        "still_here",
        "shell_command",
        "The still_here tool, written by hand for a test.",
    )
    assert entry.problem is not None


@pytest.mark.parametrize(
    "config",
    [
        '{"name": 3, "implementation_details": 4}',
        '{"name": null, "implementation_details": {"type": []}}',
    ],
)
def test_what_is_not_known_is_null(config: str, tmp_path: Path) -> None:
    (tmp_path / "tool-a").mkdir()
    (tmp_path / "tool-a" / "config.json").write_text(config, encoding="utf-8")
    entry = tool_directory.read_entry(tmp_path / "tool-a", scope="s", kit_id=None)
    assert (entry.uid, entry.name, entry.type, entry.description) == ("tool-a", None, None, None)


def test_many_problems_are_told_shortly_in_a_listing(tmp_path: Path) -> None:
    directory = write_tool(tmp_path / "tool-a", implementation=SHELL, tags=list(range(50)))
    assert "and 45 more (`vespe lint` shows all)" in str(
        tool_directory.read_entry(directory, scope="s", kit_id=None).problem
    )
    assert len(tool_directory.check(directory)[1]) == 50


# Odd files


def listed(directory: Path) -> str:
    """Why a listing calls the directory broken; loading it says so too."""
    entry = tool_directory.read_entry(directory, scope="project_tools", kit_id=None)
    assert entry.uid == directory.name
    with pytest.raises(InvalidTool):
        tool_directory.load(directory)
    return str(entry.problem)


def bare(tmp_path: Path) -> Path:
    directory = tmp_path / "tool-a"
    directory.mkdir()
    return directory


def test_p48_a_fifo_named_config_json_is_reported_broken(tmp_path: Path) -> None:
    os.mkfifo(bare(tmp_path) / "config.json")
    assert listed(tmp_path / "tool-a") == "config.json: is not a regular file"


def test_p48_a_socket_named_config_json_is_reported_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(bare(tmp_path))
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("config.json")
        assert listed(tmp_path / "tool-a") == "config.json: is not a regular file"


def test_p48_a_directory_named_config_json_is_reported_broken(tmp_path: Path) -> None:
    (bare(tmp_path) / "config.json").mkdir()
    assert listed(tmp_path / "tool-a") == "config.json: is not a regular file"


def test_p48_a_link_named_config_json_is_reported_broken(tmp_path: Path) -> None:
    good = write_tool(tmp_path / "tool-b", implementation=SHELL)
    os.symlink(good / "config.json", bare(tmp_path) / "config.json")
    assert (
        listed(tmp_path / "tool-a")
        == "config.json: is a symbolic link, which Vespe does not follow"
    )


def test_p48_a_tool_directory_that_is_a_link_is_reported_broken(tmp_path: Path) -> None:
    write_tool(tmp_path / "elsewhere" / "tool-a", implementation=SHELL)
    os.symlink(tmp_path / "elsewhere" / "tool-a", tmp_path / "tool-a")
    assert (
        listed(tmp_path / "tool-a")
        == "the tool's directory is a symbolic link, which Vespe does not follow"
    )


def test_p48_a_config_json_that_is_too_large_or_missing_is_reported_broken(tmp_path: Path) -> None:
    directory = bare(tmp_path)
    assert listed(directory) == "config.json cannot be read: No such file or directory"
    with open(directory / "config.json", "wb") as file:
        file.truncate(2**30)
    assert listed(directory) == "config.json: is larger than 1048576 bytes"


def test_p48_a_tool_directory_that_vanished_is_reported_broken(tmp_path: Path) -> None:
    assert listed(tmp_path / "tool-gone") == "tool-gone cannot be read: No such file or directory"


def test_p48_a_file_in_the_place_of_a_tool_directory_is_reported_broken(tmp_path: Path) -> None:
    (tmp_path / "tool-a").write_text("x", encoding="utf-8")
    assert listed(tmp_path / "tool-a") == "config.json cannot be read: Not a directory"


# Scripts


def script_at(tmp_path: Path, path: str) -> Path:
    directory = python_tool(tmp_path / "tool-a", "run", "return 1")
    config = json.loads((directory / "config.json").read_text(encoding="utf-8"))
    config["implementation_details"]["path"] = path
    (directory / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return directory


def test_p17_a_script_that_is_a_link_is_refused(tmp_path: Path) -> None:
    directory = script_at(tmp_path, "other.py")
    os.symlink("/etc/passwd", directory / "other.py")
    assert "other.py is a symbolic link" in listed(directory)


def test_p17_a_script_behind_a_linked_directory_is_refused(tmp_path: Path) -> None:
    directory = script_at(tmp_path, "src/main.py")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "main.py").write_text("def run(): pass\n", encoding="utf-8")
    os.symlink(tmp_path / "out", directory / "src")
    assert "src is a symbolic link" in listed(directory)


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("gone.py", "No such file"),
        ("main.py/x.py", "not a directory"),
        ("d.py", "not a regular file"),
    ],
)
def test_a_script_that_is_not_there_is_told(path: str, says: str, tmp_path: Path) -> None:
    directory = script_at(tmp_path, path)
    (directory / "d.py").mkdir()
    assert says in listed(directory)


def test_a_script_that_is_a_fifo_is_refused_without_opening_it(tmp_path: Path) -> None:
    directory = script_at(tmp_path, "pipe.py")
    os.mkfifo(directory / "pipe.py")
    assert "not a regular file" in listed(directory)


# The verdict, which may be kept


def test_a_verdict_is_a_matter_of_the_bytes_alone(tmp_path: Path) -> None:
    directory = python_tool(tmp_path / "tool-a", "run", "return 1")
    config = (directory / "config.json").read_bytes()
    (directory / "main.py").unlink()
    verdict = tool_directory.verdict(config, uid="tool-a", kit_id=None)
    assert verdict == (
        "run",
        "The run tool, written by hand for a test.",
        "python_script",
        None,
        "main.py",
    )
    assert "No such file" in str(
        tool_directory.read_entry(directory, scope="s", kit_id=None).problem
    )


KEYS = (
    "uid",
    "name",
    "description",
    "schema",
    "implementation_details",
    "kit_id",
    "limits",
    "secrets",
    "annotations",
    "examples",
    "permissions",
)


def nearly(source: Nonsense) -> dict[str, Any]:
    """Give a document with the fields of a tool, and values of any kind in them."""
    if source.random() < 0.5:
        return source.fields(dict.fromkeys(KEYS, source.anything))
    args = dict.fromkeys(("argv", "headers", "body", "auth"), source.anything)
    details = {
        "path": source.anything,
        "entrypoint": source.anything,
        "args": lambda: source.choice((source.anything(), source.fields(args))),
    }
    given = source.choice((source.anything(), {"type": "object", "properties": source.anything()}))
    made = {
        "type": source.choice(("python_script", "shell_command", "http_request", "x")),
        **source.fields(details),
    }
    return {
        "schema": {"input": given},
        **source.fields({"implementation_details": lambda: made}, 0.7),
    }


def test_p19_no_bytes_make_the_validator_raise() -> None:
    for seed in range(400):
        source = Nonsense(seed)
        junk = (
            source.randbytes(source.randint(0, 60)),
            source.text(60).encode("utf-8", "surrogatepass"),
        )
        for config in (*junk, json.dumps(nearly(source)).encode()):
            assert tool_directory.verdict(config, uid="tool-a", kit_id=None).problem, seed


def test_the_published_schema_allows_whatever_the_validator_allows() -> None:
    allowed = 0
    for seed in range(1000):
        source = Nonsense(seed)
        drawn = nearly(source)
        kept = {name: drawn[name] for name in source.sample(sorted(drawn), min(len(drawn), 2))}
        whole = {"uid": "tool-a", "name": "a", "schema": {"input": {"type": "object"}}, **kept}
        if (
            tool_directory.verdict(json.dumps(whole).encode(), uid="tool-a", kit_id=None).problem
            is None
        ):
            assert published("tool").violations(whole) == [], seed
            allowed += 1
    assert allowed > 10


def test_importing_the_module_loads_no_validator() -> None:
    code = (
        "import sys, vespe.tools.directory; assert not {'jsonschema', 'jsonschema_rs', "
        "'referencing', 'difflib'} & set(sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_what_was_judged_already_is_read_as_loading_reads_it(tmp_path: Path) -> None:
    directory = python_tool(tmp_path / "tool-a", "a", "return 1")
    assert tool_directory.load_judged(directory, scope="s") == tool_directory.load(
        directory, scope="s"
    )
    (directory / "config.json").write_text("{", encoding="utf-8")
    with pytest.raises(InvalidDocument):
        tool_directory.load_judged(directory)


def test_what_was_judged_by_other_limits_of_its_kit_is_judged_again(tmp_path: Path) -> None:
    kit = write_kit(tmp_path, "web", allow_hosts=["api.example.com"])
    details = {"type": "http_request", "path": "https://api.example.com/x", "entrypoint": "GET"}
    tool = write_tool(kit / "tool-a", "asks", implementation=details)
    found = tool_directory.load_judged(tool, scope="web", kit_id="web")
    assert found.allowed_hosts == ("api.example.com",)
    (kit / "kit_config.json").write_text('{"allow_hosts": ["other.example.com"]}', encoding="utf-8")
    with pytest.raises(InvalidDocument, match=r"reaches \"api\.example\.com\""):
        tool_directory.load_judged(tool, scope="web", kit_id="web")


def test_only_a_projects_own_tool_runs_in_the_projects_environment(tmp_path: Path) -> None:
    details = {
        "type": "python_script",
        "path": "main.py",
        "entrypoint": "f",
        "environment": "project",
    }
    tool = write_tool(
        tmp_path / "tool-a", "a", implementation=details, files={"main.py": "def f(): pass\n"}
    )
    assert tool_directory.load(tool).implementation is not None
    with pytest.raises(InvalidTool, match="`environment` is only for a project's own tools"):
        tool_directory.load(tool, scope="kit", kit_id="kit")
