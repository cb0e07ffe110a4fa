"""What `vespe doctor` checks of logins to MCP servers: whether their tokens are there and can be
used. No server is asked.
"""

from collections.abc import Iterator
from typing import Final

from vespe.cli import report
from vespe.cli.diagnosis import Diagnosis
from vespe.features.oauth import login_state, records


def _logins(_: str | None) -> Iterator[Diagnosis]:
    for path in records.unreadable():
        yield Diagnosis(
            about="logins",
            state="warning",
            message=f"{path} is not a readable record of a login: delete it and log in again",
        )
    logins = records.every()
    states = [(one, login_state.state_of(one)) for one in logins]
    good = [one for one, said in states if said["state"] == "ok"]
    for one, said in states:
        if said["state"] != "ok":
            yield Diagnosis(
                about=f"login {one.kit_id}",
                state="warning",
                message=f"{one.url}: {said['message']}",
            )
    if good:
        what = report.count(len(good), "login")
        yield Diagnosis(
            about="logins",
            state="ok",
            message=f"{what} to MCP servers; `vespe mcp status` shows until when",
        )


CHECKS: Final = (_logins,)
"""The checks, in the order in which they are shown."""
