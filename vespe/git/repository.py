"""git, started in one hardened way: every setting, variable and check that keeps a repository from
running its own programs.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from vespe import defaults
from vespe.errors import ToolExecutionError

_SETTINGS: Final = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.alternateRefsCommand=",
    "core.quotePath=false",
    "protocol.allow=never",
    # a model that writes HEAD, config, objects and refs makes a repository of its directory
    "safe.bareRepository=explicit",
    "submodule.recurse=false",
    "log.showSignature=false",
    "i18n.commitEncoding=utf-8",
    "credential.interactive=false",
    "gc.auto=0",
    "maintenance.auto=false",
)
_FETCH_SETTINGS: Final = (
    "core.attributesFile=/dev/null",
    "core.bigFileThreshold=1m",
    "core.fsync=none",
    "transfer.fsckObjects=true",
    "fetch.fsckObjects=true",
    "fetch.unpackLimit=1",
    "fetch.recurseSubmodules=false",
    "fetch.writeCommitGraph=false",
    "http.followRedirects=initial",
    "uploadpack.packObjectsHook=",
    "gpg.format=ssh",
    "gpg.ssh.program=ssh-keygen",
    "gpg.ssh.revocationFile=",
    "protocol.version=2",
)


def _words(settings: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for setting in settings for word in ("-c", setting))


GIT: Final = ("git", *_words(_SETTINGS), "--no-pager", "--no-optional-locks")
"""What every git command begins with. The shell commands of the kit git_and_programs (`git_log`,
`git_list_files`) spell it out.
"""
FETCHING: Final = (*GIT, *_words(_FETCH_SETTINGS))
"""What a command begins with in a bare repository of ours, into which a stranger's objects are
fetched.
"""
DIFF: Final = (
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-renames",
    "--no-relative",
    "--submodule=short",
    "--ignore-submodules=all",
)
"""What every diff says: a submodule's own configuration is reached by no flag but these two."""
_SSH_OPTIONS: Final = (
    "-o BatchMode=yes -o ForwardAgent=no -o ForwardX11=no -o PermitLocalCommand=no"
)
_OTHER_SSH: Final = frozenset(("plink", "putty", "tortoiseplink"))
"""Programs that know no `-o`."""
_PASSED: Final = (
    "PATH",
    "HOME",
    "USER",
    "TMPDIR",
    "LANG",
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
    "SSH_AUTH_SOCK",
    "DBUS_SESSION_BUS_ADDRESS",
    "GIT_CONFIG_GLOBAL",
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "http_proxy",
    "https_proxy",
    "HTTPS_PROXY",
    "no_proxy",
    "NO_PROXY",
    "all_proxy",
    "ALL_PROXY",
)
"""What of the user's environment git sees: where the user's own configuration, keys, proxies and
certificates are.
"""
_FIXED: Final = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",
    "SSH_ASKPASS": "",
    "SSH_ASKPASS_REQUIRE": "never",
    "GCM_INTERACTIVE": "never",
    "GIT_SSH_COMMAND": f"ssh {_SSH_OPTIONS}",
    "GIT_SSH_VARIANT": "ssh",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "LC_ALL": "C",
}
_TIMEOUT_S: Final = 60.0
_MAX_OUTPUT: Final = 64 * defaults.MAX_FILE_BYTES
_PROGRAMS: Final = (
    r"^(filter\..*\.(clean|smudge|process)|lfs\.(extension|customtransfer)\..*|hook\..*\.command)$"
)
"""Programs that no flag of git's keeps it from running while it compares or stages files; git-lfs,
where a user has it, runs its own.
"""
USERS: Final = frozenset({"system", "global", "command"})
"""Where the user's own programs stand, which are the user's to run; a repository's come with it, or
from whoever wrote in it.
"""

Run = Callable[..., Any]
"""`subprocess.run`, or what behaves like it: a tool, which is a bounded process itself, gives
that.
"""


class GitAnswer(NamedTuple):
    """What a git command came to: its exit status, what it printed, and what it complained of."""

    status: int
    output: bytes
    said: str

    @property
    def text(self) -> str:
        """The output as UTF-8; what is not stands as U+FFFD."""
        return self.output.decode("utf-8", "replace")


def environment(protocols: str = "none") -> dict[str, str]:
    """Return the environment that git runs in: nobody is asked, nothing is fetched but by
    `protocols` (`https:ssh`).
    """
    passed = {name: os.environ[name] for name in _PASSED if name in os.environ}
    return passed | _FIXED | {"GIT_ALLOW_PROTOCOL": protocols}


def environment_for_ssh(protocols: str, *, run: "Run") -> dict[str, str]:
    """Return that environment with the program that the user's own configuration has for ssh
    (`core.sshCommand`), which is asked for nothing either.

    A repository's configuration and the variable GIT_SSH_COMMAND do not count.
    """
    env = environment(protocols)
    asked = ["git", "config", "--global", "--includes", "--get", "core.sshCommand"]
    done = run(asked, cwd="/", env=env, input=b"")
    command = os.fsdecode(done.stdout).strip()
    if done.returncode or not command:
        return env
    program = os.path.basename(command.split()[0]).removesuffix(".exe").lower()
    if program in _OTHER_SSH:
        del env["GIT_SSH_VARIANT"]
        return env | {"GIT_SSH_COMMAND": command}
    return env | {"GIT_SSH_COMMAND": f"{command} {_SSH_OPTIONS}"}


def run_bounded(
    argv: list[str], *, cwd: str, env: Mapping[str, str], input: bytes, **_: Any
) -> Any:
    """Run as `subprocess.run` does, bounded in time and output, and with all that it started ended
    afterwards.
    """
    from vespe.processes import process

    command = process.Command(
        argv=argv,
        cwd=cwd,
        env=env,
        stdin=input,
        timeout_s=_TIMEOUT_S,
        cap_bytes=_MAX_OUTPUT,
        name="git",
    )
    return process.run(command)


class WorkTree(NamedTuple):
    """A repository that Vespe did not make, asked from `root`, a directory in its work tree.

    `prefix` is the root's place beneath `top` ("" or "sub/"), `git_dir` the git directory;
    `settings` go before every command.
    """

    root: str
    run: Run = run_bounded
    top: str = ""
    prefix: str = ""
    git_dir: str = ""
    settings: tuple[str, ...] = ()

    def ask(
        self, *arguments: str, stdin: bytes = b"", extra: Mapping[str, str] | None = None
    ) -> GitAnswer:
        """Run one git command, with the variables `extra`; raises ToolExecutionError without
        git.
        """
        env = environment() | dict(extra or {})
        argv = [*GIT, *_words(self.settings), *arguments]
        try:
            done = self.run(
                argv, cwd=self.root, env=env, input=stdin, capture_output=True, check=False
            )
        except FileNotFoundError:
            raise ToolExecutionError("git is not installed, or not on PATH") from None
        status = 1 if done.returncode is None else done.returncode
        return GitAnswer(status, done.stdout, done.stderr.decode("utf-8", "replace").strip())

    def tell(
        self, *arguments: str, stdin: bytes = b"", extra: Mapping[str, str] | None = None
    ) -> GitAnswer:
        """Run one git command that must succeed; raises ToolExecutionError with git's own words
        where it does not.
        """
        answer = self.ask(*arguments, stdin=stdin, extra=extra)
        if answer.status:
            raise ToolExecutionError(
                f"git {arguments[0]} failed: {answer.said or f'exit status {answer.status}'}"
            )
        return answer

    def at_top(self) -> "WorkTree":
        """Return the same repository, asked from the top of its work tree."""
        return self._replace(root=self.top)

    def refuse_programs(self) -> None:
        """Raise ToolExecutionError where the repository's own configuration names a program that
        git would run over its files.
        """
        if named := next(self._programs(), None):
            raise ToolExecutionError(
                f"the repository's own configuration names a program, {named}, that git would run "
                "on changed files",
                hint="if you trust it, set it in your own configuration: `git config --global "
                f"{named} …`, and `--unset` it in the repository",
            )

    def without_programs(self) -> "WorkTree":
        """Return the same repository with those programs left out: a file that one would change
        counts as changed.
        """
        settings: list[str] = []
        for key in dict.fromkeys(self._programs(also_users=True)):
            if "=" in key or "\n" in key:  # `-c` cannot name it
                self.refuse_programs()
            group, _, name = key.partition(".")
            if group == "filter":
                settings += [f"{key}=", f"filter.{name.rpartition('.')[0]}.required=false"]
            elif group == "hook":
                settings.append(f"hook.{name.rpartition('.')[0]}.enabled=false")
        return self._replace(settings=(*self.settings, *settings))

    def _programs(self, *, also_users: bool = False) -> Iterator[str]:
        answer = self.ask("config", "--show-scope", "--name-only", "-z", "--get-regexp", _PROGRAMS)
        if answer.status > 1:
            raise ToolExecutionError(f"git config failed: {answer.said}")
        words = answer.text.split("\0")
        return (
            key
            for scope, key in zip(words[::2], words[1::2], strict=False)
            if also_users or scope not in USERS
        )


NO_REPOSITORY: Final = "make one with `git init`, or use the kit file_io_without_git"
"""What to do where a tool of a kit needs a repository."""


def work_tree(root: str, *, run: Run = run_bounded, hint: str = NO_REPOSITORY) -> WorkTree:
    """Find the repository in whose work tree `root` is; `hint` says what to do outside one.

    Raises ToolExecutionError outside one, without git, and where the repository's configuration
    says that its files are elsewhere.
    """
    here = WorkTree(root, run)
    answer = here.ask("rev-parse", "--show-toplevel", "--show-prefix", "--absolute-git-dir")
    lines = os.fsdecode(answer.output).split("\n")
    if answer.status or len(lines) != 4:
        said = re.sub(r"^fatal: ", "", answer.said.partition("\n")[0])
        raise ToolExecutionError(
            f"{root} is not in the working tree of a git repository: {said}",
            hint=hint,
        )
    real = os.path.realpath(root)
    if not f"{real}/".startswith(os.path.join(lines[0], "")):
        raise ToolExecutionError(
            "the repository's configuration (core.worktree) says that its files are in "
            f"{lines[0]}, not in {real}"
        )
    return here._replace(top=lines[0], prefix=lines[1], git_dir=lines[2])
