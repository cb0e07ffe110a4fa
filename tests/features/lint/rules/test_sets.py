"""What is wrong among several tools that a model sees together."""

from pathlib import Path
from typing import Any

import pytest

from tests.features.lint.judging import corpus_subjects, set_rules_of
from vespe.features.lint import subjects
from vespe.features.lint.base import Bounds, Outline
from vespe.features.lint.rules import sets
from vespe.features.lint.rules.sets import ALIKE, alike, groups

RULES = set_rules_of(sets)


def outline(name: str = "search", description: str = "", *parameters: str, **more: Any) -> Outline:
    given: dict[str, Any] = {"size": 100, "api": "vespe", "scope": "s"} | more
    return Outline(name=name, description=description, parameters=parameters, **given)


def said(*outlines: Outline, budget: int | None = None) -> list[tuple[str, int]]:
    bounds = Bounds(tool_budget=budget)
    return [
        (rule.code.removeprefix("sets-"), index)
        for rule in RULES
        for index, _ in rule.check(outlines, bounds)
    ]


def test_a_model_sees_the_available_tools_of_vespe_and_each_foreign_file_apart() -> None:
    kinds = [
        ("vespe", "project_tools", True),
        ("mcp", "a.json", True),
        ("vespe", "kit", True),
        ("vespe", "kit", False),
        ("mcp", "b.json", True),
    ]
    outlines = [
        outline(api=api, scope=scope, available=available) for api, scope, available in kinds
    ]
    assert groups(outlines) == [[0, 2], [1], [4]]


def test_the_second_of_two_equal_names_in_one_place_is_told() -> None:
    assert said(outline("a"), outline("b"), outline("a"), outline("a")) == [
        ("duplicate-name", 2),
        ("duplicate-name", 3),
    ]
    assert said(outline("a"), outline("a", scope="other")) == []
    assert said(outline("a"), outline("a", linted=False)) == []
    assert said(outline(""), outline("")) == []


def test_where_the_other_of_the_name_stands_is_told() -> None:
    (found,) = [
        f
        for rule in RULES
        for _, f in rule.check(
            [outline(directory="/x/tool-a"), outline(directory="/x/tool-b")], Bounds()
        )
    ]
    assert "/x/tool-a" in found.message


def test_equal_descriptions_are_told_whatever_their_white_space_and_case() -> None:
    outlines = [
        outline("a", "Look for it.", "x"),
        outline("b", " look  for\nIT. ", "y"),
        outline("c", ""),
        outline("d", ""),
    ]
    assert ("identical-description", 1) in said(*outlines)
    assert [code for code, _ in said(*outlines)].count("identical-description") == 1
    assert said(outline("a", "Look."), outline("b", "Look.", api="mcp", scope="x.json")) == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            outline("find_files", "Search the files of the project for a text.", "text"),
            outline("search_files", "Search the project's files for a text.", "text"),
        ),
        (
            outline("get_user", "Retrieve a user by id.", "user_id"),
            outline("fetch_user", "Get a user by its id.", "id"),
        ),
        (
            outline("list_tasks", "Get all tasks of a list.", "list_id"),
            outline("list_task_lists", "Get all task lists.", "list_id"),
        ),
    ],
)
def test_two_tools_that_say_the_same_in_other_words_are_told_with_their_number(
    first: Outline, second: Outline
) -> None:
    assert said(first, second) == [("confusable", 1)]
    (found,) = [f for rule in RULES for _, f in rule.check([first, second], Bounds())]
    assert first.name in found.message
    assert "of 1 (BM25" in found.message


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            outline("create_task", "Create a task.", "title"),
            outline("delete_task", "Delete a task.", "id"),
        ),
        (
            outline("read_file", "Read a file.", "path"),
            outline("write_file", "Write a file.", "path", "content"),
        ),
        (
            outline("get_error_page", "Retrieve the error page of a brand.", "brand"),
            outline("get_sign_in_page", "Retrieve the sign-in page of a brand.", "brand"),
        ),
        (
            outline("send_email", "Send an email.", "to"),
            outline("get_weather", "Tell the weather.", "city"),
        ),
    ],
)
def test_tools_that_a_word_of_their_names_tells_apart_are_not(
    first: Outline, second: Outline
) -> None:
    assert said(first, second) == []


def test_a_pair_is_told_at_a_linted_tool_or_not_at_all() -> None:
    one, other = (
        outline("get_user", "Get a user by id."),
        outline("fetch_user", "Get a user by id, please.", linted=False),
    )
    assert said(one, other) == [("confusable", 0)]
    assert said(outline("get_user", "Get a user by id.", linted=False), other) == []


def test_a_shadowed_tool_confuses_nobody() -> None:
    assert (
        said(
            outline("get_user", "Get a user by id."),
            outline("fetch_user", "Get a user by the id.", available=False),
        )
        == []
    )


@pytest.mark.parametrize(
    ("always", "which", "fix"),
    [
        (0, "the bridge to the 3 tools alone costs a model about", "raise `tool_budget`"),
        (1, "the tool that is always exposed costs, with the bridge to the other 2, a mo", "fewer"),
        (2, "the 2 tools that are always exposed cost, with the bridge to the other 1,", "fewer"),
    ],
)
def test_what_is_sent_past_the_budget_is_named(always: int, which: str, fix: str) -> None:
    tools = [outline(f"t{number}", size=400, always=number < always) for number in range(3)]
    budget = next(rule for rule in RULES if rule.code == "sets-budget")
    ((_, found),) = budget.check(tools, Bounds(tool_budget=5, tools_mode="auto"))
    assert found.message.startswith(which) and fix in str(found.fix)


def test_tools_past_the_budget_are_an_error_about_the_whole_that_names_the_largest() -> None:
    tools = [
        outline("small", size=40),
        outline("large", size=4000),
        outline("shadowed", size=9000, available=False),
    ]
    assert said(*tools, budget=1010) == []
    assert said(*tools, budget=1009) == [("budget", -1)]
    budget = next(rule for rule in RULES if rule.code == "sets-budget")
    ((_, found),) = budget.check(tools, Bounds(tool_budget=5))
    assert (
        budget.severity,
        "about 1,010 tokens" in found.message,
        "large 1,000, small 10" in found.message,
    ) == ("error", True, True)


def test_more_tools_than_openai_takes_are_a_warning() -> None:
    tools = [outline(f"t{n}", f"Number {n}.") for n in range(129)]
    assert said(*tools) == [("too-many", -1)]
    assert said(*tools[:128]) == []
    assert said(*(outline(f"t{n}", f"Number {n}.", api="bare") for n in range(129))) == []


def test_ten_thousand_tools_are_compared_within_bounds() -> None:
    tools = [
        outline(f"tool_{n}", f"Tell the number {n} of the long list of tools.", "number")
        for n in range(10_000)
    ]
    assert [row for row in said(*tools) if row[0] == "confusable"] == []


def test_the_confusable_pairs_of_real_servers_are_few_and_known(shared: Path) -> None:
    files = [
        path
        for folder in ("mcp", "docker-mcp-registry", "utcp")
        for path in sorted((shared / "corpus" / "tooldefs" / folder).glob("*.json"))
    ]
    tools = [
        subjects.outline(one, scope=str(path), linted=True, available=True)
        for path in files
        for one in corpus_subjects(path)
    ]
    pairs = {
        (tools[pair.first].name, tools[pair.second].name) for pair in alike(tools, least=ALIKE)
    }
    assert len(tools) == 436
    assert {
        ("add_sub_issue", "sub_issue_write"),
        ("list_directory", "list_directory_with_sizes"),
        ("list_task_lists", "list_tasks"),
    } <= pairs
    assert len(pairs) == 9


def kit_tools(count: int, *, always: int = 0) -> list[Outline]:
    return [
        outline(f"tool_{number}", f"Do {number}.", linted=False, always=number < always, scope="k")
        for number in range(count)
    ]


@pytest.mark.parametrize(
    ("mode", "count", "always", "budget", "wanted"),
    [
        ("auto", 300, 0, None, []),
        ("auto", 300, 126, None, ["too-many"]),
        ("auto", 300, 125, None, []),
        ("all", 300, 0, None, ["too-many"]),
        ("bridge", 300, 0, None, []),
        ("native", 300, 0, None, ["too-many"]),
        ("all", 20, 0, 700, []),
        ("all", 20, 0, 30, ["budget"]),
        ("auto", 20, 0, 30, ["budget"]),
        ("auto", 100, 0, 700, []),
        ("auto", 100, 90, 700, ["budget"]),
        ("bridge", 100, 0, 700, []),
        ("native", 100, 0, 30, []),
    ],
)
def test_what_models_are_sent_is_counted_wherever_it_comes_from(
    mode: str, count: int, always: int, budget: int | None, wanted: list[str]
) -> None:
    outlines = kit_tools(count, always=always)
    bounds = Bounds(tool_budget=budget, tools_mode=mode, has_project=True)
    codes = ("sets-budget", "sets-too-many")
    found = [
        rule.code.removeprefix("sets-")
        for rule in RULES
        if rule.code in codes
        for _ in rule.check(outlines, bounds)
    ]
    assert found == wanted
