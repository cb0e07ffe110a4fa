"""Kept verdicts: they save time where they are surely right, and are never missed where they are
not there.
"""

import hashlib
import json
import os
from pathlib import Path

import pytest

from tests.support.installs import copy_package
from tests.support.ondisk import write_tool
from vespe import defaults
from vespe.tools import directory, validation_cache
from vespe.tools.validation_cache import Verdicts


@pytest.fixture
def tools(home: Path, tmp_path: Path) -> Path:
    write_tool(tmp_path / "tools" / "tool-a", "one")
    return tmp_path / "tools"


def config(tools: Path) -> bytes:
    return (tools / "tool-a" / "config.json").read_bytes()


def kept(home: Path) -> Path:
    (path,) = (home / "cache/vespe/scan").iterdir()
    return path


def ask(tools: Path, *, kit_id: str | None = None) -> directory.Verdict:
    verdicts = Verdicts(str(tools), kit_id=kit_id)
    answer = verdicts.of("tool-a", config(tools))
    verdicts.save()
    return answer


def poison(home: Path, word: str = "poisoned") -> None:
    """Change what is kept, with its checksum, so that a test sees whether it was believed."""
    body = kept(home).read_bytes().partition(b"\n")[2].replace(b'"one"', f'"{word}"'.encode())
    kept(home).write_bytes(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)


def test_a_verdict_is_the_validators_own(tools: Path) -> None:
    assert ask(tools) == ask(tools) == directory.verdict(config(tools), uid="tool-a", kit_id=None)


def test_the_same_bytes_are_not_judged_again(tools: Path, home: Path) -> None:
    ask(tools)
    poison(home)
    assert ask(tools).name == "poisoned"


def test_one_changed_byte_is_judged_again(tools: Path, home: Path) -> None:
    ask(tools)
    poison(home)
    (tools / "tool-a/config.json").write_bytes(config(tools) + b"\n")
    assert ask(tools).name == "one"


def test_another_version_of_vespe_judges_again(
    tools: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(tools)
    poison(home)
    monkeypatch.setattr(defaults, "VERSION", "99.0")
    assert ask(tools).name == "one"


SCANNING = """
import sys
from vespe.tools import catalog

print(*(e.name for e in catalog.scan(sys.argv[1], scope="project_tools", kit_id=None).values()))
"""


@pytest.mark.parametrize("changed", ["tools/fields.py", "types/http_request/execution.py"])
def test_other_code_of_the_same_version_judges_again(
    tools: Path, home: Path, tmp_path: Path, changed: str
) -> None:
    install = copy_package(tmp_path / "copy")
    assert install.printed(SCANNING, str(tools)) == "one"
    poison(home)
    assert install.printed(SCANNING, str(tools)) == "poisoned"
    with open(install.directory / "vespe" / changed, "a", encoding="utf-8") as code:
        code.write("# newer\n")
    assert install.printed(SCANNING, str(tools)) == "one"


def test_the_digest_of_the_code_covers_the_schema_and_the_types() -> None:
    package = Path(validation_cache.__file__).parents[1]
    said = {f"{name}/" for name in validation_cache._JUDGES}
    assert {"data/", "types/", "tools/", "schemas/", "/"} <= said
    folders = [path.parent for path in (package / "types").glob("*/__init__.py")]
    assert {f"types/{path.name}/" for path in folders} <= said
    assert all((package / name).is_dir() for name in validation_cache._JUDGES)


def test_the_same_bytes_in_another_kit_or_directory_are_judged_again(
    tools: Path, home: Path
) -> None:
    ask(tools)
    poison(home)
    assert ask(tools, kit_id="other").name == "one"
    os.rename(tools, tools.with_name("moved"))
    assert ask(tools.with_name("moved")).name == "one"


@pytest.mark.parametrize("damage", [b"", b"{}", b"\xff\xfe", b"0" * 64 + b"\n[]"])
def test_a_damaged_cache_is_no_cache(tools: Path, home: Path, damage: bytes) -> None:
    ask(tools)
    kept(home).write_bytes(damage)
    assert ask(tools).name == "one"
    assert kept(home).read_bytes() != damage


def test_one_flipped_bit_is_noticed(tools: Path, home: Path) -> None:
    ask(tools)
    kept(home).write_bytes(kept(home).read_bytes().replace(b'"one"', b'"two"'))
    assert ask(tools).name == "one"


def test_a_fifo_in_the_place_of_the_cache_is_no_cache(tools: Path, home: Path) -> None:
    ask(tools)
    path = kept(home)
    path.unlink()
    os.mkfifo(path)
    assert ask(tools).name == "one"


def test_a_cache_that_cannot_be_written_is_no_error(
    tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null/nowhere")
    assert ask(tools).name == "one"


def test_nothing_is_written_where_nothing_changed(tools: Path, home: Path) -> None:
    ask(tools)
    before = os.stat(kept(home))
    ask(tools)
    assert os.stat(kept(home)).st_ino == before.st_ino


def test_what_is_no_longer_asked_for_is_dropped(tools: Path, home: Path) -> None:
    ask(tools)
    Verdicts(str(tools), kit_id=None).save()
    assert json.loads(kept(home).read_bytes().partition(b"\n")[2])[-1] == {}


def test_the_cache_is_the_users_alone(tools: Path, home: Path) -> None:
    ask(tools)
    assert (kept(home).stat().st_mode & 0o777, kept(home).parent.stat().st_mode & 0o777) == (
        0o600,
        0o700,
    )


def test_a_name_that_is_no_utf8_is_kept_too(tools: Path) -> None:
    strange = os.fsdecode(b"tool-\xff")
    verdicts = Verdicts(str(tools), kit_id=None)
    first = verdicts.of(strange, config(tools))
    verdicts.save()
    assert Verdicts(str(tools), kit_id=None).of(strange, config(tools)) == first and first.problem
