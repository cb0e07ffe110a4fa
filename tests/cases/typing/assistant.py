"""A terminal assistant: functions as tools, a policy that asks, a real provider."""

from vespe import (
    Agent,
    AgentOptions,
    Answer,
    AnthropicProvider,
    Limits,
    OllamaProvider,
    OpenAIProvider,
    OpenAIResponsesProvider,
    Question,
    SimulatedProvider,
    Toolset,
    tool,
)


@tool(read_only=True)
def search(query: str, limit: int = 5) -> list[str]:
    """Search the notes."""
    return [query] * limit


@tool(destructive=True, timeout_s=5)
def forget(note: int) -> bool:
    """Delete a note."""
    return note > 0


def ask(question: Question) -> Answer:
    print(question.tool.name, question.inputs, question.why)
    return Answer(allowed=input("allow? ") == "y", holds="session")


found: list[str] = search("bread", limit=2)
gone: bool = forget(3)
tools = Toolset(search, forget, approve="ask", ask=ask, tools_mode="auto")
options = AgentOptions(approve="read-only", tools_mode="bridge", limits=Limits(max_calls=3))
for model in (
    OpenAIProvider("m"),
    OpenAIResponsesProvider("m"),
    AnthropicProvider("m"),
    OllamaProvider("m"),
    SimulatedProvider({"turns": [{"text": "Hello."}]}),
):
    with_tools = Agent(model, tools=tools, options=options)
    said: str = with_tools.run("Hi").text
