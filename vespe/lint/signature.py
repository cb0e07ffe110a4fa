"""Lint rules: signature."""

from typing import Final

from vespe.lint.base import Rule

RULES: Final[tuple[Rule, ...]] = ()
