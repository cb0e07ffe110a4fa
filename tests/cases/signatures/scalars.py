from typing import Any


def scalars(text: str, whole: int, real: float, yes: bool, nothing: None, anything: Any, thing: object, bare) -> str:
    return f"{text}{whole}{real}{yes}{nothing}{anything}{thing}{bare}"
