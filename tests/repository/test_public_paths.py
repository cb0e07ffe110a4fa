"""The public paths of 0.2: every name can be imported from where its users import it.

The table is literal. A module that moves leaves its public path behind; see `docs/api.md`.
"""

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import vespe

PAGE = Path(__file__).resolve().parents[2] / "docs/api.md"
PUBLIC = {
    "vespe": """
        Agent AgentOptions AmbiguousTool Answer AnthropicProvider Call CallPolicy ClaudeHandler
        ClaudeStreamingProcessor Declined EventSystem Failure FunctionTool GeminiProvider GptHandler GptStreamingProcessor
        Implementation InteractionsHandler InteractionsStreamingProcessor InvalidArguments InvalidDocument InvalidTool Kit KitNotFound LLMProvider
        Limits MissingExtra NotTrusted OllamaHandler OllamaProvider OllamaStreamingProcessor
        OpenAIProvider OpenAIResponsesProvider Outcome ParsingError Patience PersonReply Project ProjectConfig ProjectNotFound Question
        RecordingProvider ReplayProvider Resolution ResponsesHandler ResponsesStreamingProcessor RunResult SimulatedProvider StreamContext
        StreamEvent StreamResult StreamingRequest Tool ToolExecutionError ToolFunction ToolHandler
        ToolImplementation ToolImplementationNotFound ToolNotFound ToolOptions ToolQuestion ToolRegistry Toolset
        Transcript UsageError VespeError __version__ aask answered_by ask create_tool execute_tool list_available_tools
        load_tool report_message report_progress resolve_tool run_loop serve_http serve_stdio tool
    """,
    "vespe.errors": """
        AddressRefused AmbiguousTool Declined Diverged Interrupted InvalidArguments InvalidDocument
        InvalidOutput InvalidTool InvalidToolCall KitNotFound LoginRequired MissingExtra MissingKey MissingSecret
        NeedsInput NotDurable NotFound NotTrusted OutputTooLarge ParsingError PermissionDenied ProjectNotFound
        ProviderError Refused SecretUnavailable SessionEnded SourceUnavailable StorageError
        StreamError TimedOut ToolExecutionError ToolImplementationNotFound ToolNotFound UsageError VespeError
    """,
    "vespe.models": """
        Call Candidate Entry Execution Facade Failure Implementation JsonObject JsonValue Kit
        Outcome Permissions ProjectConfig Resolution Row SEVERITIES Severity Tool
    """,
    "vespe.testing": "acall call example_results",
    "vespe.agents.recordings": "RecordingProvider ReplayProvider",
    "vespe.adapters": "ADAPTERS SHAPES",
    "vespe.adapters.anthropic": """
        AnthropicAdapter AnthropicShape from_anthropic_usage from_openai_messages to_anthropic_usage
        to_finish_reason to_openai_messages to_stop_reason
    """,
    "vespe.adapters.gemini": "GeminiAdapter GeminiShape",
    "vespe.adapters.mcp": "McpAdapter McpShape from_tool_message to_tool_message",
    "vespe.adapters.ollama": """
        OllamaAdapter OllamaShape done_reason_of finish_reason_of_done from_ollama_usage
        from_openai_messages to_ollama_usage to_openai_messages
    """,
    "vespe.adapters.openai": "OpenAIAdapter OpenAIShape read_function to_wire",
    "vespe.adapters.openai_responses": "OpenAIResponsesAdapter OpenAIResponsesShape",
}
NAMES = {module: tuple(names.split()) for module, names in PUBLIC.items()}
APIS = ("anthropic", "gemini", "mcp", "ollama", "openai", "openai-responses")
EXAMPLES = """
from vespe import tool

@tool(examples=[{"input": {"n": 2}, "output": 4}, {"input": {"n": 3}, "output": 7}])
def double(n: int) -> int:
    return 2 * n

def test_itself():
    assert double(2) == 4
"""


def test_every_name_is_imported_from_its_public_path_without_a_warning() -> None:
    lines = "\n".join(f"from {module} import {name}" for module in NAMES for name in NAMES[module])
    command = [sys.executable, "-W", "error", "-c", lines]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr


def test_a_name_with_several_public_paths_is_the_same_thing_by_all_of_them() -> None:
    for module in ("vespe.errors", "vespe.models", "vespe.agents.recordings"):
        shared = set(NAMES[module]) & set(NAMES["vespe"])
        there = importlib.import_module(module)
        different = [name for name in shared if getattr(there, name) is not getattr(vespe, name)]
        assert shared and different == []


def test_errors_are_caught_by_the_classes_that_programs_name() -> None:
    errors = importlib.import_module("vespe.errors")
    kinds = [getattr(errors, name) for name in NAMES["vespe.errors"]]
    for kind in kinds:
        assert issubclass(kind, errors.VespeError | errors.Interrupted), kind
    assert issubclass(errors.ToolNotFound, errors.NotFound)
    assert issubclass(errors.NotTrusted, errors.Refused)


def test_shapes_and_adapters_are_found_by_the_names_of_their_apis() -> None:
    adapters = importlib.import_module("vespe.adapters")
    tool = vespe.Tool(
        uid="tool-x", name="x", description="A tool.", input_schema={"type": "object"}
    )
    assert set(adapters.SHAPES) >= set(APIS) and set(adapters.ADAPTERS) >= {*APIS, "text"}
    assert all(adapters.ADAPTERS[api](tool).generate_tool_description() for api in APIS)


def test_the_page_of_the_api_names_the_public_modules_and_says_that_nothing_else_is() -> None:
    page = PAGE.read_text(encoding="utf-8")
    head = page.partition("\n## ")[0]
    assert [module for module in NAMES if f"`{module}`" not in head] == []
    assert "Nothing else is public" in head


@pytest.mark.parametrize("asked", ["option", "setting"])
def test_pytest_finds_the_plug_in_by_its_entry_point(asked: str, tmp_path: Path) -> None:
    (tmp_path / "test_tools.py").write_text(EXAMPLES, encoding="utf-8")
    setting = "vespe_examples = true\n" if asked == "setting" else ""
    (tmp_path / "pytest.ini").write_text(f"[pytest]\n{setting}", encoding="utf-8")
    option = ["--vespe-examples"] if asked == "option" else []
    # `-p vespe` is the name of the entry point, not of a module: without other plug-ins it is
    # loaded alone.
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-p",
        "vespe",
        "-rA",
        *option,
    ]
    alone = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=alone,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert "2 passed, 1 failed" in done.stdout or "1 failed, 2 passed" in done.stdout, done.stdout
    assert "double[example 1]" in done.stdout


def test_every_name_that_the_page_of_names_leads_to_is_there() -> None:
    page = (PAGE.parent / "names.md").read_text(encoding="utf-8")
    now = [row.split(" | ", 1)[1] for row in page.splitlines() if row.startswith("| `")]
    named = sorted({name for cell in now for name in re.findall(r"`(vespe(?:\.\w+)+)`", cell)})
    assert len(named) > 12
    for name in named:
        assert found(name), f"there is no {name}"


def found(name: str) -> bool:
    """Whether a dotted name is a module's, or a class's member or field."""
    words = name.split(".")
    for number in range(len(words), 0, -1):
        try:
            here: object = importlib.import_module(".".join(words[:number]))
        except ModuleNotFoundError:
            continue
        for word in words[number:]:
            fields = getattr(here, "__annotations__", {})
            if not hasattr(here, word) and word not in fields:
                return False
            here = getattr(here, word, None)
        return True
    return False


def test_the_options_of_a_function_stand_in_its_signature_by_their_name() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert "*, name: str = ..., description: str = ..., title: str = ..." in text
    assert "Unpack[" not in text and "*..." not in text and "(*args, **kwargs)" not in text
    assert "async (name: str, /, **arguments: Any) -> Outcome" in text and "(self" not in text
