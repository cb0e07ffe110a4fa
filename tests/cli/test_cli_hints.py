"""Every command that a message, a help page or a page of the docs names is one that can be
typed.
"""

import ast
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest

import vespe
from vespe.cli import group as root

Command = Callable[..., Any]
ROOT = Path(vespe.__file__).resolve().parent.parent
NAMED = re.compile(r"`vespe((?: [^`]*)?)`")
AT_ONCE = re.compile(r"vespe ((?:[a-z][a-z-]*)(?: .*)?)", re.DOTALL)


def texts(tree: ast.AST) -> Iterator[str]:
    """Yield the strings of a module, an expression within one as the word X."""
    within = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in ast.walk(node)
        if part is not node
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values
            )
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in within
        ):
            yield node.value


def commands(text: str) -> Iterator[str]:
    """Yield the command lines that a text names."""
    yield from (found[1] for found in NAMED.finditer(text))
    if alone := AT_ONCE.fullmatch(text):
        yield f" {alone[1]}"


def named() -> Iterator[tuple[str, str, bool]]:
    """Yield each command line that is named, with its place, and whether it stands in a hint, which
    is typed as it is.
    """
    for module in sorted((ROOT / "vespe").rglob("*.py")):
        tree, place = ast.parse(module.read_text(encoding="utf-8")), str(module.relative_to(ROOT))
        for node in ast.walk(tree):
            if isinstance(node, ast.keyword) and node.arg == "hint":
                yield from (
                    (place, line, True) for text in texts(node.value) for line in commands(text)
                )
        yield from (
            (place, found[1], False) for text in texts(tree) for found in NAMED.finditer(text)
        )
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        text = page.read_text(encoding="utf-8")
        yield from (
            (str(page.relative_to(ROOT)), found[1], False) for found in NAMED.finditer(text)
        )


def problem(line: str, *, whole: bool) -> str:
    """Say why a command line could not be typed, or "" where it could; one that is not `whole` may
    lack arguments.
    """
    words = shlex.split(
        re.sub(r"\s*(…|\.\.\.)\s*", " ", re.sub(r"(\w+)(\|\w+)+", r"\1", line))
        .replace("\n", " ")
        .replace("[", "")
        .replace("]", "")
    )
    command: click.Command = root
    # A command keeps the option of its help as it is first asked for.
    context = click.Context(root, info_name="vespe", **root.context_settings)
    try:
        while (
            isinstance(command, click.Group)
            and words
            and not words[0].startswith("-")
            and not words[0].isupper()
        ):
            name, found, words = command.resolve_command(context, words)
            assert found is not None
            command, context = found, click.Context(found, info_name=name, parent=context)
        if not whole:
            command.make_parser(context).parse_args(list(words))
        elif isinstance(command, click.Group):
            return "a group does nothing by itself"
        else:
            command.parse_args(context, list(words))
    except click.UsageError as error:
        return (
            ""
            if error.format_message().endswith("requires an argument.") and not whole
            else error.format_message()
        )
    return ""


def test_every_command_that_is_named_can_be_typed() -> None:
    said = [*named()]
    wrong = [
        f"{place}: vespe{line}: {why}"
        for place, line, whole in said
        if (why := problem(line, whole=whole))
    ]
    assert wrong == [] and sum(whole for _, _, whole in said) > 40


def test_a_word_that_is_near_one_of_a_list_is_told_wherever_a_word_is_chosen(
    command: Command, project: Path
) -> None:
    (project / "tools.json").write_text(
        '{"tools": [{"name": "get_pet", "inputSchema": {"type": "object"}}]}', encoding="utf-8"
    )
    command("kit", "activate", "file_io_without_git")
    near = {
        "config set aprovals.deny x": "approvals",
        "config set providers.mine.api opnai": "openai",
        "config set agent.providr x": "provider",
        "config set providers.mine.base_ulr x": "base_url",
        "agent run --provider olama --model x hi": "ollama",
        "kit deactivate file_io": "file_io_without_git",
        "kit activate file_io_wihtout_git": "file_io_without_git",
        "tool import tools.json getpet": "get_pet",
        "tool show raed_file": "read_file",
        "lint --select scema": "schema",
        "lint --target opnai": "openai",
        "export --as opnai": "openai",
        "tool create x --type python": "python_script",
        "connect cursr": "cursor",
        "kit import x --id y --kind opnapi": "openapi",
        "help exitcodes": "exit-codes",
        "tool list --size --as antropic": "anthropic",
        "agent run --approve al hi": "all",
        "schema tol": "tool",
        "batch read_file tools.json --on dsk -o y": "dask",
    }
    said = {line: command(*line.split()).err for line in near}
    wrong = {
        line: said[line]
        for line, word in near.items()
        if "did you mean" not in said[line] or word not in said[line]
    }
    assert wrong == {}


TAKEN = re.compile(
    r"(pip3?|pipx|uv tool|uv pip|uv) install (-\S+ "
    r")*[\"']?vespe\b|(uvx|npx|pipx run) (-\S+ )*vespe\b"
    r"|gh:vespe/|github\.com/vespe/"
)
"""Names on public indexes that are not ours: whoever registers one runs code where it is
followed.
"""


def test_nothing_says_to_install_or_to_run_a_name_that_a_stranger_could_own() -> None:
    pages = [
        *(ROOT / "vespe").rglob("*.py"),
        ROOT / "README.md",
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "kits").rglob("*.md"),
    ]
    pages += [*(ROOT / ".github").rglob("*.yml"), *(ROOT / "vespe" / "data").rglob("*.json")]
    found = [
        f"{page}: {told[0]}"
        for page in pages
        for told in TAKEN.finditer(page.read_text(encoding="utf-8"))
    ]
    assert (
        found == [] and TAKEN.search('pip install "vespe[mcp]"') and TAKEN.search("uvx vespe demo")
    )


def test_an_option_of_the_commands_that_comes_too_early_is_told_its_place(command: Command) -> None:
    assert "`vespe tool list --project DIR`" in command("--project", "x", "tool", "list").err


@pytest.mark.parametrize(
    "line", [" kit sink", " trust --yess", " tool copy", " kit", " export --as API"]
)
def test_one_that_cannot_be_typed_is_noticed(line: str) -> None:
    assert problem(line, whole=True)
