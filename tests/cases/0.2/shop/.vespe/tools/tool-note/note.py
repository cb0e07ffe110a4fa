import os
import time


def note(text: str, wait_for: str = "") -> int:
    """Add a line to the notes, and say how many there are.

    Args:
        text: The line.
        wait_for: A file to wait for before it returns.
    """
    with open("notes.txt", "a", encoding="utf-8") as file:
        file.write(text + "\n")
    while wait_for and not os.path.exists(wait_for):
        time.sleep(0.02)
    with open("notes.txt", encoding="utf-8") as file:
        return len(file.readlines())
