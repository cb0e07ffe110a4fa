"""Lint rules: the one literal table of families, and every rule by its code."""

from typing import Final

from vespe.lint import constraints, layout, naming, portability, schema, signature
from vespe.lint.base import AnyRule

FAMILIES: Final[dict[str, tuple[AnyRule, ...]]] = {
    "layout": layout.RULES,
    "naming": naming.RULES,
    "schema": (*schema.RULES, *constraints.RULES),
    "portability": portability.RULES,
    "signature": signature.RULES,
}
RULES: Final[dict[str, AnyRule]] = {rule.code: rule for rules in FAMILIES.values() for rule in rules}
