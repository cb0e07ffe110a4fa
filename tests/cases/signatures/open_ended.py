from functools import lru_cache


def traced(function):
    return function


@lru_cache
@traced
def open_ended(first: int, *others: int, **rest: int) -> int:
    """Add.

    :param first: Where to begin,
        and where to end.
    :param others: Never used.
    :keyword rest: More numbers.
    :param gone: No longer there.
    :returns: The sum
        of all.
    """
    return first
