"""Which character encoding some bytes are in."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from charset_normalizer import from_bytes

from engine.errors import DataError

COMMON = (
    "utf-8", "cp1252", "utf-16-le", "utf-16-be", "latin-1", "iso8859-15", "cp1250", "cp1251",
    "cp1253", "cp1254", "cp1255", "cp1256", "cp850", "cp437", "koi8-r", "mac-roman", "cp932",
    "euc-jp", "gb18030", "big5", "cp949",
)  # fmt: skip
"""Encodings offered to a person, the likeliest first."""
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_FAR = (
    "cp1251",
    "koi8_r",
    "cp932",
    "euc_jp",
    "gb18030",
    "big5",
    "cp949",
    "cp1253",
    "cp1255",
    "cp1256",
)
"""Encodings of other scripts, which charset-normalizer tells apart well."""
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Encoding:
    """An encoding; ``sure`` is False for a guess, ``bad`` counts the characters that do not fit."""

    name: str
    bom: int = 0
    sure: bool = True
    bad: int = 0


def detect(data: bytes) -> Encoding:
    """Find the encoding: a byte order mark, the zeros of UTF-16, valid UTF-8, then the old ones."""
    for bom, name in _BOMS:
        if data.startswith(bom):
            return Encoding(name, bom=len(bom))
    wide = _utf16_without_mark(data)
    if wide:
        return Encoding(wide, sure=False)
    bad, good = _utf8_misfits(data)
    if not bad:
        return Encoding("utf-8")
    if good >= 10 * bad:
        return Encoding("utf-8", sure=False, bad=bad)
    return Encoding(_legacy(data), sure=False)


def chosen(name: str, data: bytes) -> Encoding:
    """Return the encoding that a person named.

    Raises:
        DataError: If Python knows no such text encoding (``E_ENCODING``).
    """
    try:
        found = codecs.lookup(name)
        known = found._is_text_encoding and "".encode(name) is not None
    except (LookupError, ValueError, TypeError):
        known = False
    if not known:
        raise DataError(
            "The encoding asked for is not known. Choose one of "
            f"{', '.join(COMMON[:6])} or another name that Python knows.",
            code="E_ENCODING",
        )
    plain = found.name.replace("_", "-")
    plain = {"utf-8-sig": "utf-8", "iso8859-1": "latin-1"}.get(plain, plain)
    if plain in ("utf-16", "utf-32"):
        plain = next((n for bom, n in _BOMS if data.startswith(bom)), f"{plain}-le")
    bom = next((len(b) for b, n in _BOMS if n == plain and data.startswith(b)), 0)
    return Encoding(plain, bom=bom, bad=_misfits(data[bom:], plain))


def _utf16_without_mark(data: bytes) -> str | None:
    head = data[: 1 << 14]
    head = head[: len(head) // 2 * 2]
    if len(head) < 8:
        return None
    even, odd = head[::2].count(0), head[1::2].count(0)
    half = len(head) // 2
    # Text in a Latin script has a zero in nearly every second byte, and none in the others.
    if odd > 0.7 * half and even < 0.05 * half:
        return "utf-16-le"
    if even > 0.7 * half and odd < 0.05 * half:
        return "utf-16-be"
    return None


def _utf8_misfits(data: bytes) -> tuple[int, int]:
    """Count the bytes that are not UTF-8 and the characters that only UTF-8 explains."""
    bad = good = 0
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    for at in range(0, len(data), _BLOCK):
        block = data[at : at + _BLOCK]
        text = decoder.decode(block, final=at + _BLOCK >= len(data))
        if not text.isascii():
            wrong = text.count("\ufffd")
            bad += wrong
            good += sum(1 for c in re.findall(r"[^\x00-\x7f]", text)) - wrong
    # A replacement character may stand in the file itself, written in good UTF-8.
    return max(0, bad - data.count("\ufffd".encode())), good


def _misfits(data: bytes, name: str) -> int:
    bad = 0
    decoder = codecs.getincrementaldecoder(name)("replace")
    for at in range(0, len(data), _BLOCK):
        text = decoder.decode(data[at : at + _BLOCK], final=at + _BLOCK >= len(data))
        bad += text.count("\ufffd")
    return bad


def _legacy(data: bytes) -> str:
    sample = _telling_lines(data)
    high = len(re.findall(rb"[\x80-\xff]", sample))
    letters = len(re.findall(rb"[A-Za-z\x80-\xff]", sample))
    in_runs = sum(map(len, re.findall(rb"[\x80-\xff]{2,}|[\x81-\xfe][\x40-\x7e]", sample)))
    # A few marks among Latin letters are accents. Other scripts fill whole words.
    if high > 0.35 * letters and in_runs > 0.5 * high:
        best = from_bytes(sample, cp_isolation=list(_FAR)).best()
        if best is not None:
            return best.encoding.replace("_", "-")
    # Windows' first, so that it wins where nothing tells.
    return max(("cp1252", "mac-roman", "cp850"), key=lambda name: _western_score(sample, name))


_ACCENTS = frozenset("äöüßéèêëàáâãåæçìíîïñòóôõøœùúûÄÖÜÉÈÀÁÅÆÇÑÓØŠšŽž")
_TYPOGRAPHY = frozenset("€“”‘’„–—…•°£§©®«»")


def _western_score(sample: bytes, name: str) -> int:
    """Count accents that are common, less signs that stand where a letter should."""
    text = sample.decode(name, "replace")
    beside = re.findall(r"[^\W\d_](?=[A-Za-z])|(?<=[A-Za-z])[^\W\d_]", text)
    good = sum(1 for c in beside if c in _ACCENTS) + sum(1 for c in text if c in _TYPOGRAPHY)
    inside = re.findall(r"(?<=[A-Za-z])[^\x00-\x7f](?=[a-z])", text)
    bad = sum(1 for c in inside if not (c.isalpha() or c == "’"))
    return good - 3 * bad - 3 * text.count("\ufffd")


def _telling_lines(data: bytes) -> bytes:
    lines = re.findall(rb"[^\r\n]{0,2000}[\x80-\xff][^\r\n]{0,2000}", data[: 4 << 20])
    return b"\n".join(lines[:500])[: 1 << 16]
