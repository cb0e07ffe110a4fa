"""A function's text as a tool: each case is a file that a person might write, beside the schemas
and sentences that it gives.
"""

import asyncio
import importlib.util
import inspect
import json
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vespe.errors import InvalidDocument
from vespe.schemas.validator import check_schema, compile_schema
from vespe.tools.python.signatures import Derived, Parameter, derive

CASES = sorted((Path(__file__).parents[2] / "cases/signatures").glob("*.py"))
NEEDS_ANOTHER_LIBRARY = {"constraints", "models"}


def derived(case: Path) -> Derived:
    return derive(case.read_text(encoding="utf-8"), case.stem, path=case.name)


def expected(case: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(case.with_suffix(".json").read_text(encoding="utf-8"))
    return document


each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: str(case.stem))


@each_case
def test_a_case_gives_the_schemas_and_sentences_beside_it(case: Path) -> None:
    found, wanted = derived(case), expected(case)
    assert (found.description, found.input_schema, found.output_schema, list(found.notes)) == (
        wanted["description"],
        wanted["input"],
        wanted["output"],
        wanted["notes"],
    )


@each_case
def test_what_is_derived_is_a_schema_that_vespe_accepts(case: Path) -> None:
    found = derived(case)
    assert check_schema(found.input_schema) == []
    assert found.output_schema is None or check_schema(found.output_schema, root_object=False) == []


@each_case
def test_sample_calls_are_judged_as_a_person_would(case: Path) -> None:
    judge, samples = compile_schema(derived(case).input_schema, closed=True), expected(case)
    assert samples["accepts"] and samples["refuses"]
    assert [judge.violations(sample) for sample in samples["accepts"]] == [
        [] for _ in samples["accepts"]
    ]
    assert [sample for sample in samples["refuses"] if judge.is_valid(sample)] == []


@each_case
def test_every_default_is_accepted_by_the_schema_that_holds_it(case: Path) -> None:
    schema = derived(case).input_schema
    definitions = {"$defs": schema.get("$defs", {})}
    wrong = [
        name
        for name, inner in schema["properties"].items()
        if "default" in inner
        and not compile_schema({**inner, **definitions}, closed=False).is_valid(inner["default"])
    ]
    assert wrong == []


@pytest.fixture
def imported(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], Any]:
    def load(case: Path) -> types.ModuleType:
        spec = importlib.util.spec_from_file_location(f"case_{case.stem}", case)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, spec.name, module)
        spec.loader.exec_module(module)
        return module

    return load


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case.stem not in NEEDS_ANOTHER_LIBRARY],
    ids=lambda case: str(case.stem),
)
def test_python_itself_sees_the_same_parameters(
    case: Path, imported: Callable[[Path], Any]
) -> None:
    actual = inspect.signature(
        inspect.unwrap(getattr(imported(case), case.stem))
    ).parameters.values()
    kinds: dict[Any, str] = {
        inspect.Parameter.KEYWORD_ONLY: "keyword_only",
        inspect.Parameter.VAR_KEYWORD: "open",
    }
    wanted = [
        (p.name, kinds.get(p.kind, "keyword"), p.default is p.empty and p.kind is not p.VAR_KEYWORD)
        for p in actual
        if p.kind is not p.VAR_POSITIONAL
    ]
    assert [(p.name, p.kind, p.required) for p in derived(case).parameters] == wanted


def test_the_parameters_carry_what_a_page_about_the_tool_needs() -> None:
    found = derive(
        'def f(a: "int", *, b: str = str(1)):\n    """F.\n\n    :param a: One.\n    """', "f"
    )
    assert found.parameters == (
        Parameter(name="a", kind="keyword", required=True, annotation="'int'", description="One."),
        Parameter(
            name="b", kind="keyword_only", required=False, default_text="str(1)", annotation="str"
        ),
    )


def test_a_coroutine_is_marked_and_a_function_is_not() -> None:
    assert derive("async def f(): ...", "f").is_async
    assert not derive("def f(): ...", "f").is_async


def test_a_function_without_a_docstring_is_described_by_its_name() -> None:
    assert derive("def read_file(): ...", "read_file").description == "Read file."
    assert derive("def _(): ...", "_").description == "_."


def test_the_last_definition_counts_and_overloads_do_not() -> None:
    source = (
        "import typing\n@typing.overload\ndef f(a: int): ...\ndef f(a: str): "
        "...\n@typing.overload\ndef f(a: bool): ...\n"
    )
    assert derive(source, "f").input_schema["properties"] == {"a": {"type": "string"}}


def test_a_function_below_an_if_or_a_try_is_at_the_top_of_its_file() -> None:
    source = "try:\n    import x\nexcept ImportError:\n    def f(a: int): ...\nelse:\n    pass\n"
    assert derive(source, "f").name == "f"


def test_the_keys_of_recursive_options_are_inputs_too() -> None:
    source = (
        "from typing import *\nclass O(TypedDict):\n    more: list['O']\ndef f(**rest: "
        "Unpack[O]): ..."
    )
    schema = derive(source, "f").input_schema
    assert (schema["required"], schema["additionalProperties"]) == (["more"], False)
    assert schema["properties"] == {"more": {"type": "array", "items": {"$ref": "#/$defs/O"}}}


def test_untyped_keywords_leave_the_inputs_open() -> None:
    assert derive("def f(**rest): ...", "f").input_schema["additionalProperties"] is True


REFUSED = {
    "def calc(a, /, b): ...": "a can only be given by position",
    "def clac(): ...": "there is no function called 'calc'",
    "": "there is no function called 'calc'",
    "class A:\n    def calc(self): ...": "calc is a method of the class A",
    "def outer():\n    def calc(): ...": "calc is defined inside the function outer",
    "class calc: ...": "calc is a class",
    "calc = print": "calc is assigned",
    "from x import calc": "calc is imported",
    "def calc(:": "is not Python",
    "def calc(): '\0'": "is not Python",
    "def calc(): '\ud800'": "is not Python",
    "x = " + "(" * 300 + ")" * 300: "is not Python: too many nested parentheses",
}


@pytest.mark.parametrize(("source", "reason"), REFUSED.items(), ids=REFUSED.values())
def test_what_cannot_be_a_tool_is_refused_in_a_sentence(source: str, reason: str) -> None:
    with pytest.raises(InvalidDocument) as caught:
        derive(source, "calc", path="file.py")
    assert reason in str(caught.value) and str(caught.value).startswith("file.py")


def test_a_misspelt_function_gets_the_nearest_names_and_a_strange_one_all_of_them() -> None:
    source = "def calculate(): ...\ndef other(): ..."
    with pytest.raises(InvalidDocument) as near:
        derive(source, "calculat")
    with pytest.raises(InvalidDocument) as far:
        derive(source, "xyz")
    assert near.value.hint == "did you mean calculate?"
    assert far.value.hint == "it has calculate, other"


def test_an_error_names_the_line() -> None:
    with pytest.raises(InvalidDocument) as caught:
        derive("x = 1\n\ndef f(:\n", "f", path="file.py")
    assert (caught.value.path, caught.value.line) == ("file.py", 3)
    with pytest.raises(InvalidDocument) as method:
        derive("class A:\n    def f(self): ...", "A.f")
    assert method.value.line == 2


@pytest.mark.parametrize(
    "annotation",
    ["|".join(["int"] * 3000), "int" + ".x" * 3000, "-" * 3000 + "1"],
    ids=["union", "attribute", "sign"],
)
def test_a_very_long_expression_is_answered_or_refused_and_never_a_crash(annotation: str) -> None:
    try:
        assert derive(f"def f(a: {annotation}): ...", "f").name == "f"
    except InvalidDocument as error:
        assert "deep" in str(error) or "is not Python" in str(error)


def test_a_doubling_chain_of_aliases_stays_small() -> None:
    source = (
        "A0 = dict[str, int]\n"
        + "".join(f"A{n + 1} = tuple[A{n}, A{n}]\n" for n in range(60))
        + "def f(a: A60): ..."
    )
    assert len(json.dumps(derive(source, "f").input_schema)) < 20_000


def test_more_types_than_anybody_writes_end_in_a_note() -> None:
    aliases = "".join(f"N{n} = list[int]\n" for n in range(250))
    parameters = ", ".join(f"p{n}: N{n}" for n in range(250))
    assert any(
        "one type too many" in note
        for note in derive(f"{aliases}def f({parameters}): ...", "f").notes
    )


def test_an_invalid_escape_in_the_file_is_no_error_of_ours(
    recwarn: pytest.WarningsRecorder,
) -> None:
    assert derive('def f():\n    return "\\d"\n', "f").name == "f"
    assert len(recwarn) == 0


def test_a_byte_order_mark_and_a_lone_surrogate_do_no_harm() -> None:
    found = derive(
        '\ufeffdef f(a: int):\n    """Say \\ud800.\n\n    Args:\n        a: An \\udfff.\n    """',
        "f",
    )
    assert json.dumps(found.description, ensure_ascii=False).encode()
    assert found.input_schema["properties"]["a"]["description"] == "An \ufffd."


@pytest.mark.parametrize(
    "returned", ["None", "typing.Any", "typing.NoReturn", "Awaitable[None]", "'None'", "Nowhere"]
)
def test_a_result_that_says_nothing_has_no_schema(returned: str) -> None:
    assert (
        derive(
            f"import typing\nfrom typing import Awaitable\ndef f() -> {returned}: ...", "f"
        ).output_schema
        is None
    )


@pytest.mark.skipif(
    sys.version_info < (3, 12),
    reason="`type X = …` is syntax since Python 3.12, and older ones cannot parse it",
)
def test_the_type_statement_and_type_parameters_are_read() -> None:
    source = (
        "type Id = int\ntype Many[T] = list[T]\nclass Box[T](TypedDict): ...\ndef f[T](a: Id, "
        "b: Many[int], c: T): ..."
    )
    assert derive(source, "f").input_schema["properties"]["a"] == {"type": "integer"}


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=200), st.text(max_size=10))
def test_p19_any_text_is_a_function_or_a_refusal(source: str, function: str) -> None:
    try:
        found = derive(source, function)
    except InvalidDocument as error:
        assert str(error)
    else:
        assert found.name == function


ANNOTATIONS = st.recursive(
    st.sampled_from(
        [
            "int",
            "str",
            "None",
            "float",
            "bool",
            "Any",
            "dict",
            "Missing",
            "P",
            "Color",
            "'P'",
            "Literal['a', 1]",
            "...",
            "3",
        ]
    ),
    lambda inner: st.one_of(
        st.builds("list[{}]".format, inner),
        st.builds("dict[{}, {}]".format, inner, inner),
        st.builds("tuple[{}, {}]".format, inner, inner),
        st.builds("{} | {}".format, inner, inner),
        st.builds("Optional[{}]".format, inner),
        st.builds("Annotated[{}, 'said', Ge(1)]".format, inner),
        st.builds("set[{}]".format, inner),
    ),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(ANNOTATIONS)
def test_any_annotation_gives_a_schema_that_vespe_accepts(annotation: str) -> None:
    source = "from dataclasses import dataclass\nfrom enum import Enum\nfrom typing import *\n"
    source += (
        "class Color(Enum):\n    A = 'a'\n@dataclass\nclass P:\n    x: 'P | None'\n    y: int = 0\n"
    )
    found = derive(f"{source}def f(a: {annotation}) -> {annotation}: ...", "f")
    assert check_schema(found.input_schema) == []
    assert found.output_schema is None or check_schema(found.output_schema, root_object=False) == []


def test_nothing_is_run(tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    source = f"open({str(canary)!r}, 'w')\ndef f(a=open({str(canary)!r}, 'w')): ...\n"
    assert derive(source, "f").name == "f"
    assert not canary.exists()


def test_the_sample_calls_run_in_python_too(imported: Callable[[Path], Any]) -> None:
    case = next(case for case in CASES if case.stem == "calc")
    assert [imported(case).calc(**sample) for sample in expected(case)["accepts"]] == [3.5, 42]
    awaited = next(case for case in CASES if case.stem == "awaited")
    assert asyncio.run(imported(awaited).awaited(url="u")) == []


@pytest.mark.parametrize("returned", ["dict", "dict[str, Any]", "Mapping[str, Any]", "dict | None"])
def test_a_result_that_is_any_object_has_no_schema(returned: str) -> None:
    source = (
        "from collections.abc import Mapping\nfrom typing import Any\n\n"
        f"def f() -> {returned}:\n    return {{}}\n"
    )
    assert derive(source, "f").output_schema is None
    some = source.replace(returned + ":", "dict[str, int]:")
    assert derive(some, "f").output_schema == {
        "type": "object",
        "additionalProperties": {"type": "integer"},
    }
