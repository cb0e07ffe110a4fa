"""The errors are one drawn tree of inert values: a code, a sentence, a hint and fields that JSON
can say.
"""

import inspect
import json
import pickle
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.installs import CHECKOUT, Install
from vespe import errors
from vespe.errors import VespeError

REFUSED = OSError(28, "No space left on device")

MADE: dict[type[VespeError], Callable[[], VespeError]] = {
    errors.UsageError: lambda: errors.UsageError("asks for what cannot be"),
    errors.MissingFeature: lambda: errors.MissingFeature("lint"),
    errors.MissingFeature: lambda: errors.MissingFeature("lint"),
    errors.MissingExtra: lambda: errors.MissingExtra("counting", extra="tokens", module="tiktoken"),
    errors.ProjectNotFound: lambda: errors.ProjectNotFound("/tmp/x"),
    errors.ToolNotFound: lambda: errors.ToolNotFound(
        "ad", searched=["project_tools"], close=["add", "and"]
    ),
    errors.KitNotFound: lambda: errors.KitNotFound("gti", close=["git"]),
    errors.AmbiguousTool: lambda: errors.AmbiguousTool(
        "add", scope="kit", uids=["tool-a", "tool-b"], paths=["/a", "/b"]
    ),
    errors.ToolImplementationNotFound: lambda: errors.ToolImplementationNotFound("add"),
    errors.InvalidDocument: lambda: errors.InvalidDocument(
        "is no JSON", path="config.json", line=3, column=7
    ),
    errors.InvalidTool: lambda: errors.InvalidTool(
        "tool-a", ["`name` is missing", "`schema` is not an object"]
    ),
    errors.InvalidArguments: lambda: errors.InvalidArguments(
        "wrong", violations=[{"pointer": "/a", "message": "is missing"}]
    ),
    errors.ParsingError: lambda: errors.ParsingError("not JSON"),
    errors.InvalidToolCall: lambda: errors.InvalidToolCall("has no name"),
    errors.InvalidProgram: lambda: errors.InvalidProgram(
        "the program was not run: line 1: no", problems=[{"line": 1, "message": "no"}]
    ),
    errors.ProgramFailed: lambda: errors.ProgramFailed("line 1: ValueError: no"),
    errors.UnknownResult: lambda: errors.UnknownResult("r7", "there is no such handle"),
    errors.Refused: lambda: errors.Refused("policy says no"),
    errors.NotTrusted: lambda: errors.NotTrusted("/project", changes=["a.py changed"]),
    errors.PermissionDenied: lambda: errors.PermissionDenied("the sandbox refused it"),
    errors.MissingSecret: lambda: errors.MissingSecret("TOKEN", tool="search"),
    errors.SecretUnavailable: lambda: errors.SecretUnavailable(
        "TOKEN", store="file", place="file:/key", why="it is empty", hint="put the secret there"
    ),
    errors.NeedsInput: lambda: errors.NeedsInput("there is no one to ask"),
    errors.Declined: lambda: errors.Declined("deploy"),
    errors.AddressRefused: lambda: errors.AddressRefused(
        "internal.example", address="10.0.0.1", why="a private address"
    ),
    errors.LoginRequired: lambda: errors.LoginRequired("notes", why="requires a login"),
    errors.MissingKey: lambda: errors.MissingKey("openai", variable="OPENAI_API_KEY"),
    errors.ToolExecutionError: lambda: errors.ToolExecutionError(
        "failed", details={"exit_code": 3}
    ),
    errors.InvalidOutput: lambda: errors.InvalidOutput("is no JSON"),
    errors.OutputTooLarge: lambda: errors.OutputTooLarge("wrote too much", kept=b"head"),
    errors.SessionEnded: lambda: errors.SessionEnded("was ended because of another call"),
    errors.ProviderError: lambda: errors.ProviderError(
        "answered with status 429", status=429, transient=True
    ),
    errors.Diverged: lambda: errors.Diverged("is another request", turn=2, pointer="/messages/1"),
    errors.StreamError: lambda: errors.StreamError("is larger than its caps"),
    errors.TimedOut: lambda: errors.TimedOut("sleep", seconds=0.5),
    errors.SourceUnavailable: lambda: errors.SourceUnavailable(
        "https://example.invalid/kits cannot be reached"
    ),
    errors.Interrupted: lambda: errors.Interrupted("was cancelled"),
    errors.StorageError: lambda: errors.StorageError("write", "/full/file", REFUSED),
    errors.NotDurable: lambda: errors.NotDurable("/written/file", REFUSED),
}


def tree(root: type[VespeError]) -> Iterator[type[VespeError]]:
    for child in root.__subclasses__():
        if child.__module__ == errors.__name__:
            yield child
            yield from tree(child)


CLASSES = list(tree(VespeError))


def test_the_tree_that_the_docstring_draws_is_the_tree_of_classes() -> None:
    drawn: list[tuple[str, str]] = []
    above = {0: "VespeError"}
    for line in (errors.__doc__ or "").splitlines():
        if found := re.match(r"((?:\|   |    )*)(?:\|--|`--) (\w+)", line):
            depth = len(found[1]) // 4 + 1
            above[depth] = found[2]
            drawn.append((found[2], above[depth - 1]))
    assert sorted(drawn) == sorted((c.__name__, c.__mro__[1].__name__) for c in CLASSES)


def test_every_error_class_of_the_module_is_in_the_tree_and_documented() -> None:
    defined = {
        value
        for value in vars(errors).values()
        if inspect.isclass(value) and issubclass(value, Exception)
    }
    assert defined == {VespeError, *CLASSES}
    assert [c.__name__ for c in CLASSES if not c.__doc__] == []


def test_every_error_has_a_code_of_its_own() -> None:
    codes = [vars(c).get("code") for c in (VespeError, *CLASSES)]
    assert None not in codes and len(set(codes)) == len(codes)
    assert all(re.fullmatch("[a-z]+(_[a-z]+)*", str(code)) for code in codes)


def test_what_a_model_can_mend_or_make_again_is_retryable_and_nothing_else() -> None:
    mended = {
        errors.InvalidArguments,
        errors.ParsingError,
        errors.InvalidToolCall,
        errors.UnknownResult,
        errors.InvalidProgram,
    }
    assert {c for c in CLASSES if c.retryable} == {*mended, errors.SessionEnded}


def test_every_leaf_is_made_in_these_tests() -> None:
    assert {c for c in CLASSES if not c.__subclasses__()} <= set(MADE)


@pytest.mark.parametrize("kind", MADE, ids=lambda kind: kind.__name__)
def test_an_error_is_a_sentence_with_fields_and_making_it_does_nothing(
    kind: type[VespeError], capfd: pytest.CaptureFixture[str]
) -> None:
    error = MADE[kind]()
    assert type(error) is kind and str(error) == error.message != ""
    assert json.loads(json.dumps(error.details)) == error.details
    assert "Traceback" not in str(error) and "\n" not in str(error)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("kind", "builtin"),
    [
        (errors.MissingExtra, ImportError),
        (errors.MissingFeature, AttributeError),
        (errors.NotFound, LookupError),
        (errors.InvalidDocument, ValueError),
        (errors.InvalidArguments, ValueError),
        (errors.Refused, PermissionError),
        (errors.ToolExecutionError, RuntimeError),
        (errors.TimedOut, TimeoutError),
    ],
)
def test_an_error_is_caught_as_the_builtin_that_a_caller_expects(
    kind: type[VespeError], builtin: type[Exception]
) -> None:
    assert issubclass(kind, builtin)


def test_one_error_does_not_share_its_details_with_another() -> None:
    given = {"a": 1}
    first, second = VespeError("x", details=given), VespeError("x", details=given)
    first.details["b"] = 2
    assert (second.details, given) == ({"a": 1}, {"a": 1})


@pytest.mark.parametrize(
    ("error", "sentence", "hint"),
    [
        (
            errors.ToolNotFound("ad", close=["add", "and"]),
            "no available tool is called 'ad'",
            "did you mean add or and?",
        ),
        (
            errors.ToolNotFound("x", searched=["a", "b"]),
            "no available tool is called 'x' in a, b",
            "`vespe tool list --all`",
        ),
        (
            errors.ToolNotFound("x", reason="its kit is inactive"),
            "is called 'x': its kit is inactive",
            "`vespe tool list --all`",
        ),
        (errors.KitNotFound("gti", close=["git"]), "no kit is called 'gti'", "did you mean git?"),
        (errors.KitNotFound("gti"), "no kit is called 'gti'", "`vespe kit list`"),
        (
            errors.ProjectNotFound("/tmp/x"),
            "neither /tmp/x nor a directory above it has .vespe/",
            "`vespe init`",
        ),
        (errors.NotTrusted("/p"), "/p is not trusted", "`vespe trust`"),
        (errors.MissingSecret("KEY", tool="t"), "the tool 't' needs the secret KEY", "KEY"),
        (errors.TimedOut("sleep", seconds=30.0), "sleep did not finish within 30 s", "--timeout"),
        (
            errors.StorageError("write", "/full/f", REFUSED),
            "cannot write /full/f: No space left on device",
            "",
        ),
        (errors.StorageError("read", "/f", OSError("odd")), "cannot read /f: odd", ""),
        (errors.InvalidTool("tool-a", []), "tool-a: is invalid", "`vespe tool list --all`"),
        (
            errors.InvalidTool("tool-a", ["x", "y"], path="/p/tool-a"),
            "/p/tool-a: x; y",
            "correct the problem",
        ),
        (
            errors.AmbiguousTool("n", scope="k", uids=["tool-a", "tool-b"], paths=[]),
            "k has 2 tools called 'n': tool-a, tool-b",
            "by its uid",
        ),
    ],
)
def test_a_sentence_says_what_and_where_and_the_hint_what_to_do(
    error: VespeError, sentence: str, hint: str
) -> None:
    assert sentence in str(error) and hint in error.hint


@pytest.mark.parametrize(
    ("place", "sentence"),
    [
        ({}, "is odd"),
        ({"path": "f.json"}, "f.json: is odd"),
        ({"path": "f.json", "line": 2}, "f.json:2: is odd"),
        ({"path": "f.json", "line": 2, "column": 5}, "f.json:2:5: is odd"),
        ({"path": "f.json", "column": 5}, "f.json: is odd"),
        ({"path": "f.json", "pointer": "/a/0"}, "f.json: is odd at /a/0"),
    ],
)
def test_an_invalid_document_says_its_place_as_far_as_it_is_known(
    place: dict[str, str | int], sentence: str
) -> None:
    error = errors.InvalidDocument("is odd", **place)  # type: ignore[arg-type]  # the table mixes texts and numbers
    assert str(error) == sentence
    assert (
        error.details
        == {"path": "", "line": 0, "column": 0, "pointer": "", "reason": "is odd"} | place
    )


def test_many_changes_of_a_project_are_counted_and_not_all_shown() -> None:
    error = errors.NotTrusted("/p", changes=[f"file {n}" for n in range(20)])
    assert "file 7; and 12 more" in str(error) and "file 8" not in str(error)
    assert len(error.details["changes"]) == 20


def test_violations_are_copied_and_stand_in_the_details() -> None:
    violation = {"pointer": "/a", "message": "is missing"}
    error = errors.InvalidArguments("wrong", violations=iter([violation]))
    violation["pointer"] = "/changed"
    assert error.violations == ({"pointer": "/a", "message": "is missing"},)
    assert error.details == {"violations": [{"pointer": "/a", "message": "is missing"}]}


def test_a_storage_error_keeps_the_number_and_the_path() -> None:
    error = errors.StorageError("write", "/full/f", REFUSED)
    assert (error.path, error.details) == ("/full/f", {"path": "/full/f", "errno": 28})


def test_a_missing_extra_never_says_to_install_a_name_that_anybody_could_take() -> None:
    assert (
        re.search(
            r"install \S*vespe", errors.MissingExtra("this", extra="inspect", module="jinja2").hint
        )
        is None
    )


def test_a_traceback_shows_the_hint_as_a_note_once_and_as_it_is_now() -> None:
    error = errors.ToolNotFound("ff", close=["f"])
    assert "hint: did you mean f?" in "".join(traceback.format_exception_only(error))
    error.add_note("seen twice")
    error.hint = "make it"
    assert error.__notes__ == ["seen twice", "hint: make it"]
    assert not hasattr(errors.UsageError("wrong"), "__notes__")
    again = pickle.loads(pickle.dumps(errors.UsageError("wrong", hint="mend it")))
    assert (again.hint, again.__notes__) == ("mend it", ["hint: mend it"])


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("no 'https://u:secretpw@h:1/x.git'", "no 'https://***@h:1/x.git'"),
        ("at postgres://u:p@w:x@h/db?q=a@b", "at postgres://***@h/db?q=a@b"),
        ("https://ghp_token@h/x and https://h/a@b", "https://***@h/x and https://h/a@b"),
        ("ssh://git@h/x and me@h", "ssh://git@h/x and me@h"),
    ],
)
def test_no_password_in_a_url_is_told(said: str, shown: str) -> None:
    error = VespeError(said, hint=said, details={"url": said, "n": 1})
    assert str(error) == error.hint == error.details["url"] == shown
    assert "secretpw" not in repr(error)
    error.hint = said
    assert error.hint == shown


@pytest.mark.parametrize(
    ("prefix", "command"),
    [
        ("/home/ada/.local/share/uv/tools/vespe", "uv tool install"),
        ("/home/ada/.local/share/pipx/venvs/vespe", "pipx install --force"),
        ("/home/ada/shop/.venv", "pip install"),
    ],
)
def test_an_extra_is_installed_by_what_installed_vespe(
    prefix: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", prefix)
    error = errors.MissingExtra("the inspector", extra="inspect", module="starlette")
    assert f"install it with `{command} " in error.hint and "inspect" in error.hint


_DIST = """\
Metadata-Version: 2.4
Name: vespe
Version: 0.3.0
Provides-Extra: mcp
Provides-Extra: fuzz
Provides-Extra: both
Requires-Dist: click>=8
Requires-Dist: here>=2; extra == "mcp"
Requires-Dist: lost>=3; extra == "fuzz"
Requires-Dist: here>=2; extra == "both"
Requires-Dist: gone>=1; extra == "both"
"""
_ASK = """
import sys
from vespe import errors
sys.prefix = sys.argv[2]
sys.stdout.write(errors.MissingExtra("this", extra=sys.argv[1], module="gone").hint)
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
        ("/home/ada/.local/share/uv/tools/vespe", "uv tool install '{}[fuzz,mcp]'`"),
        ("/home/ada/.local/share/pipx/venvs/vespe", "pipx install --force '{}[fuzz,mcp]'`"),
        ("/home/ada/shop/.venv", "pip install '{}[fuzz]'`"),
    ],
)
def test_an_extra_is_installed_from_where_vespe_came_and_the_others_stay(
    prefix: str, command: str, installed: Path
) -> None:
    assert asked(installed, "fuzz", prefix) == f"install it with `{command}".format(
        installed / "my clone"
    )


def test_where_the_clone_is_gone_the_hint_names_no_path(installed: Path) -> None:
    (installed / "my clone/pyproject.toml").unlink()
    prefix = "/home/ada/.local/share/uv/tools/vespe"
    assert asked(installed, "fuzz", prefix) == (
        "install it with `uv tool install '.[fuzz,mcp]'` in its clone"
    )


def test_an_editable_installation_stays_one(installed: Path) -> None:
    record = installed / "site/vespe-1.dist-info/direct_url.json"
    said = json.loads(record.read_text(encoding="utf-8")) | {"dir_info": {"editable": True}}
    record.write_text(json.dumps(said), encoding="utf-8")
    told = asked(installed, "fuzz", "/home/ada/shop/.venv")
    assert told == f"install it with `pip install -e '{installed / 'my clone'}[fuzz]'`"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"url": 1, "dir_info": {}}', '{"dir_info": []}'])
def test_a_damaged_record_is_no_failure(text: str, installed: Path) -> None:
    record = installed / "site/vespe-1.dist-info/direct_url.json"
    record.write_text(text, encoding="utf-8")
    told = asked(installed, "mcp", "/home/ada/.venv")
    assert told == "install it with `pip install '.[mcp]'` in its clone"
