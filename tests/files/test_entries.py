import pytest

from vespe.files.entries import DIRECTORY, EXECUTABLE, FILE, TreeEntry


@pytest.mark.parametrize(
    ("mode", "executable"), [(FILE, False), (EXECUTABLE, True), (DIRECTORY, False)]
)
def test_an_entry_says_whether_its_owner_may_execute_it(mode: int, executable: bool) -> None:
    assert TreeEntry("run.sh", mode, 1).executable is executable
