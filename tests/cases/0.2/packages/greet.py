# /// script
# requires-python = ">=3.11"
# dependencies = ["greeting"]
# ///
import greeting


def greet(name: str) -> str:
    """Greet somebody with the word of a package."""
    return f"{greeting.WORD}, {name}"
