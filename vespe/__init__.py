"""Manage the tools that LLM agents call: define a tool once, check and confine its calls, and use
it with every model API.

`__all__` is the public promise; a name's module is imported when the name is first used (PEP 562).
"""

import importlib
from typing import TYPE_CHECKING, Any

from vespe import features
from vespe.defaults import VERSION as __version__

if TYPE_CHECKING:
    from vespe.adapters.streams.anthropic import ClaudeStreamingProcessor
    from vespe.adapters.streams.base import StreamEvent
    from vespe.adapters.streams.gemini_interactions import InteractionsStreamingProcessor
    from vespe.adapters.streams.ollama import OllamaStreamingProcessor
    from vespe.adapters.streams.openai import GptStreamingProcessor
    from vespe.adapters.streams.openai_responses import ResponsesStreamingProcessor
    from vespe.calls.asking import PersonReply, ToolQuestion, aask, answered_by, ask
    from vespe.calls.policy import Answer, CallPolicy, Question
    from vespe.calls.progress import report_message, report_progress
    from vespe.calls.registry import ToolImplementation, ToolRegistry
    from vespe.errors import (
        AmbiguousTool,
        Declined,
        InvalidArguments,
        InvalidDocument,
        InvalidTool,
        KitNotFound,
        MissingExtra,
        NotTrusted,
        ParsingError,
        ProjectNotFound,
        ToolExecutionError,
        ToolImplementationNotFound,
        ToolNotFound,
        UsageError,
        VespeError,
    )
    from vespe.features.agents.agent import Agent, AgentOptions, run_loop
    from vespe.features.agents.events import EventSystem
    from vespe.features.agents.handler_base import (
        StreamContext,
        StreamingRequest,
        StreamResult,
        ToolHandler,
    )
    from vespe.features.agents.handlers import (
        ClaudeHandler,
        GptHandler,
        InteractionsHandler,
        OllamaHandler,
        ResponsesHandler,
    )
    from vespe.features.agents.limits import Limits
    from vespe.features.agents.loop import RunResult
    from vespe.features.agents.providers.anthropic import AnthropicProvider
    from vespe.features.agents.providers.base import LLMProvider
    from vespe.features.agents.providers.gemini import GeminiProvider
    from vespe.features.agents.providers.ollama import OllamaProvider
    from vespe.features.agents.providers.openai import OpenAIProvider
    from vespe.features.agents.providers.openai_responses import OpenAIResponsesProvider
    from vespe.features.agents.providers.retries import Patience
    from vespe.features.agents.providers.simulated import SimulatedProvider
    from vespe.features.agents.recordings import RecordingProvider, ReplayProvider
    from vespe.features.agents.toolsets.toolset import Toolset
    from vespe.features.agents.transcripts import Transcript
    from vespe.features.mcp.server.library import serve_http, serve_stdio
    from vespe.library.function_tools import FunctionTool, ToolFunction, ToolOptions, tool
    from vespe.library.project import Project
    from vespe.library.verbs import (
        create_tool,
        execute_tool,
        list_available_tools,
        load_tool,
        resolve_tool,
    )
    from vespe.models import (
        Call,
        Failure,
        Implementation,
        Kit,
        Outcome,
        ProjectConfig,
        Resolution,
        Tool,
    )

__all__ = [
    "Agent",
    "AgentOptions",
    "AmbiguousTool",
    "Answer",
    "AnthropicProvider",
    "Call",
    "CallPolicy",
    "ClaudeHandler",
    "ClaudeStreamingProcessor",
    "Declined",
    "EventSystem",
    "Failure",
    "FunctionTool",
    "GeminiProvider",
    "GptHandler",
    "GptStreamingProcessor",
    "Implementation",
    "InteractionsHandler",
    "InteractionsStreamingProcessor",
    "InvalidArguments",
    "InvalidDocument",
    "InvalidTool",
    "Kit",
    "KitNotFound",
    "LLMProvider",
    "Limits",
    "MissingExtra",
    "NotTrusted",
    "OllamaHandler",
    "OllamaProvider",
    "OllamaStreamingProcessor",
    "OpenAIProvider",
    "OpenAIResponsesProvider",
    "Outcome",
    "ParsingError",
    "Patience",
    "PersonReply",
    "Project",
    "ProjectConfig",
    "ProjectNotFound",
    "Question",
    "RecordingProvider",
    "ReplayProvider",
    "Resolution",
    "ResponsesHandler",
    "ResponsesStreamingProcessor",
    "RunResult",
    "SimulatedProvider",
    "StreamContext",
    "StreamEvent",
    "StreamResult",
    "StreamingRequest",
    "Tool",
    "ToolExecutionError",
    "ToolFunction",
    "ToolHandler",
    "ToolImplementation",
    "ToolImplementationNotFound",
    "ToolNotFound",
    "ToolOptions",
    "ToolQuestion",
    "ToolRegistry",
    "Toolset",
    "Transcript",
    "UsageError",
    "VespeError",
    "__version__",
    "aask",
    "answered_by",
    "ask",
    "create_tool",
    "execute_tool",
    "list_available_tools",
    "load_tool",
    "report_message",
    "report_progress",
    "resolve_tool",
    "run_loop",
    "serve_http",
    "serve_stdio",
    "tool",
]

_MODULES = {
    **dict.fromkeys(
        ("Implementation", "Kit", "ProjectConfig", "Resolution", "Tool"), "vespe.models"
    ),
    **dict.fromkeys(("Call", "Failure", "Outcome"), "vespe.models"),
    "Project": "vespe.library.project",
    **dict.fromkeys(
        ("create_tool", "execute_tool", "list_available_tools", "load_tool", "resolve_tool"),
        "vespe.library.verbs",
    ),
    **dict.fromkeys(
        ("FunctionTool", "ToolFunction", "ToolOptions", "tool"), "vespe.library.function_tools"
    ),
    **dict.fromkeys(("ToolImplementation", "ToolRegistry"), "vespe.calls.registry"),
    **dict.fromkeys(("report_message", "report_progress"), "vespe.calls.progress"),
    **dict.fromkeys(("Agent", "AgentOptions", "run_loop"), "agents:agent"),
    **dict.fromkeys(
        ("StreamContext", "StreamResult", "StreamingRequest", "ToolHandler"),
        "agents:handler_base",
    ),
    "AnthropicProvider": "agents:providers.anthropic",
    "LLMProvider": "agents:providers.base",
    "GeminiProvider": "agents:providers.gemini",
    "OllamaProvider": "agents:providers.ollama",
    "OpenAIProvider": "agents:providers.openai",
    "OpenAIResponsesProvider": "agents:providers.openai_responses",
    "Patience": "agents:providers.retries",
    "SimulatedProvider": "agents:providers.simulated",
    **dict.fromkeys(
        ("PersonReply", "ToolQuestion", "aask", "answered_by", "ask"), "vespe.calls.asking"
    ),
    **dict.fromkeys(("Answer", "CallPolicy", "Question"), "vespe.calls.policy"),
    **dict.fromkeys(("RecordingProvider", "ReplayProvider"), "agents:recordings"),
    "ClaudeHandler": "agents:handlers",
    "EventSystem": "agents:events",
    "GptHandler": "agents:handlers",
    "Limits": "agents:limits",
    "InteractionsHandler": "agents:handlers",
    "OllamaHandler": "agents:handlers",
    "ResponsesHandler": "agents:handlers",
    "RunResult": "agents:loop",
    "Toolset": "agents:toolsets.toolset",
    "Transcript": "agents:transcripts",
    "ClaudeStreamingProcessor": "vespe.adapters.streams.anthropic",
    "GptStreamingProcessor": "vespe.adapters.streams.openai",
    "InteractionsStreamingProcessor": "vespe.adapters.streams.gemini_interactions",
    "ResponsesStreamingProcessor": "vespe.adapters.streams.openai_responses",
    "OllamaStreamingProcessor": "vespe.adapters.streams.ollama",
    "StreamEvent": "vespe.adapters.streams.base",
    **dict.fromkeys(
        (
            "AmbiguousTool",
            "Declined",
            "InvalidArguments",
            "InvalidDocument",
            "InvalidTool",
            "KitNotFound",
            "MissingExtra",
            "NotTrusted",
            "ParsingError",
            "ProjectNotFound",
            "ToolExecutionError",
            "ToolImplementationNotFound",
            "ToolNotFound",
            "UsageError",
            "VespeError",
        ),
        "vespe.errors",
    ),
    "serve_http": "mcp:server.library",
    "serve_stdio": "mcp:server.library",
}


if not TYPE_CHECKING:  # a type checker knows the names above, and no other

    def __getattr__(name: str) -> Any:
        if name not in _MODULES:
            raise AttributeError(f"module 'vespe' has no attribute {name!r}")
        feature, _, module = _MODULES[name].rpartition(":")
        found = features.load(feature, module) if feature else importlib.import_module(module)
        value = getattr(found, name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
