def calc(a: int, b: int, op: str = "add") -> int:
    """Calculate.

    Args:
        a: The first number.
        b: The second number.
        op: add or mul.
    """
    return a * b if op == "mul" else a + b
