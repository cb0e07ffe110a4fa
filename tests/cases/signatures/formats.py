import datetime as dt
import uuid
from datetime import date
from decimal import Decimal
from ipaddress import IPv4Address
from pathlib import Path


def formats(
    when: dt.datetime, day: date, at: dt.time, span: dt.timedelta, uid: uuid.UUID, path: Path, amount: Decimal, raw: bytes, host: IPv4Address
) -> dict[str, dt.datetime]:
    return {}
