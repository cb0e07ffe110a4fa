"""`vespe.records`: what its dataclasses do is what the standard library's do."""

import copy
import dataclasses
import inspect
import pickle
from typing import Any, ClassVar, Generic, TypeVar

import pytest

from vespe import records

T = TypeVar("T")
LATER: Any = records.dataclass  # for mypy, which takes it for the standard library's
OPTIONS: dict[str, bool] = {"frozen": True, "slots": True}


def point_class() -> Any:
    """A class anew each time: the standard library's decorator takes its defaults away."""

    class Point:
        kind: ClassVar[str] = "point"
        x: int
        y: int = 0
        tags: list[str] = dataclasses.field(default_factory=list)
        secret: str = dataclasses.field(default="", repr=False, compare=False)
        seen: list[int] = dataclasses.field(
            default_factory=list, init=False, repr=False, compare=False
        )
        count: int = dataclasses.field(default=3, init=False, repr=False)

        def moved(self) -> Any:
            return dataclasses.replace(self, x=self.x + 1)  # type: ignore[type-var]  # it is decorated later

    return Point


class Positive:
    """One whose values are checked once they are set."""

    value: int

    def __post_init__(self) -> None:
        if self.value < 0:
            raise ValueError("below 0")


Ours, Plain = LATER(**OPTIONS)(point_class()), dataclasses.dataclass(**OPTIONS)(point_class())
Ours.__qualname__ = "Ours"


def old(**options: bool) -> Any:
    """The decorator, and a class that has made an object, so that it has compiled how."""

    def decorated(cls: type) -> Any:
        made = LATER(**options)(cls)
        made(0)
        return made

    return decorated


@pytest.fixture(
    params=[LATER, old, dataclasses.dataclass], ids=["later", "later, after one", "standard"]
)
def made(request: pytest.FixtureRequest) -> Any:
    """The class by either decorator, made anew, so that nothing was asked of it before."""
    return request.param(**OPTIONS)(point_class())


def test_values_and_defaults_are_set(made: Any) -> None:
    first, second = made(1), made(1, 2, tags=["a"])
    assert (first.x, first.y, first.tags, second.y, second.tags) == (1, 0, [], 2, ["a"])
    assert first.tags is not made(1).tags and made.kind == "point"


def test_a_field_that_is_no_argument_is_set_anew_in_each(made: Any) -> None:
    assert (made(1).seen, made(1).count) == ([], 3) and made(1).seen is not made(1).seen
    for _ in range(2):
        with pytest.raises(TypeError, match="count"):
            made(1, count=4)


def test_a_wrong_argument_is_refused_by_name(made: Any) -> None:
    for arguments, word in (({}, "'x'"), ({"x": 1, "z": 2}, "'z'")):
        for _ in range(2):
            with pytest.raises(TypeError, match=word):
                made(**arguments)
    assert made(x=1).x == 1


def sized_class() -> Any:
    class Sized:
        x: int
        tags: list[str] = dataclasses.field(default_factory=list)
        size: int = dataclasses.field(default=1)

    return Sized


@pytest.mark.parametrize("decorator", [LATER, dataclasses.dataclass], ids=["later", "standard"])
def test_the_first_objects_and_those_after_them_are_made_alike(decorator: Any) -> None:
    made = decorator(**OPTIONS)(sized_class())
    sub = type("Sub", (made,), {"__slots__": ()})
    for _ in range(30):
        assert (made(1).x, made(1).tags, made(1, ["a"]).tags, made(1, size=2).size, sub(x=4).x) == (
            1,
            [],
            ["a"],
            2,
            4,
        )
        assert made(1).tags is not made(1).tags
        for args, kwargs in (((), {}), ((1, [], 2, 3), {}), ((1,), {"x": 2}), ((1,), {"z": 2})):
            with pytest.raises(TypeError, match="argument"):
                decorator(**OPTIONS)(sized_class())(*args, **kwargs)


def test_a_constructor_is_compiled_only_for_a_class_of_many_objects() -> None:
    made = LATER(**OPTIONS)(sized_class())
    first = made.__init__
    for _ in range(16):
        made(1)
    assert made.__init__ is first
    assert made(1, size=2).size == 2 and made.__init__ is not first


def test_two_of_equal_values_are_equal_and_what_is_not_compared_does_not_count(made: Any) -> None:
    assert made(1) == made(1, secret="s") and made(1) != made(2) and made(1) != (1, 0, [])
    assert hash(made(1, tags=())) == hash(made(1, tags=(), secret="s"))


def test_a_secret_is_not_printed(made: Any) -> None:
    assert repr(made(1, secret="hush")).split(".")[-1] == "Point(x=1, y=0, tags=[])"


def test_a_value_cannot_be_changed_or_deleted(made: Any) -> None:
    point = made(1)
    with pytest.raises(dataclasses.FrozenInstanceError, match="'x'"):
        point.x = 2
    with pytest.raises(dataclasses.FrozenInstanceError, match="'x'"):
        del point.x
    assert not hasattr(point, "__dict__")


def test_the_functions_of_dataclasses_take_it(made: Any) -> None:
    assert [field.name for field in dataclasses.fields(made)] == [
        "x",
        "y",
        "tags",
        "secret",
        "seen",
        "count",
    ]
    assert list(dataclasses.asdict(made(1)).values()) == [1, 0, [], "", [], 3] and made(
        1
    ).moved() == made(2)


def test_a_pattern_takes_it_apart(made: Any) -> None:
    match made(3, 4):
        case made(x, y):
            assert (x, y) == (3, 4)


def test_its_signature_is_that_of_the_standard_library() -> None:
    assert str(inspect.signature(LATER(**OPTIONS)(point_class()))) == str(inspect.signature(Plain))


def test_only_keywords_are_taken_where_the_class_says_so() -> None:
    made = LATER(**OPTIONS, kw_only=True)(point_class())
    assert made(x=1).x == 1 and made.__match_args__ == ()
    with pytest.raises(TypeError, match="positional"):
        made(1)


def test_values_are_checked_each_time() -> None:
    made: Any = LATER(**OPTIONS)(Positive)
    assert made(1).value == 1
    for _ in range(2):
        with pytest.raises(ValueError, match="below 0"):
            made(-1)


def test_a_copy_and_a_pickled_one_are_equal() -> None:
    point = Ours(1, tags=["a"])
    assert pickle.loads(pickle.dumps(point)) == point == copy.deepcopy(point) == copy.copy(point)


@pytest.mark.parametrize(
    "options",
    [{}, {"frozen": True}, {"slots": True}, {"frozen": True, "slots": True, "order": True}],
)
def test_another_kind_of_dataclass_is_the_standard_librarys(options: dict[str, bool]) -> None:
    made, plain = LATER(**options)(point_class()), dataclasses.dataclass(**options)(point_class())
    assert repr(made(1)) == repr(plain(1)) and hasattr(made(1), "__dict__") == hasattr(
        plain(1), "__dict__"
    )


@pytest.mark.parametrize("decorator", [LATER, dataclasses.dataclass], ids=["later", "standard"])
def test_a_class_can_be_generic(decorator: Any) -> None:
    class Box(Generic[T]):
        item: T
        note: str = ""

    made: Any = decorator(**OPTIONS)(Box)
    assert made(1).item == 1 and made(1) == made(1, "") != made(2)
    assert made.__parameters__ == (T,) and not hasattr(made(1), "__dict__")


def test_one_that_inherits_fields_has_them_too() -> None:
    class Named(Ours):  # type: ignore[misc, valid-type]  # it is made at run time
        name: str = ""

    made = LATER(**OPTIONS)(Named)
    assert made(1, name="n").x == 1 and made(1, name="n") != made(1)


@records.dataclass(frozen=True, slots=True)
class Inner:
    value: int

    def to_json(self) -> dict[str, Any]:
        return {"inner": self.value}


@records.dataclass(frozen=True, slots=True, kw_only=True)
class Outer:
    name: str
    parts: tuple[Any, ...]
    given: Any = None

    @property
    def count(self) -> int:
        return len(self.parts)


def test_a_record_as_json_has_its_fields_in_order_and_what_is_in_them() -> None:
    record = Outer(name="n", parts=(Inner(1), "a", (2,)), given={"k": ()})
    shown = records.json_of(record)
    assert list(shown.items()) == [
        ("name", "n"),
        ("parts", [{"inner": 1}, "a", [2]]),
        ("given", {"k": ()}),
    ]


def test_a_record_as_json_can_be_a_choice_of_attributes_under_other_keys() -> None:
    record = Outer(name="n", parts=(1,))
    assert records.json_of(record, "count", "name", count="parts") == {"parts": 1, "name": "n"}
