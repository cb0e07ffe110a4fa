"""Kept verdicts: they save time where they are surely right, and are never missed where they are
not there.
"""

import hashlib
import marshal
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.installs import copy_package
from tests.support.ondisk import python_tool, write_tool
from vespe import defaults
from vespe.models import Entry
from vespe.tools import catalog, directory, validation_cache
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


def rows_in(home: Path) -> tuple[bytes, dict[str, Any]]:
    header, _, rows = kept(home).read_bytes().partition(b"\n")[2].partition(b"\n")
    return header, marshal.loads(rows)


def poison(home: Path, **fields: str) -> None:
    """Change what is kept of each tool, with its checksum, so that a test sees whether it was
    believed.
    """
    header, rows = rows_in(home)
    places = ("digest", "name")
    said = fields or {"name": "poisoned"}
    changed = {
        uid: (*(said.get(place, row[at]) for at, place in enumerate(places)), *row[2:])
        for uid, row in rows.items()
    }
    body = header + b"\n" + marshal.dumps(changed)
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
    kept(home).write_bytes(kept(home).read_bytes().replace(b"one", b"two"))
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
    assert rows_in(home)[1] == {}


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


def listed(tools: Path) -> list[Entry]:
    return list(catalog.scan(tools, scope="project_tools", kit_id=None).values())


def keep_stamps(tools: Path) -> None:
    """Wait until stamps are old enough to be kept, and keep them."""
    time.sleep(3.1)
    listed(tools)


def test_a_file_with_the_same_stamp_is_not_read_again(tools: Path, home: Path) -> None:
    listed(tools)
    poison(home, digest="0" * 64, name="poisoned")
    assert [entry.name for entry in listed(tools)] == ["one"], "it is too young to be believed"
    keep_stamps(tools)
    before = os.stat(kept(home)).st_ino
    poison(home, digest="0" * 64, name="poisoned")
    assert [entry.name for entry in listed(tools)] == ["poisoned"]
    judged: dict[str, directory.Judged] = {}
    found = catalog.scan(tools, scope="project_tools", kit_id=None, judged=judged)
    assert found["tool-a"].name == "one" and judged["tool-a"].config == config(tools)
    assert os.stat(kept(home)).st_ino != before


def test_stamps_alone_make_no_name_forgotten(tools: Path, home: Path) -> None:
    for number in range(300):
        write_tool(tools / f"tool-{number}", f"t{number}")
    listed(tools)
    time.sleep(0.2)
    assert len(catalog.find(tools, "t7", scope="project_tools", kit_id=None)) == 1
    (names,) = (home / "cache/vespe/names").iterdir()
    before = os.stat(kept(home)).st_ino
    keep_stamps(tools)
    assert os.stat(kept(home)).st_ino != before and names.exists()


def _in_place(path: Path, before: os.stat_result) -> None:
    path.write_bytes(path.read_bytes().replace(b"one", b"two"))


def _with_its_times(path: Path, before: os.stat_result) -> None:
    _in_place(path, before)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _replaced(path: Path, before: os.stat_result) -> None:
    aside = path.with_name("aside")
    aside.write_bytes(path.read_bytes().replace(b"one", b"two"))
    os.utime(aside, ns=(before.st_atime_ns, before.st_mtime_ns))
    aside.rename(path)


def _linked(path: Path, before: os.stat_result) -> None:
    path.rename(path.with_name("aside"))
    path.symlink_to("aside")


def _swapped(path: Path, before: os.stat_result) -> None:
    one, other, aside = path.parent, path.parent.with_name("tool-b"), path.parent.with_name(".c")
    one.rename(aside)
    other.rename(one)
    aside.rename(other)


def _directory_linked(path: Path, before: os.stat_result) -> None:
    path.parent.rename(path.parents[2] / "moved")
    path.parent.symlink_to(path.parents[2] / "moved")


def _script_gone(path: Path, before: os.stat_result) -> None:
    path.with_name("main.py").unlink()


def _script_linked(path: Path, before: os.stat_result) -> None:
    path.with_name("main.py").rename(path.with_name("other.py"))
    path.with_name("main.py").symlink_to("other.py")


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Directories of tools that are old enough for their stamps to be kept."""
    made = tmp_path_factory.mktemp("indexed")
    for number in range(len(_CHANGES)):
        for name, uid in (("one", "tool-a"), ("six", "tool-b")):
            python_tool(made / str(number) / uid, name, "return 1")
    time.sleep(3.1)
    return made


_CHANGES: list[Callable[[Path, os.stat_result], object]] = [
    _in_place,
    _with_its_times,
    _replaced,
    _linked,
    _swapped,
    _directory_linked,
    _script_gone,
    _script_linked,
    lambda path, before: path.unlink(),
    lambda path, before: shutil.rmtree(path.parent),
    lambda path, before: path.write_bytes(path.read_bytes()[:-9]),
]


@pytest.mark.parametrize("number", range(len(_CHANGES)))
def test_each_change_is_seen_by_who_keeps_stamps(indexed: Path, home: Path, number: int) -> None:
    tools, change = indexed / str(number), _CHANGES[number]
    before = listed(tools)
    assert all(row[6] is not None for row in rows_in(home)[1].values())
    path = tools / "tool-a/config.json"
    change(path, path.stat())
    after = listed(tools)
    shutil.rmtree(home / "cache")
    assert after == listed(tools) != before
