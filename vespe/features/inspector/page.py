"""What a page's function returns, and what it is given."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from vespe.features.inspector.gate import PageRequest
from vespe.features.inspector.inspected import Inspected
from vespe.features.inspector.running import Runs
from vespe.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """One look at one page: the project, what ran here, the request, and the words of the path
    after the page's own.
    """

    project: Inspected
    runs: Runs
    request: PageRequest
    words: tuple[str, ...]

    def asked(self, name: str, among: tuple[str, ...] = ()) -> str:
        """Return a word of the query; one that is not `among` those that there are, where any are
        said, is as good as none.
        """
        given = self.request.query.get(name, "").strip()
        return given if not among or given in among else ""

    def number(self, name: str) -> int:
        """Return a number of the query, 0 where there is none that a page could mean."""
        given = self.request.query.get(name, "")
        return int(given) if given.isascii() and given.isdigit() and len(given) < 9 else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page to be rendered: its template, what its title says, and what the template is given."""

    template: str
    title: str
    context: Mapping[str, Any] = field(default_factory=dict)
    status: int = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Redirect:
    """Where a browser goes on after a form, so that loading the page again sends nothing again;
    `place` is an id on the page.
    """

    words: tuple[str, ...]
    query: Mapping[str, str] = field(default_factory=dict)
    place: str = ""
