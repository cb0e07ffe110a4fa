"""Which secrets the tools of a project declare, and what is said of each."""

from pathlib import Path

import pytest

from tests.support.ondisk import python_tool
from vespe.features.secrets import declared
from vespe.projects import user_config
from vespe.projects.workspace import open_workspace


@pytest.fixture
def tools(project: Path) -> Path:
    directory = project / ".vespe/tools"
    for name, secrets in (("a", ["ONE", "TWO"]), ("b", ["ONE"]), ("c", [])):
        python_tool(directory / f"tool-{name}", name, "return 1", secrets=secrets)
    (directory / "tool-d").mkdir()
    (directory / "tool-d/config.json").write_text("{", encoding="utf-8")
    return project


def test_each_secret_is_named_once_with_the_tools_that_need_it(tools: Path) -> None:
    found = declared.needs(open_workspace(tools))
    assert [(need.name, need.names, need.tools) for need in found] == [
        ("ONE", ("ONE",), ("a", "b")),
        ("TWO", ("TWO",), ("a",)),
    ]


def test_what_a_secret_is_for_is_said_by_the_first_tool_that_says_it(tools: Path) -> None:
    item = {"name": "TWO", "description": "it pays", "docs_url": "https://h.org/"}
    python_tool(tools / ".vespe/tools/tool-e", "e", "return 1", secrets=[item])
    row = declared.needs(open_workspace(tools))[1].proved()
    assert row["tools"] == ["a", "e"]
    assert (row["description"], row["docs_url"]) == ("it pays", "https://h.org/")
    assert row["message"] == (
        "has no value: it pays; make one at https://h.org/; then `vespe secret set TWO`"
    )


def test_a_secret_is_proved_and_never_quoted(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = declared.needs(open_workspace(tools))[0]
    steps = (
        (None, "missing", None, "vespe secret set ONE"),
        ({"ref": "env:ELSEWHERE"}, "unavailable", "env", "ELSEWHERE"),
        ("hunter2", "ok", "value", None),
        ("xyz", "ok", "value", "shorter than 4"),
        ("op://hunter2", "ok", "value", "it is used as the value"),
        ('{"ref": "env:hunter2"}', "ok", "value", "it is used as the value"),
        ('{"type": "service_account", "private_key": "hunter2"}', "ok", "value", None),
        ("{hunter2", "ok", "value", None),
    )
    for said, state, source, message in steps:
        if said is not None:
            user_config.set_value("secrets.ONE", said)
        row = one.proved()
        assert (row["name"], row["tools"]) == ("ONE", ["a", "b"])
        assert (row["state"], row["source"], "hunter2" in str(row)) == (state, source, False)
        assert (message or "None") in str(row["message"])
        assert state != "unavailable" or row["message"].startswith("cannot be read from env:ELSE")
    monkeypatch.setenv("ONE", "from here")
    assert (one.proved()["source"], one.proved()["message"]) == ("environment", None)
