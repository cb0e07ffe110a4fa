"""JSON of nonsense from a seed: the same on every machine, and made in a hundredth of the time that
a recursive strategy takes.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Maker = Callable[[], Any]
_CHARACTERS = 'ab{}[]"\\:,$_-0 1\n\0é✓\u202e\U0001f600\ud800\udfff'


class Nonsense(random.Random):
    """A source of values that are almost, but seldom quite, what is expected."""

    def text(self, most: int = 5) -> str:
        """Return a text of up to `most` characters: letters, marks of JSON, control characters,
        halves of characters.
        """
        return "".join(self.choices(_CHARACTERS, k=self.randint(0, most)))

    def scalar(self) -> Any:
        """Return a value that holds no other: small, huge, empty or broken."""
        numbers = (0, 1, -1, 3, self.randint(-(10**18), 10**18), 10**30, 0.5, -0.0, 1e300)
        return self.choice((None, True, False, self.choice(numbers), self.text(), self.text()))

    def anything(
        self, keys: Sequence[str] = (), *, leaf: Maker | None = None, depth: int = 3
    ) -> Any:
        """Return a tree of values; its objects have some of `keys`, or texts where there are
        none.
        """
        if depth == 0 or self.random() < 0.4:
            return leaf() if leaf else self.scalar()
        within = [
            self.anything(keys, leaf=leaf, depth=depth - 1) for _ in range(self.randint(0, 3))
        ]
        return (
            within
            if self.random() < 0.4
            else {self.choice(keys) if keys else self.text(): one for one in within}
        )

    def some(self, make: Maker, most: int = 3) -> list[Any]:
        """Return up to `most` values."""
        return [make() for _ in range(self.randint(0, most))]

    def fields(self, makers: Mapping[str, Maker], chance: float = 0.5) -> dict[str, Any]:
        """Return an object with some of the fields."""
        return {name: make() for name, make in makers.items() if self.random() < chance}
