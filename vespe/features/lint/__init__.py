"""Lint rules: the one literal table of families, and every rule by its code."""

from typing import Final

from vespe.features.lint.base import AnyRule
from vespe.features.lint.rules import (
    commands,
    constraints,
    description,
    flow,
    layout,
    naming,
    permissions,
    portability,
    safety,
    schema,
    second_judge,
    sets,
    shadowing,
    signature,
    strict_requests,
    vendor_subsets,
)

FAMILIES: Final[dict[str, tuple[AnyRule, ...]]] = {
    "layout": layout.RULES,
    "naming": naming.RULES,
    "schema": (*schema.RULES, *second_judge.RULES, *constraints.RULES),
    "portability": (*portability.RULES, *strict_requests.RULES, *vendor_subsets.RULES),
    "description": description.RULES,
    "safety": (*safety.RULES, *commands.RULES, *permissions.RULES),
    "sets": (*sets.RULES, *shadowing.RULES),
    "signature": signature.RULES,
    "flow": flow.RULES,
}
RULES: Final[dict[str, AnyRule]] = {
    rule.code: rule for rules in FAMILIES.values() for rule in rules
}
