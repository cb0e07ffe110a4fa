"""git as a runner: over real TLS on loopback, where servers ask for passwords, redirect, hang and
hang up.
"""

import base64
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import githttp, gitrepo
from tests.support.githttp import GitServer
from tests.support.loopback import Exchange
from tests.support.ondisk import PATIENCE_S
from vespe.errors import NotFound, OutputTooLarge, Refused, SourceUnavailable, TimedOut, VespeError
from vespe.git import objects, refs
from vespe.git import session as git_session
from vespe.git.session import Session


@pytest.fixture
def served(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[GitServer]:
    githttp.trusted_by_git(monkeypatch)
    gitrepo.published(tmp_path / "served" / "kit")
    with GitServer(tmp_path / "served") as server:
        yield server


def session(tmp_path: Path, kind: str = "https", seconds: float = 60) -> Session:
    (tmp_path / "bare").mkdir(exist_ok=True)
    return Session(
        directory=str(tmp_path / "bare" / "repository.git"),
        what="the kit",
        kind=kind,
        deadline=time.monotonic() + seconds,
    )


def failure(tmp_path: Path, url: str, seconds: float = 60) -> VespeError:
    with pytest.raises(VespeError) as raised:
        refs.resolve(session(tmp_path, seconds=seconds), url, None)
    return raised.value


def test_a_kit_is_fetched_over_https(served: GitServer, tmp_path: Path) -> None:
    here = session(tmp_path)
    ref = refs.resolve(here, served.url("kit/.git"), "v1")
    assert objects.fetch(here, served.url("kit/.git"), ref.object) == ref.commit
    paths = [entry.path for entry in objects.list_tree(here, ref.commit)]
    assert "weather/kit_config.json" in paths
    assert not (tmp_path / "bare/repository.git/hooks").exists()


def test_p8_a_server_that_asks_for_a_password_gets_none_and_nobody_is_asked(
    served: GitServer, tmp_path: Path
) -> None:
    served.misbehave = lambda exchange: exchange.reply(
        b"", 'WWW-Authenticate: Basic realm="kits"', status=401
    )
    error = failure(tmp_path, served.url("kit/.git"))
    assert isinstance(error, SourceUnavailable) and "credential helper" in error.hint


def test_the_user_s_own_credential_helper_is_asked(
    served: GitServer, tmp_path: Path, home: Path
) -> None:
    helper = '[credential]\n\thelper = "!f() { echo username=me; echo password=secret; }; f"\n'
    (home / ".gitconfig").write_text(helper, encoding="utf-8")
    wanted = "Basic " + base64.b64encode(b"me:secret").decode()

    def private(exchange: Exchange) -> bool:
        if exchange.headers.get("authorization") != wanted:
            return exchange.reply(b"", 'WWW-Authenticate: Basic realm="kits"', status=401)
        return served.backend(exchange)

    served.misbehave = private
    assert refs.resolve(session(tmp_path), served.url("kit/.git"), "v1").name == "refs/tags/v1"


def test_a_first_redirect_to_https_is_followed_as_git_does(
    served: GitServer, tmp_path: Path
) -> None:
    def moved(exchange: Exchange) -> bool:
        if exchange.target.startswith("/old/"):
            return exchange.reply(
                b"",
                f"Location: {served.url('kit/.git')}{exchange.target.removeprefix('/old/.git')}",
                status=301,
            )
        return served.backend(exchange)

    served.misbehave = moved
    assert refs.resolve(session(tmp_path), served.url("old/.git"), "v1").name == "refs/tags/v1"


@pytest.mark.parametrize(
    "target",
    ["http://localhost:{port}/kit/.git", "file:///etc", "ftp://localhost/kit", "ext::sh -c id"],
)
def test_p8_a_redirect_to_another_protocol_is_not_followed(
    target: str, served: GitServer, tmp_path: Path
) -> None:
    place = target.format(port=served.server.port) + "/info/refs?service=git-upload-pack"
    served.misbehave = lambda exchange: exchange.reply(b"", f"Location: {place}", status=302)
    assert isinstance(failure(tmp_path, served.url("kit/.git")), (SourceUnavailable, Refused))


def test_p10_a_server_that_hangs_is_left_at_the_deadline_with_all_that_was_started(
    served: GitServer, tmp_path: Path
) -> None:
    served.misbehave = lambda exchange: not served.server.stopping.wait()
    error = failure(tmp_path, served.url("kit/.git"), seconds=1)
    assert isinstance(error, TimedOut) and "nothing was changed" in error.hint


def test_p10_a_server_that_hangs_in_the_middle_of_a_pack_is_left_too(
    served: GitServer, tmp_path: Path
) -> None:
    here = session(tmp_path, seconds=3)
    ref = refs.resolve(here, served.url("kit/.git"), "v1")

    def half(exchange: Exchange) -> bool:
        if exchange.method == "GET":
            return served.backend(exchange)
        exchange.send(
            b"HTTP/1.1 200 OK\r\nContent-Type: "
            b"application/x-git-upload-pack-result\r\nContent-Length: 100000\r\n\r\n000dpackfile\n"
        )
        return not served.server.stopping.wait()

    served.misbehave = half
    with pytest.raises(TimedOut):
        objects.fetch(here, served.url("kit/.git"), ref.object)


@pytest.mark.parametrize(
    "body",
    [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n001e# service", b"SSH-2.0-OpenSSH\r\n"],
)
def test_a_connection_that_is_cut_or_speaks_something_else_is_a_sentence(
    body: bytes, served: GitServer, tmp_path: Path
) -> None:
    def cut(exchange: Exchange) -> bool:
        exchange.send(body)
        return False

    served.misbehave = cut
    error = failure(tmp_path, served.url("kit/.git"))
    assert isinstance(error, SourceUnavailable) and "the kit: " in str(error)


def test_a_repository_that_is_not_there_is_a_sentence(served: GitServer, tmp_path: Path) -> None:
    assert isinstance(failure(tmp_path, served.url("nothing/.git")), (SourceUnavailable, NotFound))


def test_a_certificate_that_nobody_trusts_is_a_sentence(
    served: GitServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GIT_SSL_CAINFO")
    assert "certificate" in str(failure(tmp_path, served.url("kit/.git")))


@pytest.mark.parametrize(
    "url",
    ["ext::sh -c 'touch {canary}'", "http://localhost:1/kit", "git://localhost/kit", "file:///etc"],
)
def test_p8_git_itself_is_told_to_refuse_every_other_protocol(
    url: str, tmp_path: Path, home: Path
) -> None:
    error = failure(tmp_path, url.format(canary=tmp_path / "canary"))
    assert isinstance(error, Refused) and not (tmp_path / "canary").exists()


def test_p8_the_user_s_configuration_cannot_open_another_protocol(
    tmp_path: Path, home: Path
) -> None:
    config = (
        f'[protocol "ext"]\n\tallow = always\n[url "ext::touch {tmp_path}/canary "]\n'
        "\tinsteadOf = https://\n"
    )
    (home / ".gitconfig").write_text(config, encoding="utf-8")
    assert isinstance(failure(tmp_path, "https://localhost:1/kit"), Refused)
    assert not (tmp_path / "canary").exists()


def test_p8_what_git_reads_of_the_environment_is_listed(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (
        "GIT_DIR",
        "GIT_SSH_COMMAND",
        "GIT_EXEC_PATH",
        "GIT_CONFIG_COUNT",
        "GIT_ASKPASS",
        "GIT_PROXY_COMMAND",
        "LD_PRELOAD",
        "A_SECRET",
    ):
        monkeypatch.setenv(name, "/evil")
    seen = git_session.environment(Session(directory="/nowhere", what="the kit", kind="https"))
    assert (
        "/evil" not in seen.values()
        and seen["GIT_ALLOW_PROTOCOL"] == "https:ssh"
        and seen["GIT_TERMINAL_PROMPT"] == "0"
    )
    assert "BatchMode=yes" in seen["GIT_SSH_COMMAND"]


def test_the_user_s_own_ssh_program_is_asked_and_what_it_says_is_told(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, seen = tmp_path / "work ssh", tmp_path / "seen"
    program.write_text(
        f'#!/bin/sh\necho "$@" > {seen}\n'
        'echo "Warning: Permanently added it." >&2\necho "Host key verification failed." >&2\n'
        "exit 255\n",
        encoding="utf-8",
    )
    program.chmod(0o755)
    gitrepo.git(tmp_path, "config", "--global", "core.sshCommand", f"'{program}' -i key")
    monkeypatch.setenv("GIT_SSH_COMMAND", "/evil")
    with pytest.raises(SourceUnavailable) as raised:
        refs.resolve(session(tmp_path, "ssh"), "ssh://git@kits.invalid/team/kit", None)
    error = raised.value
    assert "the kit: Host key verification failed.; fatal: Could not read" in str(error)
    assert "Warning" not in str(error) and "ssh key and its host" in error.hint
    said = seen.read_text(encoding="utf-8")
    assert said.startswith("-i key -o BatchMode=yes") and "git@kits.invalid" in said


def test_an_ssh_program_that_knows_no_options_is_given_none(home: Path, tmp_path: Path) -> None:
    gitrepo.git(tmp_path, "config", "--global", "core.sshCommand", "C:/tools/plink.exe -batch")
    env = git_session.environment(session(tmp_path, "ssh"))
    assert env["GIT_SSH_COMMAND"] == "C:/tools/plink.exe -batch" and "GIT_SSH_VARIANT" not in env


def test_p8_a_local_repository_s_own_hooks_and_programs_do_not_run(
    tmp_path: Path, home: Path
) -> None:
    source = gitrepo.published(tmp_path / "source")
    canary = tmp_path / "canary"
    for name in ("post-checkout", "post-upload-pack", "reference-transaction", "pre-receive"):
        (source / ".git/hooks").mkdir(exist_ok=True)
        (source / ".git/hooks" / name).write_text(f"#!/bin/sh\ntouch {canary}\n", encoding="utf-8")
        (source / ".git/hooks" / name).chmod(0o755)
    for key in (
        "uploadpack.packObjectsHook",
        "core.fsmonitor",
        "core.sshCommand",
        "core.alternateRefsCommand",
    ):
        gitrepo.git(source, "config", key, f"touch {canary};")
    here = session(tmp_path, "path")
    ref = refs.resolve(here, str(source), "v1")
    objects.fetch(here, str(source), ref.object)
    assert not canary.exists()


def test_what_a_command_prints_is_bounded(tmp_path: Path, home: Path) -> None:
    with pytest.raises(OutputTooLarge):
        git_session.run(session(tmp_path), "help", "-a", cap_bytes=10)


def test_p10_a_pack_that_outgrows_the_disk_s_share_is_left(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = gitrepo.repository(tmp_path / "source")
    (source / "noise").write_bytes(os.urandom(12 << 20))
    gitrepo.commit(source)
    monkeypatch.setattr(git_session, "MAX_FETCHED_BYTES", 1 << 20)
    here = session(tmp_path, "path")
    with pytest.raises(Refused, match="sends more than 1 MiB"):
        objects.fetch(here, str(source), refs.resolve(here, str(source), None).object)


def test_without_git_on_path_a_sentence_says_so(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SourceUnavailable, match="git is not installed"):
        git_session.run(session(tmp_path), "version", cap_bytes=100)


def test_somebody_hears_of_what_takes_long(
    served: GitServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = threading.Event()
    monkeypatch.setattr(git_session, "_SAY_S", 0.0)
    here = session(tmp_path)
    told = Session(
        directory=here.directory, what="the kit", kind="https", progress=lambda _: heard.set()
    )

    def slow(exchange: Exchange) -> bool:
        heard.wait(PATIENCE_S)
        return served.backend(exchange)

    served.misbehave = slow
    refs.resolve(told, served.url("kit/.git"), "v1")
    assert heard.is_set()
