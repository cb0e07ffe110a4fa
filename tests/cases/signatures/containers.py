import collections
import collections.abc
import typing as t
from collections.abc import Mapping, Sequence


def containers(
    plain: list,
    names: list[str],
    old: t.List[int],
    matrix: list[list[float]],
    table: dict[str, list[int]],
    loose: dict,
    old_table: t.Dict[str, t.Any],
    by_number: dict[int, str],
    mapping: Mapping[str, bool],
    several: Sequence[str],
    each: t.Iterable[int],
    unique: set[int],
    frozen: frozenset[str],
    abstract: collections.abc.Set[str],
    pair: tuple[int, str],
    many: tuple[int, ...],
    none: tuple[()],
    any_tuple: tuple,
    counts: collections.Counter[str],
) -> t.Dict[str, t.List[t.Tuple[int, int]]]:
    return {}
