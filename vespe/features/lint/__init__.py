"""Lint rules: the one literal table of their modules, every rule by its code, and by family."""

from typing import Final, get_args

from vespe.features.lint.base import AnyRule, Family, rules_in
from vespe.features.lint.rules import (
    commands,
    constraints,
    description,
    flow,
    layout,
    naming,
    permissions,
    portability,
    questions,
    safety,
    schema,
    second_judge,
    sets,
    shadowing,
    signature,
    strict_requests,
    vendor_subsets,
)

_MODULES: Final = (
    layout,
    questions,
    naming,
    schema,
    second_judge,
    constraints,
    portability,
    strict_requests,
    vendor_subsets,
    description,
    safety,
    commands,
    permissions,
    sets,
    shadowing,
    signature,
    flow,
)
RULES: Final[dict[str, AnyRule]] = {
    rule.code: rule for module in _MODULES for rule in rules_in(module)
}
FAMILIES: Final[dict[Family, tuple[AnyRule, ...]]] = {
    family: tuple(rule for rule in RULES.values() if rule.family == family)
    for family in get_args(Family)
}
