"""The requests and whole answers of ollama, as far as tests/providers/test_ollama.py does not judge
them already.
"""

from vespe.features.agents.providers import ollama

USER = [{"role": "user", "content": "Hi"}]


def test_no_tools_are_shown_where_the_choice_is_none() -> None:
    tool = {"type": "function", "function": {"name": "f"}}
    made = ollama.payload("m", USER, [tool], options={"tool_choice": "none"}, stream=False)
    assert made == {"model": "m", "messages": USER, "stream": False}


def test_a_wanted_format_is_said_in_ollamas_words() -> None:
    schema = {"type": "object"}
    wanted = {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}
    made = [
        ollama.payload("m", USER, None, options={"response_format": f}, stream=False)
        for f in (wanted, {"type": "json_object"}, None)
    ]
    assert [item.get("format") for item in made] == [schema, "json", None]


def test_options_of_the_model_and_of_the_request_are_told_apart() -> None:
    options = {
        "num_ctx": 4096,
        "options": {"mirostat": 1},
        "keep_alive": 0,
        "parallel_tool_calls": False,
    }
    made = ollama.payload("m", USER, None, options=options, stream=True)
    assert (made["options"], made["keep_alive"]) == ({"num_ctx": 4096, "mirostat": 1}, 0)
