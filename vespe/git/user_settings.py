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
    home = environment.get("HOME", "")
    if not os.path.isabs(home) or "GIT_CONFIG_GLOBAL" in environment:
        return {}
    own = os.path.join(environment.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "git")
    configurations = (os.path.join(own, "config"), os.path.join(home, ".gitconfig"))
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


def _is_kept(path: str, is_refused: Callable[[str], bool]) -> bool:
    return os.path.exists(path) and is_refused(path)


def _portable(path: str, cwd: str) -> str:
    """Return the settings of a file that go along, as git writes them; none where git cannot read
    it.
    """
    asked = ("config", "--file", path, "--includes", "--null", "--get-regexp", _GOES_ALONG)
    try:
        answer = repository.WorkTree(cwd).ask(*asked)
    except VespeError:
        return ""
    said = []
    for item in answer.text.split("\0")[:-1]:
        name, has_value, value = item.partition("\n")
        section, _, key = name.rpartition(".")
        said.append(f"[{section}]\n\t{key}" + (f" = {_quoted(value)}\n" if has_value else "\n"))
    return "".join(said)


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("\n", "\\n").replace("\t", "\\t") + '"'
