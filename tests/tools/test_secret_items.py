"""What a tool and its kit say of the secrets that they declare."""

import json
from pathlib import Path

import pytest

from tests.support.ondisk import python_tool, write_kit
from vespe.tools import directory, secret_items
from vespe.tools.secret_items import SecretItem

TOKEN = {"name": "TOKEN", "description": "a token with repo scope", "docs_url": "https://h.org/t"}


def test_a_secret_is_a_name_or_an_object_with_one() -> None:
    stated = ["KEY", TOKEN, {"name": "KEY"}, 5, {"names": "A"}]
    assert secret_items.names_in(stated) == ("KEY", "TOKEN")
    assert secret_items.items_in(stated)[1] == SecretItem(**TOKEN)
    assert secret_items.names_in("KEY") == () == secret_items.items_in({"name": "KEY"})
    assert [item.text for item in secret_items.items_in(stated)[:2]] == [
        "KEY",
        "TOKEN (a token with repo scope; https://h.org/t)",
    ]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("description", "a\x1b[2Jb"),
        ("description", "two\nlines"),
        ("description", "\u202eright to left"),
        ("description", "a" * 301),
        ("docs_url", "javascript:alert(1)"),
        ("docs_url", "file:///etc/passwd"),
        ("docs_url", "https://github.com@evil.org/"),
        ("docs_url", "https://h.org/\x1b]8;;"),
    ],
)
def test_words_that_could_steer_a_terminal_or_a_browser_are_refused_and_never_shown(
    key: str, value: str
) -> None:
    ((pointer, said),) = secret_items.wrong_item({**TOKEN, key: value})
    assert pointer == f"/{key}" and "must be" in said
    (item,) = secret_items.items_in([{**TOKEN, key: value}])
    assert getattr(item, key) == "" and value not in item.text


def test_a_kit_says_what_its_tools_do_not(tmp_path: Path) -> None:
    place = write_kit(tmp_path, "git_hub", secrets=[TOKEN, {"name": "KEY", "description": "kit's"}])
    tool = python_tool(
        place / "tool-a", "a", "return 1", secrets=[{"name": "KEY", "description": "own"}, "TOKEN"]
    )
    loaded = directory.load(tool, scope="git_hub", kit_id="git_hub")
    assert loaded.secrets == ("KEY", "TOKEN")
    assert secret_items.items_of(loaded) == (
        SecretItem(name="KEY", description="own"),
        SecretItem(**TOKEN),
    )
    (place / "kit_config.json").write_text("{", encoding="utf-8")
    loaded = directory.load(tool, scope="git_hub")
    assert [item.text for item in secret_items.items_of(loaded)] == ["KEY (own)", "TOKEN"]


def test_a_secret_in_an_object_is_declared_as_a_name_is(tmp_path: Path) -> None:
    place = python_tool(tmp_path / "tool-a", "a", "return 1", secrets=[TOKEN])
    config = json.loads((place / "config.json").read_text(encoding="utf-8"))
    config["implementation_details"]["args"] = {"fixed": "${env:TOKEN}"}
    (place / "config.json").write_text(json.dumps(config), encoding="utf-8")
    assert directory.check(place)[1] == []
