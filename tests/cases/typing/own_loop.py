"""A loop of one's own with OpenAI's and Anthropic's clients."""

from typing import Any

from vespe import Toolset


def double(n: int) -> int:
    """Double a number."""
    return 2 * n


tools = Toolset(double)


def openai_loop(client: Any) -> str:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Double 21."}]
    while True:
        response = client.chat.completions.create(
            model="m", messages=messages, tools=tools.openai(strict=True)
        )
        answer = tools.answer(response)
        messages += answer
        if answer.done:
            return str(response.choices[0].message.content)


async def anthropic_loop(client: Any) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Double 21."}]
    while True:
        response = await client.messages.create(
            model="m", max_tokens=100, messages=messages, tools=tools.anthropic()
        )
        answer = await tools.aanswer(response)
        messages += answer
        if answer.done:
            return messages
