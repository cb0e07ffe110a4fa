"""Lint rules: naming."""

from typing import Final

from vespe.lint.base import Rule

RULES: Final[tuple[Rule, ...]] = ()
