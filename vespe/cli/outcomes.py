"""How a verb that makes one call prints its Outcome."""

from vespe.cli import boundary, report
from vespe.models import JsonValue, Outcome


def answer(outcome: Outcome, *, as_json: bool, part: str | None = None) -> int:
    """Print an Outcome, and return the exit code. `part` is the key of the result that is printed
    alone, if the result has it.
    """
    if as_json:
        report.emit_json(outcome.to_dict())
    else:
        _show(outcome, part)
    return boundary.CODES.get(outcome.error.code, boundary.EXIT_FAILED) if outcome.error else 0


def _show(outcome: Outcome, part: str | None) -> None:
    logs = outcome.logs or (outcome.error.details.get("logs") if outcome.error else "")
    if logs:
        report.say(str(logs).removesuffix("\n"))
    for text in outcome.notes:
        report.warn(text)
    if outcome.error is not None:
        report.error(outcome.error.message, outcome.error.hint)
    else:
        report.emit_result(_part_of(outcome.result, part))
    if outcome.output_file:
        report.note(f"{kept(outcome)} is in {outcome.output_file}")


def kept(outcome: Outcome) -> str:
    """Return what the output file of an Outcome has."""
    # A tool that writes too much is ended, and the file has what it had written by then.
    return "the whole output" if outcome.error is None else "the output up to there"


def _part_of(result: JsonValue, part: str | None) -> JsonValue:
    # A result that was cut is a string, whatever it was before.
    return result.get(part, result) if part and isinstance(result, dict) else result
