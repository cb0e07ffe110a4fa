"""The limits and defaults that the pages name are those of the code: each sentence is written here
with the code's own number in it, and has to be on its page.
"""

import importlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


def plain(value: Any) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:g}"


def mib(value: Any) -> str:
    return plain(value / 2**20)


def kib(value: Any) -> str:
    return plain(value / 2**10)


def minutes(value: Any) -> str:
    return {5: "five", 10: "ten", 15: "15"}[int(value) // 60]


def weeks(value: Any) -> str:
    return {7 * 24 * 3600: "a week", 7 * 24 * 3600 * 1000: "a week"}[value]


def milliseconds(value: Any) -> str:
    return plain(value * 1000)


def word(value: Any) -> str:
    return {3: "three", 8: "eight", 2: "two"}[int(value)]


NUMBERS: list[tuple[str, str, str, Callable[[Any], str]]] = [
    ("guide.md", "removes those not used for {} days", "vespe.cli.cache.clean:_DAYS", plain),
    (
        "guide.md",
        "how many redirects to follow, up to {};",
        "vespe.http.client:MAX_REDIRECTS",
        plain,
    ),
    ("guide.md", "and are kept for {}.", "vespe.features.tasks.store:TTL_MS", weeks),
    ("guide.md", "lists the {} newest tasks", "vespe.features.tasks.verbs.list:_MOST", plain),
    ("guide.md", "keeps only the newest {} to 8 MiB", "vespe.calls.log:MAX_LOG_BYTES", mib),
    (
        "guide.md",
        "an estimate of four characters per token",
        "vespe.adapters.cost:CHARACTERS_PER_TOKEN",
        {4: ""}.__getitem__,
    ),
    ("kits.md", "at most {} files and directories,", "vespe.kits.entry_rules:MAX_ENTRIES", plain),
    ("kits.md", "{} MiB per file", "vespe.kits.entry_rules:MAX_ENTRY_BYTES", mib),
    ("kits.md", "{} MiB in total", "vespe.kits.entry_rules:MAX_TOTAL_BYTES", mib),
    ("kits.md", "can take at most {} seconds", "vespe.git.session:TIMEOUT_S", plain),
    (
        "kits.md",
        "`kit install` together can have at most {} files",
        "vespe.kits.fetch:MAX_ENTRIES",
        plain,
    ),
    ("kits.md", "more than {} files or", "vespe.tools.mcp_skills:MAX_FILES", plain),
    ("kits.md", "files or {} MiB, and says why", "vespe.tools.mcp_skills:MAX_SIZE", mib),
    ("agents.md", "at most {} at a time", "vespe.features.agents.turns:MAX_PARALLEL", plain),
    (
        "agents.md",
        "`--max-iterations` (default {})",
        "vespe.features.agents.limits:MAX_ITERATIONS",
        plain,
    ),
    ("agents.md", "calls that run (default {})", "vespe.features.agents.limits:MAX_CALLS", plain),
    ("agents.md", "`limits.max_output_bytes` ({} MiB)", "vespe.defaults:MAX_OUTPUT_BYTES", mib),
    ("agents.md", "{} tokens of four characters each", "vespe.defaults:MODEL_TOKENS", plain),
    ("agents.md", "are deleted after {},", "vespe.adapters.large_results.kept:MAX_AGE_S", weeks),
    ("agents.md", "exceed {} MiB", "vespe.adapters.large_results.kept:MAX_BYTES", mib),
    ("agents.md", "or {} s if it has none", "vespe.features.agents.events:TIMEOUT_S", plain),
    (
        "agents.md",
        "every {} ms while the loop waits",
        "vespe.features.agents.events:_BEAT_S",
        milliseconds,
    ),
    (
        "providers.md",
        "waits at most {} s for more",
        "vespe.features.agents.providers.turns:_LAST_S",
        plain,
    ),
    (
        "providers.md",
        "at most {} MiB after decompression",
        "vespe.features.agents.providers.endpoint:MAX_ANSWER_BYTES",
        mib,
    ),
    ("mcp.md", "by name, {} per page", "vespe.features.mcp.server.pages:PAGE", plain),
    (
        "mcp.md",
        "up to `--max-calls` ({})",
        "vespe.features.mcp.server.calls_in_flight:MAX_CALLS",
        plain,
    ),
    (
        "mcp.md",
        "Up to {} more calls wait",
        "vespe.features.mcp.server.calls_in_flight:_MAX_WAITING",
        plain,
    ),
    ("mcp.md", "({} tokens of four characters by default)", "vespe.defaults:MODEL_TOKENS", plain),
    (
        "mcp.md",
        "these arguments, for {} minutes",
        "vespe.features.mcp.server.request_state:HOLDS_S",
        minutes,
    ),
    ("mcp.md", "**You have {} minutes.**", "vespe.calls.asking:ASK_TIMEOUT_S", minutes),
    ("mcp.md", "at most {} MiB (413)", "vespe.features.mcp.server.http_gate:MAX_BODY_BYTES", mib),
    ("mcp.md", "Headers must arrive within {} s", "vespe.http.server:HEADERS_S", plain),
    ("mcp.md", "the body within {} s", "vespe.http.asgi:BODY_S", plain),
    ("mcp.md", "At most {} connections", "vespe.http.server:MAX_UNDECIDED", plain),
    (
        "mcp.md",
        "At most {} requests are processed at once",
        "vespe.features.mcp.server.http_gate:MAX_REQUESTS",
        plain,
    ),
    (
        "mcp.md",
        "takes longer than {} ms",
        "vespe.features.mcp.server.http_exchange:JSON_S",
        milliseconds,
    ),
    (
        "mcp.md",
        "gets JSON for up to {} s",
        "vespe.features.mcp.server.http_exchange:PING_S",
        plain,
    ),
    (
        "mcp.md",
        "or {} other sessions",
        "vespe.features.mcp.server.http_sessions:MAX_SESSIONS",
        plain,
    ),
    ("mcp.md", "unused for {} minutes ends", "vespe.types.mcp_tool.sessions:IDLE_S", minutes),
    ("mcp.md", "At most {} unused sessions", "vespe.types.mcp_tool.sessions:MAX_SESSIONS", word),
    ("mcp.md", "closes stdin (after at most {} s)", "vespe.defaults:GRACE_S", plain),
    ("mcp.md", "Results are kept for {}.", "vespe.features.tasks.store:TTL_MS", weeks),
    (
        "remote-servers.md",
        "It waits {} minutes for you to log in",
        "vespe.features.oauth.person:PATIENCE_S",
        minutes,
    ),
    (
        "remote-servers.md",
        "before the login share a limit of {} seconds",
        "vespe.features.oauth.transport:DEADLINE_S",
        plain,
    ),
    (
        "sandbox.md",
        "searching up to {} directories",
        "vespe.files.repositories:MOST_DIRECTORIES",
        plain,
    ),
    ("sandbox.md", "stacks larger than {} MiB", "vespe.processes.sandbox.enter:_STACK", mib),
    (
        "sandbox.md",
        "a copy of it (up to 1 GiB)",
        "vespe.features.examples.examples:_MOST_COPIED",
        {2**30: ""}.__getitem__,
    ),
    ("security.md", "with the approval, up to {} MiB", "vespe.trust.review:_MAX_COMPARED", mib),
    ("security.md", "{} MiB per line", "vespe.features.mcp.server.stdio:MAX_LINE_BYTES", mib),
    (
        "secrets.md",
        "does not answer within {} seconds",
        "vespe.features.secrets.keyrings:TIMEOUT_S",
        plain,
    ),
    ("secrets.md", "it is larger than {} KiB", "vespe.features.secrets.sources:MOST_BYTES", kib),
    (
        "secrets.md",
        "After {} seconds (`timeout_s`",
        "vespe.features.secrets.references:TIMEOUT_S",
        plain,
    ),
    ("secrets.md", "at most {})", "vespe.features.secrets.references:_LONGEST_S", plain),
    (
        "secrets.md",
        "or for {} minutes if the server does not state a lifetime",
        "vespe.features.secrets.kept:FRESH_S",
        minutes,
    ),
    (
        "secrets.md",
        "fetches it again after {} minutes",
        "vespe.features.secrets.kept:FRESH_S",
        minutes,
    ),
    (
        "secrets.md",
        "fewer than {} characters (`ollama`",
        "vespe.features.secrets.settings:_SHORTEST_KEY",
        plain,
    ),
    (
        "secrets.md",
        "A value of 1 to {} characters",
        "vespe.documents.redaction:SHORTEST",
        lambda shortest: plain(shortest - 1),
    ),
    (
        "questions.md",
        "Vespe asks again, up to {} times in total",
        "vespe.calls.asking:_TRIES",
        word,
    ),
    ("questions.md", "A call asks at most {} questions", "vespe.calls.asking:MAX_QUESTIONS", plain),
    ("questions.md", "A question has at most {} characters", "vespe.calls.asking:MAX_TEXT", plain),
    ("questions.md", "and a line {} KiB", "vespe.processes.ask_channel:MAX_LINE", kib),
    (
        "programs.md",
        "| size of the program | {} KiB |",
        "vespe.features.programs.source:MAX_BYTES",
        kib,
    ),
    (
        "programs.md",
        "| time | {} s, including its calls |",
        "vespe.features.programs.running:TIMEOUT_S",
        plain,
    ),
    ("programs.md", "| memory | {} MiB |", "vespe.features.programs.interpreter:MEMORY_BYTES", mib),
    ("programs.md", "| calls | {} |", "vespe.features.programs.running:MAX_CALLS", plain),
    (
        "programs.md",
        "| result and printed output | {} MiB together |",
        "vespe.defaults:MAX_OUTPUT_BYTES",
        mib,
    ),
    ("streaming.md", "can have up to {} MiB and a body", "vespe.defaults:MAX_EVENT_BYTES", mib),
    ("streaming.md", "and a body up to {} MiB", "vespe.defaults:MAX_STREAM_BYTES", mib),
    ("tracing.md", "at most {} seconds longer to exit", "vespe.calls.otlp:_PATIENCE_S", word),
    (
        "reliability.md",
        "exit after {} seconds without a call",
        "vespe.processes.zygote:IDLE_S",
        plain,
    ),
    ("reliability.md", "exits after {} calls", "vespe.processes.zygote:MAX_CALLS", plain),
    (
        "compiled.md",
        "it has no network, no environment variables, {} MiB of memory",
        "vespe.types.wasm.execution:MEMORY_MB",
        plain,
    ),
    ("compiled.md", "the call's deadline ({} s by default)", "vespe.defaults:TIMEOUT_S", plain),
    (
        "agents.md",
        "`output_file`; Vespe keeps the {} newest)",
        "vespe.calls.log:MAX_OUTPUTS",
        plain,
    ),
    ("agents.md", "writes more than {} MiB is ended", "vespe.defaults:LARGER_CAP_BYTES", mib),
    ("python.md", "(Vespe keeps the {} newest)", "vespe.calls.log:MAX_OUTPUTS", plain),
    (
        "batches.md",
        "With up to a hundred workers, a chunk takes about one second. With more, it takes 0.01 seconds",
        "vespe.features.batch.cluster:_TASKS_PER_S",
        {100: ""}.__getitem__,
    ),
    ("batches.md", "`limits.max_output_bytes` ({} MiB)", "vespe.defaults:MAX_OUTPUT_BYTES", mib),
    ("compiled.md", "above {} MiB the module is stopped", "vespe.defaults:LARGER_CAP_BYTES", mib),
    ("compiled.md", "the last {} KiB", "vespe.defaults:LOG_TAIL_BYTES", kib),
    (
        "adapters.md",
        "of more than {} characters",
        "vespe.adapters.definition_parts:_LONGEST_EXAMPLE",
        plain,
    ),
    (
        "adapters.md",
        "at most {} characters. This is not undone",
        "vespe.adapters.anthropic.contents:_LONGEST_NAME",
        plain,
    ),
]


def page(name: str) -> str:
    """Return a page with every run of white space as one space."""
    return re.sub(r"\s+", " ", (ROOT / "docs" / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize(("name", "sentence", "place", "said"), NUMBERS)
def test_a_number_on_a_page_is_the_number_of_the_code(
    name: str, sentence: str, place: str, said: Callable[[Any], str]
) -> None:
    module, _, constant = place.partition(":")
    value = getattr(importlib.import_module(module), constant)
    assert sentence.format(said(value)) in page(name), f"{place} is {value}"
