"""Which page an address means, and how a page, an error or a form that was sent becomes an
answer.
"""

import asyncio
import contextlib
import importlib
import os
from collections.abc import Mapping
from typing import Any, Final

from vespe import defaults
from vespe.errors import NotFound, Refused, VespeError
from vespe.features.inspector.gate import PageAnswer, PageRequest, Secrets
from vespe.features.inspector.inspected import Inspected
from vespe.features.inspector.page import Page, Redirect, Visit
from vespe.features.inspector.rendering import ASSETS, Renderer, asset
from vespe.features.inspector.running import Runs

PAGES: Final = {
    "": ("tools_page", 0),
    "tool": ("tool_page", 2),
    "resolution": ("resolution_page", 0),
    "kits": ("kits_page", 0),
    "trust": ("trust_page", 0),
    "lint": ("lint_page", 0),
    "sizes": ("sizes_page", 0),
    "log": ("log_page", 0),
    "conversations": ("conversation_page", 0),
    "replay": ("replay_page", 0),
}
"""The pages by the first word of their path: the module, imported when it is first asked for, and
how many words follow.
"""
FORMS: Final = ("tool", "kits")
"""Pages with forms: their modules have `change` beside `show`."""
MENU: Final = (
    ("", "Tools"),
    ("resolution", "Resolution"),
    ("kits", "Kits"),
    ("trust", "Trust"),
    ("lint", "Lint"),
    ("sizes", "Sizes"),
    ("log", "Log"),
    ("conversations", "Conversations"),
)
_WITHIN: Final = {"tool": "", "replay": "conversations"}
"""Pages that the menu does not have, and the entry that they belong to."""
_STATUS: Final[tuple[tuple[type[VespeError], int], ...]] = (
    (NotFound, 404),
    (Refused, 403),
    (VespeError, 422),
)


class Site:
    """All pages of one inspector; what it serves is for whom the gate let in."""

    def __init__(self, project: Inspected, secrets: Secrets) -> None:
        self._project, self._secrets = project, secrets
        self._runs = Runs(project.path)
        self._renderer = Renderer(secrets.room)
        self._assets = {name: asset(name) for name in ASSETS}
        self._under_way: set[asyncio.Task[Any]] = set()

    async def __call__(self, request: PageRequest) -> PageAnswer:
        """Answer a request."""
        first, rest = request.path[0] if request.path else "", request.path[1:]
        if first in self._assets and not rest and request.form is None:
            return PageAnswer(body=self._assets[first], kind=ASSETS[first])
        visit = Visit(project=self._project, runs=self._runs, request=request, words=rest)
        module, words = PAGES.get(first, ("", -1))
        if request.form is None:
            return await asyncio.to_thread(self._shown, module if len(rest) == words else "", visit)
        return await self._changed(module if len(rest) == words and first in FORMS else "", visit)

    async def watch(self) -> None:
        """Read the tools already while the link is on its way to a browser."""
        with contextlib.suppress(VespeError):  # the page says it
            await asyncio.to_thread(self._project.rows)

    def stop(self) -> None:
        """End every call that runs."""
        for task in tuple(self._under_way):
            task.cancel()
        self._runs.stop()

    def close(self) -> None:
        """Close what calls have in common."""
        self._project.path.close()

    @property
    def busy(self) -> bool:
        """Whether a call runs still."""
        return self._runs.running > 0

    def _shown(self, module: str, visit: Visit) -> PageAnswer:
        try:
            page: Page = _page(module).show(visit)
        except VespeError as error:
            page = _told(error)
        return self._rendered(page, visit)

    async def _changed(self, module: str, visit: Visit) -> PageAnswer:
        task = asyncio.current_task()
        assert task is not None
        self._under_way.add(task)
        try:
            done: Page | Redirect = await (await asyncio.to_thread(_page, module)).change(visit)
        except VespeError as error:
            done = _told(error)
        finally:
            self._under_way.discard(task)
        if isinstance(done, Page):
            return await asyncio.to_thread(self._rendered, done, visit)
        place = f"#{done.place}" if done.place else ""
        return PageAnswer(
            status=303, headers={"location": self._renderer.url(*done.words, **done.query) + place}
        )

    def _rendered(self, page: Page, visit: Visit) -> PageAnswer:
        context = {**self._around(visit), **page.context, "title": page.title}
        return PageAnswer(status=page.status, body=self._renderer.render(page.template, context))

    def _around(self, visit: Visit) -> Mapping[str, Any]:
        root = self._project.root
        home = os.path.expanduser("~")
        return {
            "menu": MENU,
            "here": _WITHIN.get(first := visit.request.path[0], first),
            "project": os.path.basename(root) or root,
            "root": f"~{root.removeprefix(home)}" if root.startswith(f"{home}/") else root,
            "trusted_as": self._project.trusted_as(),
            "token": self._secrets.token,
            "version": defaults.VERSION,
        }


def _told(error: VespeError) -> Page:
    status = next(status for kind, status in _STATUS if isinstance(error, kind))
    return Page(
        template="error.html", title="Not possible", context={"error": error}, status=status
    )


def _page(module: str) -> Any:
    if not module:
        raise NotFound("there is no such page", hint="the menu lists all pages")
    return importlib.import_module(f"vespe.features.inspector.{module}")
