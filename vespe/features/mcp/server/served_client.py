"""One client of a server: what it may refer to later is bound to it, so that another client's
reference is nothing.
"""

import os
from collections.abc import MutableMapping
from typing import Final

from vespe.adapters.large_results.handles import LargeResults
from vespe.features.mcp.server.client_questions import ClientQuestions
from vespe.models import JsonObject

_MOST_HANDLES: Final = 10_000
"""A client that lives long forgets the handles that it was given first."""


class ServedClient:
    """One client: a process over stdio, a session over HTTP, or whoever has the token there.

    `name` tells it from every other. `results` are those that it was shown in part; `known` keeps
    their handles where several processes serve the client. `questions` wait for its user's answer.
    """

    __slots__ = ("name", "questions", "results")

    def __init__(
        self, name: str | None = None, *, known: MutableMapping[str, JsonObject] | None = None
    ) -> None:
        self.name = os.urandom(16).hex() if name is None else name
        self.results = LargeResults(known)
        self.questions = ClientQuestions()

    def forget_oldest(self) -> None:
        """Forget the handles that are too many."""
        known = self.results.known
        while len(known) > _MOST_HANDLES:
            known.pop(next(iter(known)), None)
