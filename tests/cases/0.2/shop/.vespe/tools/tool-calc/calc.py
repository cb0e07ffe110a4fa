from typing import Literal


def calc(a: float, b: float, op: Literal["add", "mul"] = "add") -> float:
    """Add or multiply two numbers.

    Args:
        a: The first number.
        b: The second number.
        op: What to do with them.
    """
    return a + b if op == "add" else a * b
