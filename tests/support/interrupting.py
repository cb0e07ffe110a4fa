"""Ctrl-C at each line of a module in turn."""

import linecache
import sys
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any


def is_interrupted(at: int, called: Callable[[], object], *modules: ModuleType) -> bool:
    """Call a function, and interrupt it before the line with this number that it runs in one of the
    modules; False where it ended before.

    A `with` is passed over: between its body and its end Python handles no signal.
    """
    files = {module.__file__ for module in modules}
    count = 0

    def step(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        if frame.f_code.co_filename not in files:
            return None
        line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
        if event == "line" and not line.lstrip().startswith("with "):
            count += 1
            if count == at:
                raise KeyboardInterrupt
        return step

    before = sys.gettrace()  # of what measures the coverage of tests
    sys.settrace(step)
    try:
        called()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False
