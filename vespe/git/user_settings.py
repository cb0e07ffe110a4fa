"""What of the user's own git configuration goes along with a tool that may not read it: who the
user is, and how files are compared.

git ends where it may not read a configuration that is there. Nor is the file to be given whole:
people keep tokens in it (`http.extraHeader`, `url.….insteadOf`).
"""

import os
from collections.abc import Callable, Mapping
from typing import Final

from vespe.errors import VespeError
from vespe.files import atomic
from vespe.git import repository

_GOES_ALONG: Final = (
    r"^(user\.(name|email|useconfigonly)|(author|committer)\.(name|email)|safe\.directory"
    r"|core\.(autocrlf|eol|safecrlf|quotepath|precomposeunicode)|init\.defaultbranch)$"
)
"""Keys whose values name no file, program, host or secret."""


def beside(
    directory: str,
    environment: Mapping[str, str],
    is_refused: Callable[[str], bool],
    *,
    cwd: str,
) -> dict[str, str]:
    """Return the variables that keep git from what `is_refused` says that it may not read, and
    write in `directory` the configuration that it reads instead; {} where it may read all.

    `environment` is the one that git will run in, and `cwd` is where: what is included can depend
    on the repository.
    """
    if (own := _own(environment)) is None:
        return {}
    configurations = _configurations(own, environment)
    lists = {"excludesFile": "ignore", "attributesFile": "attributes"}
    said = [
        f"[core]\n\t{key} = /dev/null\n"
        for key, name in lists.items()
        if _is_kept(os.path.join(own, name), is_refused)
    ]
    kept = {path for path in configurations if _is_kept(path, is_refused)}
    if not kept and not said:
        return {}
    said += [
        _portable(path, cwd) if path in kept else f"[include]\n\tpath = {_quoted(path)}\n"
        for path in configurations
        if os.path.exists(path)
    ]
    place = os.path.join(directory, "gitconfig")
    atomic.write_atomic(place, "".join(said), durable=False)
    return {"GIT_CONFIG_GLOBAL": place}


def kept_whole(directory: str, environment: Mapping[str, str], *, cwd: str) -> dict[str, str]:
    """Return the variable that lets git go on in a process that lives longer than a call, and write
    in `directory` all of the user's configuration: anew where that is another than at the last
    call.

    `git config --global` replaces the file, and what is replaced in a home while a process lives is
    closed to it. Only for one that may read the file anyway.
    """
    if (own := _own(environment)) is None:
        return {}
    place = os.path.join(directory, "gitconfig")
    configurations = _configurations(own, environment)
    stamps = tuple(map(_stamp, configurations))
    if _written.get(place) != stamps:
        whole = [_portable(path, cwd, keys=".") for path in configurations if os.path.exists(path)]
        atomic.write_atomic(place, "".join(whole), durable=False)
        _written[place] = stamps
    return {"GIT_CONFIG_GLOBAL": place}


_written: dict[str, tuple[tuple[int, ...], ...]] = {}
"""What each copy was made of, by its place."""


def _stamp(path: str) -> tuple[int, ...]:
    try:
        status = os.stat(path)
    except OSError:
        return ()
    return status.st_ino, status.st_size, status.st_mtime_ns


def _own(environment: Mapping[str, str]) -> str | None:
    """Return git's directory in the user's configuration; None where there is no home, or git is
    told already where its configuration is.
    """
    home = environment.get("HOME", "")
    if not os.path.isabs(home) or "GIT_CONFIG_GLOBAL" in environment:
        return None
    return os.path.join(environment.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "git")


def _configurations(own: str, environment: Mapping[str, str]) -> tuple[str, str]:
    return os.path.join(own, "config"), os.path.join(environment["HOME"], ".gitconfig")


def _is_kept(path: str, is_refused: Callable[[str], bool]) -> bool:
    return os.path.exists(path) and is_refused(path)


def _portable(path: str, cwd: str, *, keys: str = _GOES_ALONG) -> str:
    """Return the settings of a file that go along, as git writes them; none where git cannot read
    it.
    """
    asked = ("config", "--file", path, "--includes", "--null", "--get-regexp", keys)
    try:
        answer = repository.WorkTree(cwd).ask(*asked)
    except VespeError:
        return ""
    said = []
    for item in answer.text.split("\0")[:-1]:
        name, has_value, value = item.partition("\n")
        path_to_key, _, key = name.rpartition(".")
        section, has_more, rest = path_to_key.partition(".")
        section += f" {_quoted(rest)}" if has_more else ""
        said.append(f"[{section}]\n\t{key}" + (f" = {_quoted(value)}\n" if has_value else "\n"))
    return "".join(said)


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("\n", "\\n").replace("\t", "\\t") + '"'
