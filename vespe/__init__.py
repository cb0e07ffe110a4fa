"""Manage the tools that LLM agents call: one definition, resolved, checked, bounded, for every model API.

`__all__` is the public promise; a name's module is imported when the name is first used (PEP 562).
"""

import importlib
from typing import TYPE_CHECKING, Any

from vespe.defaults import VERSION as __version__

if TYPE_CHECKING:
    from vespe.conversation.agents import Agent, AgentOptions, run_loop
    from vespe.conversation.anthropic_stream import ClaudeStreamingProcessor
    from vespe.conversation.call_policy import CallPolicy
    from vespe.conversation.claude_handler import ClaudeHandler
    from vespe.conversation.events import EventSystem
    from vespe.conversation.gpt_handler import GptHandler
    from vespe.conversation.handler_base import StreamContext, StreamingRequest, StreamResult, ToolHandler
    from vespe.conversation.limits import Limits
    from vespe.conversation.loop import RunResult
    from vespe.conversation.ollama_handler import OllamaHandler
    from vespe.conversation.ollama_stream import OllamaStreamingProcessor
    from vespe.conversation.openai_stream import GptStreamingProcessor
    from vespe.conversation.stream_base import StreamEvent
    from vespe.conversation.transcripts import Transcript
    from vespe.errors import VespeError
    from vespe.library import Project, create_tool, execute_tool, list_available_tools, load_tool, resolve_tool
    from vespe.models import Implementation, Kit, ProjectConfig, Resolution, Tool
    from vespe.outcomes import Call, Failure, Outcome
    from vespe.providers.anthropic import AnthropicProvider
    from vespe.providers.base import LLMProvider
    from vespe.providers.ollama import OllamaProvider
    from vespe.providers.openai import OpenAIProvider
    from vespe.providers.retries import Patience
    from vespe.providers.simulated import SimulatedProvider
    from vespe.registry import ToolImplementation, ToolRegistry
    from vespe.serving import serve_stdio
    from vespe.steps import report_message, report_progress

__all__ = [
    "Agent",
    "AgentOptions",
    "AnthropicProvider",
    "Call",
    "CallPolicy",
    "ClaudeHandler",
    "ClaudeStreamingProcessor",
    "EventSystem",
    "Failure",
    "GptHandler",
    "GptStreamingProcessor",
    "Implementation",
    "Kit",
    "LLMProvider",
    "Limits",
    "OllamaHandler",
    "OllamaProvider",
    "OllamaStreamingProcessor",
    "OpenAIProvider",
    "Outcome",
    "Patience",
    "Project",
    "ProjectConfig",
    "Resolution",
    "RunResult",
    "SimulatedProvider",
    "StreamContext",
    "StreamEvent",
    "StreamResult",
    "StreamingRequest",
    "Tool",
    "ToolHandler",
    "ToolImplementation",
    "ToolRegistry",
    "Transcript",
    "VespeError",
    "__version__",
    "create_tool",
    "execute_tool",
    "list_available_tools",
    "load_tool",
    "report_message",
    "report_progress",
    "resolve_tool",
    "run_loop",
    "serve_stdio",
]

_MODULES = {
    **dict.fromkeys(("Implementation", "Kit", "ProjectConfig", "Resolution", "Tool"), "vespe.models"),
    **dict.fromkeys(("Call", "Failure", "Outcome"), "vespe.outcomes"),
    **dict.fromkeys(("Project", "create_tool", "execute_tool", "list_available_tools", "load_tool", "resolve_tool"), "vespe.library"),
    **dict.fromkeys(("ToolImplementation", "ToolRegistry"), "vespe.registry"),
    **dict.fromkeys(("report_message", "report_progress"), "vespe.steps"),
    **dict.fromkeys(("Agent", "AgentOptions", "run_loop"), "vespe.conversation.agents"),
    **dict.fromkeys(("StreamContext", "StreamResult", "StreamingRequest", "ToolHandler"), "vespe.conversation.handler_base"),
    "AnthropicProvider": "vespe.providers.anthropic",
    "LLMProvider": "vespe.providers.base",
    "OllamaProvider": "vespe.providers.ollama",
    "OpenAIProvider": "vespe.providers.openai",
    "Patience": "vespe.providers.retries",
    "SimulatedProvider": "vespe.providers.simulated",
    "CallPolicy": "vespe.conversation.call_policy",
    "ClaudeHandler": "vespe.conversation.claude_handler",
    "EventSystem": "vespe.conversation.events",
    "GptHandler": "vespe.conversation.gpt_handler",
    "Limits": "vespe.conversation.limits",
    "OllamaHandler": "vespe.conversation.ollama_handler",
    "RunResult": "vespe.conversation.loop",
    "Transcript": "vespe.conversation.transcripts",
    "ClaudeStreamingProcessor": "vespe.conversation.anthropic_stream",
    "GptStreamingProcessor": "vespe.conversation.openai_stream",
    "OllamaStreamingProcessor": "vespe.conversation.ollama_stream",
    "StreamEvent": "vespe.conversation.stream_base",
    "VespeError": "vespe.errors",
    "serve_stdio": "vespe.serving",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'vespe' has no attribute {name!r}")
    value = getattr(importlib.import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
