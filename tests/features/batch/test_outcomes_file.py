"""The output of a batch, after any end of it."""

import subprocess
import sys
from pathlib import Path

import pytest

from vespe.errors import InvalidDocument, Refused, StorageError
from vespe.features.batch.items import Item, ItemOutcome
from vespe.features.batch.outcomes_file import BEGUN, OutcomesFile, without_repeats
from vespe.models import Failure, Outcome


def outcome(id: int | str) -> ItemOutcome:
    return ItemOutcome(id, Outcome(tool="t", uid="u", result="é\n"))


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "out.jsonl")


def test_each_outcome_is_one_line(path: str) -> None:
    with OutcomesFile(path) as file:
        file.write(outcome(1))
        file.write(outcome("two"))
    assert Path(path).read_bytes().count(b"\n") == 2


def test_a_file_that_is_there_is_not_written_over(path: str) -> None:
    Path(path).write_text("mine", encoding="utf-8")
    with pytest.raises(Refused, match="already exists"):
        OutcomesFile(path)
    assert Path(path).read_text(encoding="utf-8") == "mine"


def test_what_was_begun_is_never_noted_in_a_file_that_a_link_leads_to(
    path: str, tmp_path: Path
) -> None:
    (tmp_path / "theirs").write_text("mine\n", encoding="utf-8")
    Path(path + BEGUN).symlink_to("theirs")
    with pytest.raises(StorageError):
        OutcomesFile(path, journal=True)
    assert (tmp_path / "theirs").read_text(encoding="utf-8") == "mine\n"
    Path(path + BEGUN).unlink()
    with OutcomesFile(path, resume=True, journal=True) as file:
        file.begin(Item(1, {}))
    assert Path(path + BEGUN).read_text(encoding="utf-8") == "1\n"


def test_resuming_knows_what_is_done_and_tells_1_from_the_string_1(path: str) -> None:
    with OutcomesFile(path) as file:
        file.write(outcome(1))
    with OutcomesFile(path, resume=True) as file:
        assert (file.is_done(1), file.is_done("1"), file.is_done(2)) == (True, False, False)


def test_failures_of_an_earlier_run_are_counted(path: str) -> None:
    with OutcomesFile(path) as file:
        file.write(outcome(1))
        file.write(
            ItemOutcome(
                2, Outcome(tool="t", uid="u", error=Failure(code="tool_error", message="no"))
            )
        )
    with OutcomesFile(path, resume=True) as file:
        assert file.failed == 1


def test_a_line_that_was_cut_off_is_taken_away(path: str) -> None:
    with OutcomesFile(path) as file:
        file.write(outcome(1))
    whole = Path(path).read_bytes()
    Path(path).write_bytes(whole + b'{"id":2,"ok"')
    with OutcomesFile(path, resume=True) as file:
        assert not file.is_done(2)
        file.write(outcome(2))
    assert Path(path).read_bytes() == whole + whole.replace(b'"id":1', b'"id":2')


@pytest.mark.parametrize("text", ["not json\n", "[]\n", "{}\n", "3\n"])
def test_a_file_of_somebody_else_is_refused_and_not_touched(path: str, text: str) -> None:
    Path(path).write_text(text, encoding="utf-8")
    with pytest.raises(InvalidDocument, match="output"):
        OutcomesFile(path, resume=True)
    assert Path(path).read_text(encoding="utf-8") == text


def test_what_was_begun_is_known_to_the_next_run_until_all_is_done(path: str) -> None:
    with OutcomesFile(path, journal=True) as file:
        file.begin(Item("a", {}))
    with OutcomesFile(path, resume=True, journal=True) as file:
        assert file.was_begun("a") and not file.was_begun("b")
        file.finish()
    assert not Path(path + BEGUN).exists()


def test_two_batches_do_not_write_to_one_file(path: str) -> None:
    with OutcomesFile(path), pytest.raises(Refused, match="another batch"):
        OutcomesFile(path, resume=True)


def test_a_full_disk_is_a_sentence(path: str) -> None:
    code = (
        "import resource, sys\nfrom vespe.features.batch.outcomes_file import OutcomesFile\nfrom "
        "vespe.features.batch.items import ItemOutcome\n"
        "from vespe.models import Failure, Outcome\nfile = OutcomesFile(sys.argv[1])\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))\n"
        "try: file.write(ItemOutcome(1, Outcome(tool='t', uid='u', result='x' * 100)))\n"
        "except Exception as error: print(type(error).__name__)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, path],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout.strip() == StorageError.__name__


def test_repeated_ids_are_told_from_the_first() -> None:
    items = [Item("a", {}), Item("b", {}), Item("a", {})]
    assert [repeated for _, repeated in without_repeats(iter(items))] == [False, False, True]
