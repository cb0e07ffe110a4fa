"""Where Vespe keeps a value, and in which order it is moved: it is always somewhere."""

import json
import os
from pathlib import Path

import pytest

from tests.support.keyrings import use_a_keyring
from vespe.errors import SecretUnavailable, StorageError, UsageError
from vespe.features.secrets import sources, stores
from vespe.features.secrets.sources import SecretRequest
from vespe.models import JsonValue
from vespe.projects import user_config

VALUES = ("hunter2-and-more", "ends in a line\n", "two\nlines", "windows\r", " spaces ")


def fetched(name: str, said: JsonValue) -> str:
    assert isinstance(said, dict)
    return sources.fetch(SecretRequest(name=name, reference=said, environment=os.environ))


@pytest.fixture
def entries(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return use_a_keyring(home, monkeypatch)


@pytest.mark.parametrize("value", VALUES)
def test_a_value_comes_back_as_it_was_put_there(entries: Path, value: str) -> None:
    for store in ("file", "keyring"):
        assert fetched("T", stores.put("T", value, store, environment=os.environ)) == value


def test_a_value_is_in_one_place_at_a_time_and_only_its_user_can_open_it(entries: Path) -> None:
    made = stores.keep("T", "hunter2", "config", environment=os.environ)
    assert made == "hunter2"
    made = stores.keep("T", "hunter2", "file", environment=os.environ)
    path = Path(os.environ["XDG_CONFIG_HOME"], "vespe/secrets/T")
    assert made == {"ref": "file:~/config/vespe/secrets/T"} and stores.is_kept("T", made)
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert stores.keep("T", "hunter3", "file", environment=os.environ) == made
    assert path.read_text(encoding="utf-8") == "hunter3"
    made = stores.keep("T", "hunter3", "keyring", environment=os.environ)
    assert made == {"ref": "keyring:vespe/T"} and not path.exists()
    assert json.loads(entries.read_text(encoding="utf-8")) == {"vespe/T": "hunter3"}
    stores.keep("T", "hunter4", "config", environment=os.environ)
    assert json.loads(entries.read_text(encoding="utf-8")) == {}
    assert user_config.load_user_config().secrets == {"T": "hunter4"}


def test_keys_that_are_not_known_stay_and_so_does_the_value_that_was_just_put_there(
    entries: Path,
) -> None:
    more = {"docs_url": "https://a.example"}
    for store in ("file", "keyring", "file"):
        made = stores.keep("T", "hunter2", store, environment=os.environ)
        assert isinstance(made, dict)
        user_config.set_value("secrets.T", made | more | {"timeout_s": 3})
        for value in ("hunter3", "hunter4"):
            again = stores.keep("T", value, store, environment=os.environ)
            assert again == user_config.load_user_config().secrets["T"] == made | more
            assert fetched("T", again) == value
    assert json.loads(entries.read_text(encoding="utf-8")) == {}


def test_a_file_that_is_named_in_another_way_is_the_same_file(home: Path) -> None:
    stores.keep("T", "hunter2", "file", environment=os.environ)
    (home / "link").symlink_to(home / "config/vespe/secrets")
    for path in (home / "config/vespe/secrets/T", home / "link/T"):
        before = user_config.load_user_config().secrets["T"]
        made = stores.replace("T", before, {"ref": f"file:{path}"}, os.environ)
        assert fetched("T", made) == "hunter2"
    made = stores.keep("T", "hunter3", "file", environment=os.environ)
    assert fetched("T", made) == "hunter3"


@pytest.mark.parametrize("refused", ["     ", "\n", "a\0b", "\udcff", "x" * 65537])
def test_what_cannot_be_a_secret_leaves_the_value_as_it_was(entries: Path, refused: str) -> None:
    for store in stores.STORES:
        made = stores.keep("T", "hunter2", store, environment=os.environ)
        with pytest.raises(UsageError, match="the value of T cannot be a secret: it "):
            stores.keep("T", refused, store, environment=os.environ)
        assert user_config.load_user_config().secrets["T"] == made
        assert store == "config" or fetched("T", made) == "hunter2"


def test_two_names_that_differ_in_case_have_files_of_their_own(home: Path) -> None:
    made = [
        stores.put(name, name, "file", environment=os.environ) for name in ("KEY", "Key", "key")
    ]
    assert [fetched("x", said) for said in made] == ["KEY", "Key", "key"]
    names = os.listdir(Path(os.environ["XDG_CONFIG_HOME"], "vespe/secrets"))
    assert len({name.lower() for name in names}) == 3


def test_a_store_that_refuses_leaves_the_value_where_it_was(entries: Path, home: Path) -> None:
    stores.keep("T", "hunter2", "config", environment=os.environ)
    entries.write_text('{"fault": "locked"}', encoding="utf-8")
    with pytest.raises(SecretUnavailable, match="locked"):
        stores.keep("T", "hunter2", "keyring", environment=os.environ)
    (home / "config/vespe/secrets").write_text("in the way", encoding="utf-8")
    with pytest.raises(StorageError):
        stores.keep("T", "hunter2", "file", environment=os.environ)
    assert user_config.load_user_config().secrets == {"T": "hunter2"}


def test_a_value_that_another_process_wrote_meanwhile_is_not_replaced(home: Path) -> None:
    user_config.set_value("secrets.T", "newer")
    with pytest.raises(UsageError, match="changed in the meantime"):
        user_config.set_value("secrets.T", {"ref": "env:O"}, was=("older",))
    with pytest.raises(UsageError, match="changed in the meantime"):
        user_config.set_value("secrets.T", "x", was=(None,))
    user_config.set_value("secrets.T", {"ref": "env:O"}, was=("newer",))
    assert user_config.load_user_config().secrets == {"T": {"ref": "env:O"}}


def test_what_the_user_keeps_elsewhere_is_never_removed(home: Path) -> None:
    path = home / "mine"
    path.touch(0o600)
    said = {"ref": f"file:{path}"}
    assert not stores.is_kept("T", said) and not stores.is_kept("T", {"ref": "keyring:vespe/OTHER"})
    stores.forget("T", said, os.environ)
    assert path.exists()
    kept = stores.put("T", "x", "file", environment=os.environ)
    assert not stores.is_kept("U", kept)
    for _ in range(2):
        stores.forget("T", kept, os.environ)


def test_the_default_is_the_keyring_where_there_is_one(
    entries: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert stores.default_store(os.environ) == "keyring"
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    assert stores.default_store(os.environ) == "file"
