"""The available tools of a project that fit a query."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from vespe.errors import StorageError, VespeError
from vespe.models import Tool
from vespe.projects.resolver import Scope
from vespe.projects.workspace import Workspace
from vespe.tools import catalog, directory, search
from vespe.tools.search import Document, ToolIndex


def find(workspace: Workspace, query: str, *, limit: int) -> list[tuple[Tool, float]]:
    """Return the tools that fit a query and their scores, the best first.

    Few tools are all read and judged. Of very many, words that are kept are searched, and only
    those that are found are judged.
    """
    scopes = [scope for scope in workspace.scopes if scope.ordered]
    listed = [(scope, _listed(scope)) for scope in scopes]
    if sum(len(uids) for _, uids in listed) > search.IN_MEMORY:
        return _find_by_kept_words(listed, query, limit)
    tools = available(workspace)
    matches = ToolIndex(_Documents(tools)).find(query, limit=limit)
    return [(tools[match.number], match.score) for match in matches]


def available(workspace: Workspace) -> Sequence[Tool]:
    """Return the available tools, each of which is loaded when it is asked for."""
    return _Tools(workspace)


class _Tools(Sequence[Tool]):
    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._read = workspace.read_available()

    def __len__(self) -> int:
        return len(self._read)

    def __getitem__(self, number: Any) -> Any:
        read = self._read[number]
        return self._workspace.load_listed(read.entry, read.judged)


class _Documents(Sequence[Document]):
    """What is searched of tools, made when it is asked for."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = tools

    def __len__(self) -> int:
        return len(self._tools)

    def __getitem__(self, number: Any) -> Any:
        return search.document_of(self._tools[number])


def _listed(scope: Scope) -> Sequence[str]:
    try:
        return catalog.list_tools(scope.directory)[0]
    except StorageError:
        return ()  # one of the workspace's warnings says so


def _find_by_kept_words(
    listed: Sequence[tuple[Scope, Sequence[str]]], query: str, limit: int
) -> list[tuple[Tool, float]]:
    """Search the words of all tools that have their names for themselves, broken ones too. So what
    a score is made of is in the files alone, whatever was judged before.
    """
    from vespe.tools import kept_words

    found, taken = list[tuple[str, Scope, str, bytes]](), set[str]()
    for scope, uids in listed:
        rows = kept_words.words_in(scope.directory, uids)
        names = Counter(row.name for row in rows.values() if row.name is not None)
        found += [
            (row.name, scope, uid, row.words)
            for uid, row in rows.items()
            if row.name is not None and names[row.name] == 1 and row.name not in taken
        ]
        taken |= names.keys()
    found.sort(key=lambda one: one[0])
    index = ToolIndex(words=[words for *_, words in found])
    most = limit
    while True:
        matches = index.find(query, limit=most)
        fitting = _judged(found, matches, limit)
        if len(fitting) == limit or len(matches) < most:
            return fitting
        most *= 4


def _judged(
    found: Sequence[tuple[str, Scope, str, bytes]], matches: Sequence[tuple[int, float]], limit: int
) -> list[tuple[Tool, float]]:
    """Load the tools that match until there are enough; those that are broken are left out."""
    fitting = list[tuple[Tool, float]]()
    for number, score in matches:
        _, scope, uid, _ = found[number]
        try:
            path = f"{scope.directory}/{uid}"
            tool = directory.load(path, scope=scope.name, kit_id=scope.kit_id)
        except VespeError:
            continue
        fitting.append((tool, score))
        if len(fitting) == limit:
            break
    return fitting
