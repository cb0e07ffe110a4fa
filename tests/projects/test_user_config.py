"""The user's own settings: read strictly, changed without loss, private, and never widened by a
project.
"""

import json
import os
from pathlib import Path

import pytest

from vespe.errors import InvalidDocument, NotFound, Refused, StorageError, UsageError
from vespe.models import JsonObject, JsonValue
from vespe.projects import user_config
from vespe.projects.user_config import MASK, UserConfig


@pytest.fixture
def file(home: Path) -> Path:
    path = home / "config" / "vespe" / "config.json"
    path.parent.mkdir(parents=True)
    return path


def write(file: Path, document: JsonValue) -> None:
    file.write_text(json.dumps(document), encoding="utf-8")


def read(file: Path) -> JsonObject:
    document: JsonObject = json.loads(file.read_text(encoding="utf-8"))
    return document


def test_without_a_file_everything_has_its_default(home: Path) -> None:
    found = user_config.load_user_config()
    assert found == UserConfig(path=str(home / "config/vespe/config.json"))
    assert (found.allow_hosts, found.secrets, found.sandbox) == ((), {}, "auto")


def test_a_user_without_a_home_has_the_defaults() -> None:
    assert user_config.load_user_config().allow_hosts == ()


def test_what_the_file_says_is_read(file: Path) -> None:
    document = {
        "allow_hosts": ["127.0.0.1:8080"],
        "secrets": {"T": "v"},
        "providers": {"p": {}},
        "approvals": {"a": 1},
    }
    document["sandbox"] = "require"
    write(file, document)
    found = user_config.load_user_config()
    assert (found.allow_hosts, found.secrets, found.providers, found.approvals) == (
        ("127.0.0.1:8080",),
        {"T": "v"},
        {"p": {}},
        {"a": 1},
    )
    assert (found.sandbox, found.document, found.path) == ("require", document, str(file))


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ({"allow_hosts": "127.0.0.1"}, "/allow_hosts"),
        ({"allow_hosts": ["a", None]}, "/allow_hosts/1"),
        ({"secrets": []}, "/secrets"),
        ({"secrets": {"a/b": 1}}, "/secrets/a~1b"),
        ({"providers": {"openai": "x"}}, "/providers/openai"),
        ({"approvals": None}, "/approvals"),
        ({"sandbox": True}, "/sandbox"),
        ({"sandbox": "sometimes"}, "/sandbox"),
        ({"version": 3}, "/version"),
        ({"secrets": {"T": {"ref": "nowhere"}}}, "/secrets/T/ref"),
    ],
)
def test_a_value_of_the_wrong_type_is_refused_with_its_pointer(
    file: Path, document: JsonObject, pointer: str
) -> None:
    write(file, document)
    with pytest.raises(InvalidDocument) as caught:
        user_config.load_user_config()
    assert (caught.value.path, caught.value.pointer) == (str(file), pointer)


def test_a_secret_is_never_in_an_error_or_a_representation(file: Path) -> None:
    write(file, {"secrets": {"T": ["hunter2"]}})
    with pytest.raises(InvalidDocument) as caught:
        user_config.load_user_config()
    assert "hunter2" not in f"{caught.value} {caught.value.details}"
    write(file, {"secrets": {"T": "hunter2"}})
    assert "hunter2" not in repr(user_config.load_user_config())


def test_a_secret_may_be_a_reference_which_raises_the_version_of_the_file(file: Path) -> None:
    user_config.set_value("secrets.A", "a value")
    assert "version" not in read(file)
    user_config.set_value("secrets.T", {"ref": "env:OTHER", "kept": 1})
    assert read(file)["version"] == 2
    assert user_config.load_user_config().secrets["T"] == {"ref": "env:OTHER", "kept": 1}
    user_config.set_value("secrets.A", "another")
    assert read(file)["secrets"]["T"] == {"ref": "env:OTHER", "kept": 1}
    with pytest.raises(UsageError, match="/secrets/T/ref"):
        user_config.set_value("secrets.T.ref", "op://x")
    user_config.unset_secret("T")
    assert read(file) == {"secrets": {"A": "another"}, "version": 1}


def test_a_file_that_cannot_be_read_is_not_taken_for_a_missing_one(file: Path) -> None:
    file.mkdir()
    with pytest.raises((InvalidDocument, StorageError)):
        user_config.load_user_config()


def test_setting_keeps_unknown_keys_and_their_order(file: Path) -> None:
    write(file, {"x_future": [1], "sandbox": "off", "é": {}})
    user_config.set_value("sandbox", "require")
    user_config.set_value("providers.openai.base_url", "http://127.0.0.1:1/v1")
    expected = {
        "x_future": [1],
        "sandbox": "require",
        "é": {},
        "providers": {"openai": {"base_url": "http://127.0.0.1:1/v1"}},
    }
    assert list(read(file).items()) == list(expected.items())


def test_the_file_and_its_directory_are_the_users_alone(home: Path) -> None:
    user_config.set_value("secrets.T", "v")
    path = home / "config/vespe/config.json"
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_a_file_that_others_could_read_is_private_once_it_is_written(file: Path) -> None:
    write(file, {})
    file.chmod(0o644)
    user_config.set_value("secrets.T", "v")
    assert file.stat().st_mode & 0o777 == 0o600


def test_p41c_a_file_that_others_can_change_is_not_believed(file: Path) -> None:
    file.write_text('{"sandbox": "off"}', encoding="utf-8")
    file.chmod(0o666)
    with pytest.raises(Refused, match=r"config\.json can be written by everybody") as caught:
        user_config.load_user_config()
    assert caught.value.hint == f"`chmod go-w {file}`"
    file.chmod(0o644)
    assert user_config.load_user_config().sandbox == "off"


def test_p41c_a_linked_file_in_a_directory_that_others_can_write_is_not_used(
    file: Path, tmp_path: Path
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    write(shared / "vespe.json", {"sandbox": "off"})
    file.symlink_to(shared / "vespe.json")
    assert user_config.load_user_config().sandbox == "off"
    shared.chmod(0o777)
    with pytest.raises(Refused, match=rf"^{shared} can be written by everybody") as caught:
        user_config.load_user_config()
    assert caught.value.hint == f"`chmod go-w {shared}`"
    shared.chmod(0o1777)  # as /tmp
    assert user_config.load_user_config().sandbox == "off"


@pytest.mark.root
def test_p41c_the_hint_for_a_file_of_another_user_is_another_home(file: Path) -> None:
    write(file, {})
    os.chown(file, 12345, 12345)
    with pytest.raises(Refused, match="another user") as caught:
        user_config.load_user_config()
    assert str(caught.value.hint).startswith("set HOME")


def test_a_linked_file_of_a_keeper_of_dot_files_is_followed_and_stays_a_link(
    file: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "dotfiles" / "vespe.json"
    kept.parent.mkdir()
    write(kept, {"sandbox": "require"})
    file.symlink_to(kept)
    user_config.set_value("allow_hosts", ["127.0.0.1:1"])
    assert file.is_symlink() and read(kept) == {
        "sandbox": "require",
        "allow_hosts": ["127.0.0.1:1"],
    }


def test_values_are_given_by_dotted_keys(file: Path) -> None:
    write(file, {"secrets": {"T": "v"}, "allow_hosts": ["h"]})
    assert user_config.get_value("secrets.T") == "v"
    assert user_config.get_value("secrets") == {"T": "v"}
    assert user_config.get_value("allow_hosts") == ["h"]


@pytest.mark.parametrize("key", ["secrets.U", "sandbox", "providers.p.q", "allow_hosts.deeper"])
def test_what_is_not_set_is_not_found(file: Path, key: str) -> None:
    write(file, {"secrets": {"T": "v"}, "allow_hosts": ["h"]})
    with pytest.raises(NotFound, match="not set"):
        user_config.get_value(key)
    with pytest.raises(NotFound, match="not set"):
        user_config.unset_value(key)


@pytest.mark.parametrize("key", ["", "nonsense", "secrets.", ".secrets", "trust", "active_kits"])
def test_a_key_that_is_no_setting_is_a_mistake(home: Path, key: str) -> None:
    with pytest.raises(UsageError, match="no setting"):
        user_config.get_value(key)
    with pytest.raises(UsageError, match="no setting"):
        user_config.set_value(key, "x")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("sandbox", 5),
        ("allow_hosts", "h"),
        ("secrets.T", 1),
        ("secrets", "x"),
        ("sandbox.deep", "x"),
    ],
)
def test_a_value_that_a_setting_cannot_have_is_refused_and_nothing_is_written(
    file: Path, key: str, value: JsonValue
) -> None:
    write(file, {"sandbox": "require"})
    with pytest.raises(UsageError, match="cannot be set"):
        user_config.set_value(key, value)
    assert read(file) == {"sandbox": "require"}


def test_unsetting_removes_one_key_alone(file: Path) -> None:
    write(file, {"secrets": {"T": "v", "U": "w"}, "sandbox": "require"})
    user_config.unset_value("secrets.T")
    user_config.unset_value("sandbox")
    assert read(file) == {"secrets": {"U": "w"}}


def test_p26_a_file_of_a_newer_version_is_left_untouched(file: Path) -> None:
    write(file, {"version": 99})
    with pytest.raises(InvalidDocument, match="only reads versions up to 2"):
        user_config.set_value("sandbox", "require")
    assert read(file) == {"version": 99}


def test_p47_where_nothing_can_be_written_setting_is_a_sentence() -> None:
    with pytest.raises(StorageError, match="cannot make"):
        user_config.set_value("sandbox", "require")


USER = UserConfig(
    allow_hosts=("a:1", "b:2"),
    secrets={"T": "v"},
    document={"allow_hosts": ["a:1", "b:2"], "secrets": {"T": "v"}},
    path="U",
)


@pytest.mark.parametrize(
    "project",
    [
        {},
        {"allow_hosts": ["a:1", "b:2", "169.254.169.254"]},
        {"allow_hosts": "x"},
        {"sandbox": "off"},
        {"sandbox": ["on"]},
        {
            "secrets": {"T": "stolen", "U": "x"},
            "providers": {"p": {"base_url": "http://evil"}},
            "approvals": {"a": 1},
        },
    ],
)
def test_p3_a_project_never_widens_what_the_user_says(project: JsonObject) -> None:
    assert user_config.narrow(USER, project) == USER


def test_p3_a_project_may_tighten_what_the_user_says() -> None:
    tight = user_config.narrow(USER, {"allow_hosts": ["b:2", "c:3"], "sandbox": "require"})
    assert (tight.allow_hosts, tight.sandbox, tight.secrets) == (("b:2",), "require", {"T": "v"})
    assert user_config.narrow(USER, {"allow_hosts": []}).allow_hosts == ()


def test_a_listing_says_where_each_value_came_from() -> None:
    listed = user_config.origins(
        USER,
        {"active_kits": ["k"], "allow_hosts": ["a:1"], "secrets": {"T": "x"}},
        project_path="P",
    )
    assert listed == [
        ("active_kits", ["k"], "P"),
        ("allow_hosts", ["a:1"], "P"),
        ("sandbox", "auto", "default"),
        ("secrets.T", MASK, "U"),
        ("tool_resolution_order", ["project_tools", "active_kits"], "default"),
    ]


def test_outside_a_project_a_listing_has_the_users_values_alone() -> None:
    assert [key for key, _, _ in user_config.origins(USER)] == [
        "allow_hosts",
        "sandbox",
        "secrets.T",
    ]


def test_a_listing_masks_what_looks_like_a_secret_wherever_it_stands() -> None:
    document = {
        "providers": {
            "p": {
                "api_key": "k",
                "api_key_env": "NAME",
                "base_url": "http://h",
                "nested": {"Token": "t"},
            }
        }
    }
    listed = user_config.origins(UserConfig(document=document, path="U"))
    assert {key: value for key, value, _ in listed if key.startswith("providers")} == {
        "providers.p.api_key": MASK,
        "providers.p.api_key_env": "NAME",
        "providers.p.base_url": "http://h",
        "providers.p.nested.Token": MASK,
    }


def test_a_listing_shows_where_references_lead_and_no_value() -> None:
    secrets = {
        "A": {"ref": "file:~/a", "more": "v"},
        "B": {"command": ["op", "--token", "v"], "lines": "first"},
        "C.ref": "v",
        "ref": "v",
        "D": {"token": {"url": "https://x.example", "client_id": "v", "client_secret": {}}},
    }
    listed = user_config.origins(UserConfig(document={"secrets": secrets}, path="U"))
    assert {key: value for key, value, _ in listed if key.startswith("secrets.")} == {
        "secrets.A.more": MASK,
        "secrets.A.ref": "file:~/a",
        "secrets.B.command": MASK,
        "secrets.B.lines": "first",
        "secrets.C.ref": MASK,
        "secrets.D.token": MASK,
        "secrets.ref": MASK,
    }


def test_a_fifo_in_the_place_of_the_file_never_blocks(file: Path) -> None:
    os.mkfifo(file)
    with pytest.raises(InvalidDocument, match="regular file"):
        user_config.load_user_config()


def test_a_listing_has_all_that_the_project_says_and_that_holds_with_its_file() -> None:
    user = UserConfig(
        document={"approvals": {"deny": ["a"], "allow": ["b"]}},
        approvals={"deny": ["a"], "allow": ["b"]},
        path="U",
    )
    said: JsonObject = {
        "approvals": {"deny": ["c"], "ask": ["d"], "allow": ["*"]},
        "lint": {"ignore": ["x"]},
        "tool_budget": 5,
        "secrets": {"A": "b"},
    }
    rows = [row for row in user_config.origins(user, said, project_path="P") if row[2] != "default"]
    assert rows == [
        ("approvals.allow", ["b"], "U"),
        ("approvals.ask", ["d"], "P"),
        ("approvals.deny", ["c"], "P"),
        ("approvals.deny", ["a"], "U"),
        ("lint.ignore", ["x"], "P"),
        ("tool_budget", 5, "P"),
    ]


def test_a_pattern_that_could_fit_no_file_is_refused_and_one_of_the_home_or_of_the_root_is_not(
    home: Path,
) -> None:
    user_config.set_value("files.never_read", ["/secrets/", "*.env", "~/keys"])
    with pytest.raises(UsageError, match="no such user"):
        user_config.set_value("files.never_read", ["~nobody-of-that-name/project/.env"])
    assert user_config.load_user_config().files.never_read == (
        "/secrets/",
        "*.env",
        os.path.expanduser("~/keys"),
    )


WRONG: list[tuple[JsonObject, str, JsonValue]] = [
    ({"agent": {"tools_mode": "bridg", "model": "m"}}, "agent.tools_mode", "auto"),
    ({"agent": {"model": 3}}, "agent.model", "m"),
    ({"agent": []}, "agent", {"model": "m"}),
    ({"sandbox": "sometimes"}, "sandbox", "auto"),
    ({"allow_hosts": ["a", None]}, "allow_hosts", ["a"]),
    ({"allowed_signers": 3}, "allowed_signers", "/signers"),
    ({"approvals": None}, "approvals", {"ask": ["a"]}),
    ({"files": {"may_write": 1, "never_read": ["*.key"]}}, "files.may_write", ["*.env"]),
    ({"secrets": []}, "secrets", {"A": "b"}),
    ({"secrets": {"A": "b", "T": 1}}, "secrets.T", "value"),
    ({"secrets": {"T": {"ref": "nowhere"}}}, "secrets.T", {"ref": "env:OTHER"}),
    ({"providers": {"openai": "x"}}, "providers.openai", {"model": "m"}),
    ({"providers": {"lan": {"api": 3}}}, "providers.lan.api", "openai"),
]


@pytest.mark.parametrize(("document", "key", "value"), WRONG, ids=[key for _, key, _ in WRONG])
def test_a_wrong_setting_is_repaired_by_its_own_key_and_the_error_says_so(
    file: Path, document: JsonObject, key: str, value: JsonValue
) -> None:
    write(file, document)
    with pytest.raises(InvalidDocument) as caught:
        user_config.load_user_config()
    assert f"`vespe config set {key} VALUE` corrects it" in caught.value.hint
    assert f"`vespe config set {key} --unset` removes it" in caught.value.hint
    user_config.set_value(key, value)
    user_config.load_user_config()
    assert user_config.get_value(key) == value
    write(file, document)
    user_config.unset_value(key)
    user_config.load_user_config()
    with pytest.raises(NotFound):
        user_config.get_value(key)


def test_of_several_wrong_settings_each_is_repaired_alone(file: Path) -> None:
    wrong = {"agent": {"tools_mode": "x", "model": 1}, "secrets": [], "providers": 3}
    write(file, wrong | {"sandbox": "x", "allow_hosts": []})
    for key in ("sandbox", "agent.model", "providers", "secrets"):
        user_config.unset_value(key)
    assert read(file) == {"agent": {"tools_mode": "x"}, "allow_hosts": []}
    for key, value in (("allow_hosts", ["a"]), ("sandbox", "auto")):
        with pytest.raises(InvalidDocument, match="/agent/tools_mode"):
            user_config.set_value(key, value)
    with pytest.raises(UsageError, match=r"agent\.tools_mode cannot be set to that") as caught:
        user_config.set_value("agent.tools_mode", "bridg")
    assert "did you mean bridge?" in caught.value.hint
    user_config.set_value("agent.tools_mode", "bridge")
    assert read(file) == {"agent": {"tools_mode": "bridge"}, "allow_hosts": []}


def test_what_no_key_names_is_to_be_corrected_in_the_file(file: Path) -> None:
    write(file, {"secrets": {"a.b": 1, "A": "kept"}})
    with pytest.raises(InvalidDocument) as caught:
        user_config.load_user_config()
    assert caught.value.hint == "correct it in that file"
    user_config.unset_secret("a.b")
    assert read(file) == {"secrets": {"A": "kept"}}
