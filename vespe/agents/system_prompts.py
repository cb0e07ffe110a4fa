"""A prompt of ours beside the user's own system message, in APIs that take it as a message."""

from vespe.adapters.messages import checked
from vespe.models import JsonObject


def with_system_message(payload: JsonObject, prompt: str) -> JsonObject:
    """Give a payload whose first system (or developer) message ends in `prompt`; without one, a system message comes first."""
    if not prompt:
        return dict(payload)
    messages = checked(payload.get("messages", ()))
    first = messages[0] if messages and messages[0].get("role") in ("system", "developer") else None
    if first is None:
        return payload | {"messages": [{"role": "system", "content": prompt}, *messages]}
    content = first.get("content") or ""
    joined = [*content, {"type": "text", "text": prompt}] if isinstance(content, list) else "\n\n".join(filter(None, (content, prompt)))
    return payload | {"messages": [first | {"content": joined}, *messages[1:]]}
