"""What is said of each broken config.json, word by word: `python -m tests.support.broken_configs`
writes the cases anew where a sentence is meant to change.
"""

import json
from pathlib import Path

import pytest

from tests.support import broken_configs
from tests.support.broken_configs import Case

KEPT = broken_configs.kept()


def test_the_cases_are_those_that_are_generated() -> None:
    generated = {json.dumps(case.to_json()) for case in broken_configs.generated()}
    kept = [json.dumps({k: v for k, v in row.items() if k != "problems"}) for row in KEPT]
    assert sorted(kept) == sorted(generated)
    assert sum(bool(row["problems"]) for row in KEPT) > 1_000


@pytest.mark.parametrize("base", broken_configs.IMPLEMENTATIONS)
def test_each_broken_document_gets_its_sentences(base: str, tmp_path: Path) -> None:
    directory = broken_configs.directory_in(tmp_path)
    wrong = []
    for row in KEPT:
        made = {"change": {}} | {key: value for key, value in row.items() if key != "problems"}
        said = broken_configs.said(Case(**made), directory) if row["base"] == base else None
        if said not in (None, row["problems"]):
            wrong.append({**row, "said": said})
    assert wrong == []
