"""Lists and figures on the pages that the code or a kept run has too: both have to agree."""

import json
import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from vespe import (
    AnthropicProvider,
    GeminiProvider,
    OllamaProvider,
    OpenAIResponsesProvider,
    Patience,
    Toolset,
    UsageError,
    defaults,
    errors,
)
from vespe.adapters.cost import CHARACTERS_PER_TOKEN
from vespe.cli import boundary
from vespe.documents import strict_json
from vespe.errors import LoginRequired, MissingExtra, NotTrusted, Refused
from vespe.features.agents.providers import PROVIDERS
from vespe.features.mcp.clients.table import CLIENTS
from vespe.features.programs.source import MODULES
from vespe.projects import project_settings
from vespe.tools import mcp_skills

ROOT = Path(__file__).resolve().parents[2]


def page(name: str) -> str:
    """Return a page with every run of white space as one space."""
    return re.sub(r"\s+", " ", (ROOT / name).read_text(encoding="utf-8"))


def quoted(text: str) -> set[str]:
    return set(re.findall(r"`([^`]+)`", text))


def between(name: str, start: str, end: str) -> str:
    _, found, rest = page(name).partition(start)
    assert found, f"{name} does not say {start!r}"
    return rest.partition(end)[0]


def kept(name: str) -> Any:
    path = ROOT / "docs/figures" / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8"))["result"]


def test_the_readme_names_the_packages_that_an_installation_brings() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = [re.split(r"[>=<]", one)[0] for one in project["dependencies"]]
    assert len(names) == 9 and f"nine packages: {', '.join(names[:-1])} and {names[-1]}." in page(
        "README.md"
    )


def test_the_guide_has_every_exit_code() -> None:
    table = between("docs/guide.md", "| code | meaning |", "With `--json`")
    codes = {int(code) for code in re.findall(r"\| (\d+) \|", table)}
    own = {boundary.EXIT_BUG, boundary.EXIT_BROKEN_PIPE}
    assert codes == {0, *own, *(code for _, code in boundary.EXIT_CODES)}
    assert boundary.CODES["missing_extra"] == 2 and "an extra is missing" in table


def test_the_guide_names_the_variables_that_a_tool_sees() -> None:
    said = between("docs/guide.md", "only these variables of your environment: ", ". For")
    assert quoted(said) == {*defaults.CHILD_ENVIRONMENT, "LC_*"}


def test_the_guide_names_the_settings_that_a_project_can_set() -> None:
    said = between("docs/guide.md", "A project can set ", " All other settings")
    assert quoted(said) == set(project_settings.KEYS)


def test_the_pages_name_every_client_and_every_provider() -> None:
    rows = between("docs/mcp.md", "| client | file in the project", "`--write` uses the file")
    assert {name for name in CLIENTS if f"| `{name}` |" in rows} == set(CLIENTS)
    structured = [one.title for one in CLIENTS.values() if one.shows_structured]
    assert structured == ["Claude Code", "VS Code", "Codex"]
    assert "Claude Code, Codex and VS Code show their model" in page("docs/mcp.md")
    said = between("docs/troubleshooting.md", "The clients are ", ". 2.")
    assert quoted(said) == set(CLIENTS) - {"generic"}
    assert set(PROVIDERS) <= quoted(between("docs/agents.md", "`--provider` selects", ". Vespe"))
    assert all(f"| `{name}` |" in page("docs/providers.md") for name in PROVIDERS)


def test_the_page_of_providers_has_their_time_limits() -> None:
    limits = Patience()
    said = (
        f"{limits.connect_s:g} s to connect, {limits.stall_s:g} s without data, "
        f"{limits.total_s:g} s in total."
    )
    assert said in page("docs/providers.md")
    assert limits.retries == 2 and f"after {limits.backoff_s} s and after 1 s" in page(
        "docs/providers.md"
    )
    assert f"more than {limits.retry_after_cap_s:g} s, there is no retry" in page(
        "docs/providers.md"
    )


def test_the_page_of_programs_names_every_module_that_can_be_imported() -> None:
    said = between("docs/programs.md", "without access to the machine. ", " can be imported")
    assert quoted(said) == MODULES


def test_the_page_of_security_numbers_the_promises_as_the_tests_do() -> None:
    rows = re.findall(r"^\| (P[^|]+) \|", (ROOT / "docs/security.md").read_text("utf-8"), re.M)
    promised: set[str] = set()
    for row in rows:
        first, _, last = row.partition("–P")
        promised |= (
            {f"{number}" for number in range(int(first[1:]), int(last) + 1)}
            if last
            else {one.removeprefix("P") for one in row.split(", ")}
        )
    tests = "\n".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")
    )
    tested = {number.lstrip("0") for number in re.findall(r"def test_p(\d+[a-z]?)_", tests)}
    assert [row for row in promised if int(row.rstrip("bc")) <= 50 and row not in tested] == []


def test_every_example_is_counted() -> None:
    count = len(list((ROOT / "docs/examples").glob("*.md"))) - 1
    assert count == 10 and "Ten complete examples." in page("docs/examples/index.md")


def test_figures_in_sentences_are_those_of_the_kept_runs() -> None:
    browse = kept("results")["browse"]
    whole, parts = browse["whole"], browse["parts"]
    assert (
        f"{round(whole['conversation'], -3):,} tokens at its end; in parts, it has "
        f"{round(parts['conversation'], -3):,}. All requests together send "
        f"{whole['sent'] / 1e6:.1f} million tokens with whole results and "
        f"{parts['sent'] / 1e6:.1f} million in parts"
    ) in page("docs/agents.md")
    flows = kept("flows")
    assert flows["slipped"] == [] and (
        f"all {flows['pairs']} pairs of a task and an injected instruction; of the "
        f"{flows['tasks']} tasks without an injection, {flows['free']} run without a question"
    ) in page("docs/right-tools.md")
    apis = kept("apis")["counts"]
    assert (
        f"all {apis['openai-responses: conversations']} conversations and "
        f"{apis['openai-responses: answers']} answers of Responses and all "
        f"{apis['gemini: answers']} answers of Interactions"
    ) in page("docs/adapters.md")
    changed = kept("mutations")
    assert changed["missed"] == changed["ran"] == []
    reliability = page("docs/reliability.md")
    assert f"Of {changed['tried']} changes, `vespe kit verify` noticed all" in reliability
    for name, how in (("concurrency", ""), ("kills", ", killed at random")):
        found = kept(name)
        made = f"| {found['mutations']} | {found['kills']} | {len(found['lost'])} |"
        assert f"| 16 processes × 50{how} {made}" in reliability


def test_the_table_of_crashes_is_that_of_the_kept_run() -> None:
    points: dict[str, list[int]] = {}
    unconfirmed: Counter[str] = Counter()
    for found in kept("crash"):
        name, _, where = found["verb"].partition(", ")
        verb = f"`{name}`, {where}" if where else f"`{name}`"
        points.setdefault(verb, []).append(found["points"])
        unconfirmed[verb] += found["unconfirmed"]
        assert found["lost"] == []
    rows = [
        f"| {verb} | {' | '.join(map(str, each))} | {sum(each)} | {sum(each)} | "
        f"{unconfirmed[verb]} |"
        for verb, each in points.items()
    ]
    sums = [sum(each) for each in zip(*points.values(), strict=True)]
    survived = f"**{sum(sums)}** | **{sum(sums)}**"
    rows.append(f"| all | {' | '.join(map(str, sums))} | {survived} | {unconfirmed.total()} |")
    assert f"|---|---|---|---|---|---|---| {' '.join(rows)} " in page("docs/reliability.md")


def test_the_bridge_costs_as_little_as_its_page_says() -> None:
    def double(n: int) -> int:
        """Double a number."""
        return 2 * n

    declared = Toolset(double, tools_mode="bridge").openai()
    assert "costs less than 400" in page("docs/right-tools.md")
    assert len(strict_json.compact_json(declared)) / CHARACTERS_PER_TOKEN < 400


def test_messages_in_fences_that_are_not_run_are_those_of_the_code() -> None:
    shown = [
        ("troubleshooting", NotTrusted("…")),
        (
            "troubleshooting",
            MissingExtra("making arguments", extra="fuzz", module="hypothesis_jsonschema"),
        ),
        (
            "remote-servers",
            LoginRequired(
                "notes",
                why="requires the scope 'notes:write', which its login does not have",
                command="vespe mcp login notes --scope notes:write",
            ),
        ),
    ]
    for name, error in shown:
        assert f"vespe: error: {error}" in page(f"docs/{name}.md")
    with pytest.raises(Refused) as refused:
        mcp_skills.check(
            b"x",
            {"size": 1, "digest": f"sha256:{'0' * 64}", "uri": "skill://pdf-processing/SKILL.md"},
        )
    assert f"vespe: error: {refused.value}" in page("docs/kits.md")
    assert mcp_skills.changed_hint("pdf") in page("docs/kits.md")
    assert shown[2][1].hint in page("docs/remote-servers.md")


def test_the_page_of_mcp_names_every_scenario_that_is_left_out() -> None:
    excused = json.loads(
        (ROOT / "tests/cases/mcp/conformance_not_applicable.json").read_text(encoding="utf-8")
    )
    said = page("docs/mcp.md")
    everywhere = between("docs/mcp.md", "| scenario | reason |", "Two of the 29 checks")
    assert quoted(everywhere) == set(excused["everywhere"])
    over_stdio = between("docs/mcp.md", "the bridge and not the server:", "A scenario that is left")
    assert quoted(over_stdio) == set(excused["stdio"])
    for scenario, reason in {**excused["everywhere"], **excused["stdio"]}.items():
        assert f"`{scenario}`" in said and reason in said
    found = kept("conformance_server")["table"]
    assert found["server-stateless"]["2026-07-28 http"].startswith("passed: 27 of 29 checks")
    tasks = {
        name: one
        for name, one in kept("conformance_extensions")["found"].items()
        if name.startswith("tasks-")
    }
    skipped = [name for name, one in tasks.items() if "skipped" in one]
    assert skipped == ["tasks-status-notifications"] and len(tasks) == 10
    assert all(one["ok"] for one in tasks.values())
    assert "The nine task scenarios of the conformance suite pass." in said


OPTIONS: dict[str, Any] = {
    "max_tokens": 100,
    "stop": ["."],
    "tool_choice": {"type": "function", "function": {"name": "add"}},
    "parallel_tool_calls": False,
    "seed": 7,
    "reasoning_effort": "low",
    "response_format": {
        "type": "json_schema",
        "json_schema": {"name": "x", "schema": {"type": "object"}, "strict": True},
    },
}


def fate_of(option: str, provider: Any) -> str:
    """Return what a provider does with an option of OpenAI, in the words of the page."""
    function = {"name": "add", "parameters": {"type": "object"}}
    messages = [{"role": "user", "content": "x"}]
    tools = [{"type": "function", "function": function}]
    before = provider.payload(messages, tools)
    try:
        after = provider.payload(messages, tools, options={option: OPTIONS[option]})
    except UsageError:
        return "`auto` and `none` only" if option == "tool_choice" else "refused"
    changed = {key: value for key, value in after.items() if before.get(key) != value}
    if not changed:
        return "left out"
    if changed == {"options": {option: OPTIONS[option]}} and option == "reasoning_effort":
        return "sent in `options`"
    return "sent unchanged" if changed == {option: OPTIONS[option]} else "translated"


def test_the_page_of_providers_says_what_becomes_of_each_option() -> None:
    providers = [
        AnthropicProvider("m"),
        GeminiProvider("m"),
        OllamaProvider("m"),
        OpenAIResponsesProvider("m"),
    ]
    assert "| option | Anthropic | Gemini | Ollama | Responses |" in page("docs/providers.md")
    for option in OPTIONS:
        fates = " | ".join(fate_of(option, provider) for provider in providers)
        assert f"| `{option}` | {fates} |" in page("docs/providers.md")


def test_the_page_on_python_says_which_errors_a_model_can_correct() -> None:
    classes = {
        one.code: one
        for one in vars(errors).values()
        if isinstance(one, type) and issubclass(one, errors.VespeError)
    }
    said = between("docs/python.md", "The most common codes are:", "## Implementations")
    first, _, second = said.partition("- not retryable")
    for listed, retryable in ((first, True), (second, False)):
        for code in quoted(listed) - {"max_calls"}:
            assert classes[code].retryable is retryable, code


def test_the_page_of_extras_lists_them_all() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    page = (ROOT / "docs/troubleshooting.md").read_text(encoding="utf-8")
    rows = page.partition("| extra |")[2].partition("\n\n")[0].splitlines()[2:]
    listed = {name for row in rows for name in re.findall(r"`([a-z]+)`", row.split("|")[1])}
    assert listed == set(project["optional-dependencies"]) - {"dev"}
