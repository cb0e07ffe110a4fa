from typing import Literal, Optional


def calc(a: float, b: float, op: Literal["add", "mul"] = "add", note: Optional[str] = None) -> float:
    """Calculate.

    Args:
        a: left operand
        b: right operand
        op: what to do
        note: ignored
    """
    return a + b if op == "add" else a * b
