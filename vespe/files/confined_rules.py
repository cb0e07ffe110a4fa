"""What the file tools may not write, since another program executes it unasked, and what the user
keeps them from reading.
"""

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final, NamedTuple

from vespe import defaults
from vespe.lazy import pattern

NEVER: Final = frozenset({".git", defaults.PROJECT_DIR})
"""Names that no write may pass through, whatever is configured: hooks, tools and approvals stand
there.
"""
EXECUTED: Final = frozenset(
    (
        # Shells and terminals.
        ".bashrc",
        ".bash_profile",
        ".bash_login",
        ".bash_logout",
        ".bash_aliases",
        ".profile",
        ".zshrc",
        ".zshenv",
        ".zprofile",
        ".zlogin",
        ".zlogout",
        ".cshrc",
        ".tcshrc",
        ".kshrc",
        ".mkshrc",
        ".login",
        ".logout",
        ".inputrc",
        ".xinitrc",
        ".xprofile",
        ".xsession",
        ".xsessionrc",
        ".screenrc",
        ".tmux.conf",
        ".config",
        ".local",
        ".ssh",
        ".gnupg",
        ".bashrc.d",
        ".pam_environment",
        ".forward",
        "launchagents",
        # What runs on entering a directory.
        ".envrc",
        ".direnvrc",
        ".mise",
        ".mise.toml",
        ".mise.local.toml",
        "mise.toml",
        "mise.local.toml",
        ".autoenv",
        ".autoenv.zsh",
        ".rvmrc",
        # Other repositories, whose configuration names programs: `hg status` of a prompt runs what
        # `.hg/hgrc` says.
        ".hg",
        ".jj",
        # git, and what it runs on a commit.
        ".gitconfig",
        ".gitmodules",
        ".githooks",
        ".husky",
        ".lefthook",
        ".lefthook.yml",
        "lefthook.yml",
        ".pre-commit-config.yaml",
        "commondir",
        # Editors and debuggers.
        ".vscode",
        ".idea",
        ".devcontainer",
        ".devcontainer.json",
        ".fleet",
        ".zed",
        ".vim",
        ".vimrc",
        ".gvimrc",
        ".nvimrc",
        ".nvim.lua",
        ".exrc",
        ".emacs",
        ".emacs.d",
        ".dir-locals.el",
        ".gdbinit",
        ".lldbinit",
        ".pdbrc",
        ".pythonrc.py",
        ".vs",
        ".venv",
        # Interpreters that run what lies in their working directory.
        ".rprofile",
        ".irbrc",
        ".pryrc",
        ".octaverc",
        # Agents, and the servers that they start.
        ".mcp.json",
        "mcp.json",
        ".claude",
        ".claude.json",
        ".cursor",
        ".codex",
        ".gemini",
        ".windsurf",
        ".continue",
        ".kiro",
        ".roo",
        ".aider.conf.yml",
        ".opencode",
        "opencode.json",
        ".amazonq",
        ".qwen",
        ".crush.json",
        "crush.json",
        # Package managers that start what the file names before anything else.
        ".npmrc",
        ".yarnrc",
        ".yarnrc.yml",
        ".pnpmfile.cjs",
    )
)
"""Names of files and directories that some program executes, or takes commands from, because
somebody merely opened the directory.
"""
_ENDINGS: Final = (".code-workspace", ".sublime-project")
_OF_A_REPOSITORY: Final = frozenset(
    {"config", "config.worktree", "hooks", "info", "modules", "objects", "refs", "worktrees"}
)
_MAY_WRITE: Final = "VESPE_FILES_MAY_WRITE"
_NEVER_READ: Final = "VESPE_FILES_NEVER_READ"
_SHORT: Final = pattern(r"([^.~]{1,6})~[0-9]+(\..*)?")
_INVISIBLE: Final = dict.fromkeys(
    [*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF]
)


class Rules(NamedTuple):
    """What the user's own configuration says of files, as patterns of a shell over paths from the
    root.

    A pattern without `/` fits a name at any depth; what fits a directory fits all that is beneath
    it. `**/` fits any directories, or none. A pattern that begins with `/` fits a path of the
    machine too.
    """

    may_write: tuple[str, ...] = ()
    never_read: tuple[str, ...] = ()

    def environment(self) -> dict[str, str]:
        """Return the variables that hand these rules to a tool's process; none where there are
        none.
        """
        given = {_MAY_WRITE: self.may_write, _NEVER_READ: self.never_read}
        return {name: "\n".join(patterns) for name, patterns in given.items() if patterns}

    def why_not_written(
        self, parts: Sequence[str], exists: Callable[[str], bool], *, root: str = ""
    ) -> str | None:
        """Say why a path, in its parts from `root`, must not be written, or None; `exists` says
        whether there is something at a path.
        """
        for part in parts:
            if _is_among(NEVER, part):
                return f"is in {part}, which tools can read but not write"
        executed = next(
            (
                part
                for part in parts
                if _is_among(EXECUTED, part) or folded(part).endswith(_ENDINGS)
            ),
            None,
        )
        if executed is None and not _makes_repository(parts, exists):
            return None
        if _fits(parts, self.may_write, root):
            return None
        what = (
            f"is in {executed}, from which other programs run commands"
            if executed
            else "would be treated as part of a repository by git"
        )
        return f"{what}: tools never write there unless your own configuration allows it"

    def is_kept_secret(self, parts: Sequence[str], *, root: str = "") -> bool:
        """Whether the user keeps tools from reading a path, in its parts from `root`."""
        return _fits(parts, self.never_read, root)


def of_environment(environ: Mapping[str, str] = os.environ) -> Rules:
    """Return the rules that a tool's process was given."""
    may_write, never_read = (
        tuple(filter(None, environ.get(name, "").split("\n"))) for name in (_MAY_WRITE, _NEVER_READ)
    )
    return Rules(may_write, never_read)


def folded(name: str) -> str:
    """Fold what macOS file systems ignore in a name: letter case and invisible characters, and what
    Windows ignores at its end.
    """
    return name.translate(_INVISIBLE).casefold().rstrip(". ")


def _is_among(names: frozenset[str], part: str) -> bool:
    """Whether a part of a path is one of the names, as an NTFS volume reads it too:
    `.git::$INDEX_ALLOCATION` and `GIT~1` are `.git`.

    https://git-scm.com/docs/git-config#Documentation/git-config.txt-coreprotectNTFS
    """
    if folded(part) in names or folded(part.partition(":")[0]) in names:
        return True
    short = _SHORT.fullmatch(folded(part))
    return short is not None and any(
        f".{short[1]}" == name.rsplit(".", 1)[0][:7] or f".{short[1]}" == name[:7] for name in names
    )


def _makes_repository(parts: Sequence[str], exists: Callable[[str], bool]) -> bool:
    """Whether a write could complete a bare repository: HEAD, and beside it objects, refs and a
    configuration that names programs.

    https://git-scm.com/docs/git-config#Documentation/git-config.txt-safebareRepository
    """
    if parts and folded(parts[-1]) == "head":
        return True
    places = (at for at, part in enumerate(parts) if folded(part) in _OF_A_REPOSITORY)
    return any(exists("/".join((*parts[:at], "HEAD"))) for at in places)


def _fits(parts: Sequence[str], patterns: Iterable[str], root: str) -> bool:
    if not patterns:
        return False
    names = [folded(part) for part in parts]
    for written in patterns:
        whole = re.sub(r"^(\./+)+", "", written).strip("/").casefold()
        for wanted in (whole, whole.replace("**/", "")):
            shown = (
                names
                if "/" not in wanted
                else ["/".join(names[: at + 1]) for at in range(len(names))]
            )
            if any(fnmatchcase(name, wanted) for name in shown):
                return True
        if (
            root
            and written.startswith("/")
            and _is_at(os.path.normpath(os.path.join(root, *parts)), written)
        ):
            return True
    return False


def _is_at(path: str, pattern: str) -> bool:
    """Whether a path of the machine, or a directory that it is in, fits a pattern that is one of
    the machine too.
    """
    names = path.casefold().split("/")
    above = ["/".join(names[: at + 1]) for at in range(1, len(names))]
    return any(
        fnmatchcase(one, wanted.rstrip("/").casefold())
        for wanted in (pattern, os.path.realpath(pattern))
        for one in above
    )
