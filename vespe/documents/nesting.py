"""How deep arrays and objects stand in each other, told without recursion."""

from typing import Any


def deeper_than(value: Any, levels: int) -> bool:
    """Whether arrays and objects are nested deeper than `levels`; ends on values that hold themselves."""
    level = [value]
    for _ in range(levels):
        below: dict[int, Any] = {}
        for one in level:
            inner = one.values() if isinstance(one, dict) else one if isinstance(one, (list, tuple)) else ()
            for item in inner:
                if isinstance(item, (dict, list, tuple)):
                    below[id(item)] = item
        if not below:
            return False
        level = list(below.values())
    return True
