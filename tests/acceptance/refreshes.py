"""Processes that refresh one login at once, and processes that are killed while they do.

    python -m tests.acceptance.refreshes [--processes 4] [--times 200] [--kills 40] [--json]

A real authorization server rotates the refresh token each time, and counts those that come twice.
Each refresh takes the token that the process got last for refused, which is what a 401 does.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from typing import Any

from tests.features.oauth.test_tokens import ASK, kept
from tests.support.authorization import authorized
from vespe.errors import VespeError
from vespe.features.oauth import records
from vespe.projects import user_config


def main() -> int:
    """Try both, and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {"HOME": home, "XDG_CONFIG_HOME": f"{home}/config"}
        user_config.set_value("allow_hosts", ["127.0.0.1"])
        said = {
            "refreshed": refreshed(asked.processes, asked.times),
            "killed": killed(asked.kills),
        }
    sys.stdout.write(json.dumps(said, indent=2) + "\n")
    return 0 if said["refreshed"]["reused"] == said["killed"]["broken"] == 0 else 1


def refreshed(processes: int, times: int) -> dict[str, Any]:
    """Let processes refresh at once."""
    with authorized() as (issuer, resource):
        kept(resource)
        words = [sys.executable, "-c", ASK, "notes", resource.url, str(times)]
        running = [subprocess.Popen(words, stdout=subprocess.DEVNULL) for _ in range(processes)]
        failed = sum(process.wait() != 0 for process in running)
        return {
            "processes": processes,
            "asked_each": times,
            "refreshes": issuer.refreshes,
            "reused": issuer.reused,
            "failed": failed,
        }


def killed(kills: int) -> dict[str, Any]:
    """Kill a process that refreshes, again and again; after each the old tokens are there or the
    new ones. `lost` counts where the issuer had given new ones that were not written yet.
    """
    broken = lost = 0
    with authorized() as (issuer, resource):
        login = kept(resource)
        for number in range(kills):
            words = [sys.executable, "-c", ASK, "notes", resource.url, "1000000"]
            before = issuer.refreshes
            with subprocess.Popen(words, stdout=subprocess.DEVNULL) as running:
                until = time.monotonic() + 60
                while issuer.refreshes < before + 2 and time.monotonic() < until:
                    time.sleep(0.005)
                time.sleep(number * 0.001)
                running.kill()
            try:
                grant = records.grant_of(login)
            except VespeError:
                broken += 1
                continue
            if grant.refresh_token in issuer.spent:
                lost += 1
                login = kept(resource)
            elif grant.refresh_token not in issuer.refresh:
                broken += 1
        return {"kills": kills, "broken": broken, "lost": lost}


if __name__ == "__main__":
    sys.exit(main())
