from collections.abc import AsyncIterator, Awaitable
from typing import Coroutine, Any


async def awaited(url: str, *, retries: int = 3) -> Awaitable[Coroutine[Any, Any, list[str]]]:
    """
    Fetch a page.

    It is given back
    line by line.

    Parameters
    ----------
    url : str
        The address,
        whole.
    retries : int, optional
        How often to try again.

    Returns
    -------
    list of str
        The lines.

    Raises
    ------
    OSError
        When nothing answers.
    """
    return []
