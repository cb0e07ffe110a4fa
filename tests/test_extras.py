"""The command that installs an extra, for installations that other programs made."""

import json
import sys
from pathlib import Path

import pytest

from tests.support.installs import CHECKOUT, Install

_DIST = """\
Metadata-Version: 2.4
Name: vespe
Version: 0.2.0
Provides-Extra: mcp
Provides-Extra: fuzz
Provides-Extra: both
Requires-Dist: click>=8
Requires-Dist: here>=2; extra == "mcp"
Requires-Dist: here>=3; extra == "fuzz"
Requires-Dist: here>=2; extra == "both"
Requires-Dist: gone>=1; extra == "both"
"""
_ASK = """
import sys
from vespe import extras
sys.stdout.write(" | ".join(extras.command(sys.argv[1], prefix=sys.argv[2])))
"""


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The records of Vespe, installed from a directory with the extra `mcp`."""
    for name, text in (("vespe", _DIST), ("here", "Name: here\nVersion: 2.5\n")):
        record = tmp_path / f"site/{name}-1.dist-info"
        record.mkdir(parents=True)
        (record / "METADATA").write_text(text, encoding="utf-8")
    source = tmp_path / "my clone"
    source.mkdir()
    (source / "pyproject.toml").touch()
    said = {"dir_info": {}, "url": source.as_uri()}
    record = tmp_path / "site/vespe-1.dist-info/direct_url.json"
    record.write_text(json.dumps(said), encoding="utf-8")
    return tmp_path


def asked(place: Path, extra: str, prefix: str) -> str:
    """Ask in an installation whose records are in `place`."""
    code = f"import sys; sys.path[:0] = [{str(place / 'site')!r}]\n{_ASK}"
    return Install(CHECKOUT, sys.executable).printed(code, extra, prefix)


@pytest.mark.parametrize(
    ("prefix", "command"),
    [
        ("/home/ada/.local/share/uv/tools/vespe", "uv tool install '{}[fuzz,mcp]' |"),
        ("/home/ada/.local/share/pipx/venvs/vespe", "pipx install --force '{}[fuzz,mcp]' |"),
        ("/home/ada/shop/.venv", "pip install '{}[fuzz]' |"),
    ],
)
def test_an_extra_is_installed_from_where_vespe_came_and_the_others_stay(
    prefix: str, command: str, installed: Path
) -> None:
    assert asked(installed, "fuzz", prefix) == command.format(installed / "my clone")


def test_where_the_clone_is_gone_the_hint_names_no_path(installed: Path) -> None:
    (installed / "my clone/pyproject.toml").unlink()
    prefix = "/home/ada/.local/share/uv/tools/vespe"
    assert asked(installed, "fuzz", prefix) == "uv tool install '.[fuzz,mcp]' |  in its clone"


def test_an_editable_installation_stays_one(installed: Path) -> None:
    record = installed / "site/vespe-1.dist-info/direct_url.json"
    said = json.loads(record.read_text(encoding="utf-8")) | {"dir_info": {"editable": True}}
    record.write_text(json.dumps(said), encoding="utf-8")
    told = asked(installed, "fuzz", "/home/ada/shop/.venv")
    assert told == f"pip install -e '{installed / 'my clone'}[fuzz]' |"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"url": 1, "dir_info": {}}', '{"dir_info": []}'])
def test_a_damaged_record_is_no_failure(text: str, installed: Path) -> None:
    record = installed / "site/vespe-1.dist-info/direct_url.json"
    record.write_text(text, encoding="utf-8")
    assert asked(installed, "mcp", "/home/ada/.venv") == "pip install '.[mcp]' |  in its clone"
