"""The values that this process has fetched: each once, when it is first needed, and again after
15 minutes (a token when it expires) or where a server refused it. They are kept in memory alone.
"""

import os
import threading
import time
from collections.abc import Mapping
from typing import Final

from vespe.documents import strict_json
from vespe.features.secrets import references, sources
from vespe.features.secrets.sources import SecretRequest

FRESH_S: Final = 15 * 60.0
_PAST: Final = 4
"""Values that a secret had before, which are struck out of what calls return all the same."""


class _Value:
    """What is known of one reference. The lock makes others wait for who fetches it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.known: tuple[str, ...] = ()
        """The value, then earlier ones."""
        self.until = 0.0

    def fetch(self, asked: SecretRequest) -> str:
        value, lasts_s = sources.fetch_lasting(asked)
        self.known = (value, *(old for old in self.known if old != value))[:_PAST]
        self.until = time.monotonic() + (FRESH_S if lasts_s is None else lasts_s)
        return value


_values: dict[object, _Value] = {}
_adding = threading.Lock()


def value_of(asked: SecretRequest) -> str:
    """Return a secret's value, fetched where it is not known or 15 minutes old; raises as
    `sources.fetch` does.
    """
    if references.store_of(asked.reference) == "env":
        return sources.fetch(asked)
    kept = _kept(asked)
    with kept.lock:
        return kept.known[0] if time.monotonic() < kept.until else kept.fetch(asked)


def renewed(asked: SecretRequest, *, refused: str) -> str:
    """Return the value that stands in for one that a server refused: fetched again, unless another
    thread did so meanwhile. Raises as `sources.fetch` does.
    """
    if references.store_of(asked.reference) == "env":
        return sources.fetch(asked)
    kept = _kept(asked)
    with kept.lock:
        return kept.known[0] if kept.known[:1] not in ((), (refused,)) else kept.fetch(asked)


def known(asked: SecretRequest) -> tuple[str, ...]:
    """Return the values that are known without fetching any: those to be struck out."""
    if references.store_of(asked.reference) == "env":
        value = asked.environment.get(asked.reference["ref"].partition(":")[2], "")
        return (value,) if value else ()
    found = _values.get(_key(asked))
    return () if found is None else found.known


def _kept(asked: SecretRequest) -> _Value:
    with _adding:
        return _values.setdefault(_key(asked), _Value())


def _key(asked: SecretRequest) -> object:
    """A command may print something else in another environment."""
    reference, environment = strict_json.compact_json(asked.reference), asked.environment
    return reference, None if environment is os.environ else _frozen(environment)


def _frozen(environment: Mapping[str, str]) -> frozenset[tuple[str, str]]:
    return frozenset(environment.items())


def _forget() -> None:
    """Begin anew in a fork, where a lock could be held by a thread that is not there."""
    global _adding
    _adding = threading.Lock()
    _values.clear()


os.register_at_fork(after_in_child=_forget)
