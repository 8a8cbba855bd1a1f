"""Small files that unpack to large ones are stopped before they take the memory."""

from __future__ import annotations

import gzip
import io
import zipfile

import pytest

import engine
from engine import strict_csv
from engine.ingest.content import check_zip, gunzip
from engine.ingest.limits import Limits

SMALL = Limits(file=1 << 20)


def test_a_gzip_bomb_is_refused() -> None:
    inside = gunzip(gzip.compress(b"0" * (1 << 20)), SMALL)
    assert len(inside) == 1 << 20
    with pytest.raises(engine.DataError) as refused:
        gunzip(gzip.compress(b"0" * (1 << 22)), SMALL)
    assert refused.value.code == "E_TOO_LARGE"


def test_a_zip_bomb_is_refused_and_so_are_many_small_parts() -> None:
    def packed(parts: int, size: int) -> bytes:
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for k in range(parts):
                archive.writestr(f"sheet{k}.xml", b"0" * size)
        return out.getvalue()

    check_zip(packed(1, 8 << 20), SMALL)
    for parts, size in ((1, (8 << 20) + 1), (17, 1 << 19)):
        with pytest.raises(engine.DataError) as refused:
            check_zip(packed(parts, size), SMALL)
        assert refused.value.code == "E_TOO_LARGE"


def test_the_strict_reader_unpacks_to_its_limit_and_no_further(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    domain = engine.Domain.from_sizes({"a": 2})
    text = b"a\n" + b"1\n" * 600
    monkeypatch.setattr(strict_csv, "_MAX_BYTES", len(text))
    engine.Table.from_csv(gzip.compress(text), domain)
    asked: list[int | None] = []
    read = gzip.GzipFile.read

    def watched(self: gzip.GzipFile, size: int | None = -1) -> bytes:
        asked.append(size)
        return read(self, size)

    monkeypatch.setattr(gzip.GzipFile, "read", watched)
    with pytest.raises(engine.DataError) as refused:
        engine.Table.from_csv(gzip.compress(text + b"1\n"), domain)
    assert refused.value.code == "E_TOO_LARGE"
    # Never asked for more than tells that it is too much.
    assert (
        max(size if size is not None and size >= 0 else 1 << 60 for size in asked) <= len(text) + 1
    )
