"""How deep arrays and objects stand in each other, told without recursion."""

from typing import Any, Final

_CONTAINERS: Final = (dict, list, tuple)
_MANY: Final = 256


def deeper_than(value: Any, levels: int) -> bool:
    """Whether arrays and objects are nested deeper than `levels`; ends on values that hold
    themselves, or one part many times.
    """
    level = [value] if isinstance(value, _CONTAINERS) else []
    for _ in range(levels):
        level = [
            item
            for one in level
            for item in (one.values() if isinstance(one, dict) else one)
            if isinstance(item, _CONTAINERS)
        ]
        if not level:
            return False
        if len(level) > _MANY:
            level = list({id(one): one for one in level}.values())
    return True
