"""One file through the page, the command line and Python: one domain, one table, one advice."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import engine
from engine import ingest
from engine.__main__ import main
from tests.support import SAMPLES

ODD = Path(__file__).parent / "odd"
REFUSED = {
    "not_a_table_arff.csv", "not_a_table_lfs_pointer.csv", "not_a_table_spss_portable.csv",
    "not_a_table_sql_dump.csv", "command_line.zip",
}  # fmt: skip
FILES = [
    *(f for f in sorted(ODD.iterdir()) if f.name not in REFUSED and ".domain." not in f.name),
    *sorted(SAMPLES.glob("*.csv")),
]


def single_counts(table: engine.Table) -> dict[str, list[int]]:
    private = engine.Private(table)
    return {a.name: private.marginal((i,)).values.tolist() for i, a in enumerate(table.domain)}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_is_the_same_by_page_command_line_and_python(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    preview = ingest.read(path.read_bytes())  # as an upload
    domain = ingest.draft_domain(preview)
    by_page = ingest.encode(preview, domain)
    told = [note.sentence for note in preview.warnings]

    file = tmp_path / "table.domain.json"
    assert main(["draft-domain", str(path), "--out", str(file)]) == 0
    said = capsys.readouterr().err.splitlines()
    notes: list[str] = []
    choices = ingest.Choices.from_json(file)
    by_shell = engine.Table.from_file(
        path, engine.Domain.from_json(file), notes=notes, choices=choices
    )
    by_hand = engine.Table.from_file(path, engine.Domain.draft(path))

    assert said == [f"note: {sentence}" for sentence in told]
    assert by_shell.domain.hash == by_hand.domain.hash == domain.hash
    assert by_shell.records() == by_hand.records() == by_page.records()
    assert single_counts(by_shell) == single_counts(by_hand) == single_counts(by_page)
    assert np.array_equal(by_shell.codes, by_page.codes)
    assert set(told) <= set(notes)


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_is_no_table_is_refused_in_the_same_words_everywhere(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(engine.DataError) as by_page:
        ingest.read((ODD / name).read_bytes())
    with pytest.raises(engine.DataError) as by_hand:
        engine.Domain.draft(ODD / name)
    assert str(by_hand.value) == str(by_page.value)
    assert main(["draft-domain", str(ODD / name), "--out", str(tmp_path / "x.json")]) != 0
    assert str(by_page.value) in capsys.readouterr().err
