"""Texts that other programs read and that are no table, each told by its name.

A file is judged by its beginning; what is found has to stand at a line's start, so that a cell of a
table that holds such words is no reason.
"""

from __future__ import annotations

import re

from engine.errors import DataError

READABLE = "CSV (or other delimited text), Excel, Parquet, SPSS, Stata and SAS can be read"
_LFS = b"version https://git-lfs.github.com/spec/"
_ANNEX = re.compile(rb"[^\r\n,;\t]*(?:\.git)?/annex/objects/[^\r\n,;\t]+\s*")
_ARFF = re.compile(r"\s*@relation\s+\S", re.IGNORECASE)
_SQL = re.compile(
    r"^\s*(?:create\s+(?:temporary\s+)?(?:table|database)|insert\s+(?:into\b|\[)|drop\s+table|"
    r"copy\s+\S+\s*(?:\([^)]*\)\s*)?from\s+stdin|pragma\s+foreign_keys|set\s+\w+\s*=|"
    r"set\s+(?:names|identity_insert|ansi_nulls)\b|lock\s+tables|use\s+[\[`]|"
    r"-- (?:postgresql|mysql|mariadb|sqlite)\b.*dump|begin transaction;)",
    re.IGNORECASE | re.MULTILINE,
)
_NAMED = (
    (re.compile(r"MIME-Version:|X-Document-Type: Workbook", re.IGNORECASE), "a web page (MHTML)"),
    (re.compile(r"(?:From|Return-Path|Received|Delivered-To): .+\n(?:.+\n)*?(?:To|Subject|Date): ",
                re.IGNORECASE), "an e-mail"),
    (re.compile(r"(?:CHARSET|AXIS-VERSION|LANGUAGE|MATRIX)\s*=\s*\"[^\"]*\";", re.IGNORECASE),
     "a PC-Axis file"),
    (re.compile(r"(?:.*\n){0,30}\s*begin data\s*\.?\s*\n", re.IGNORECASE), "a syntax file of SPSS"),
    (re.compile(r"(?:.*\n){0,30}\s*(?:datalines|cards)4?\s*;", re.IGNORECASE), "a program of SAS"),
    (re.compile(r"(?:\w+\s*(?:<-|=)\s*)?structure\(list\("), "R code (dput)"),
    (re.compile(r"(?:%.*\n|\s*\n)*\s*\\(?:begin\{|documentclass)"), "a LaTeX document"),
    (re.compile(r"(?:\S.*\n)?\s*(?:infile\s+)?dictionary\s*\{", re.IGNORECASE),
     "a dictionary of Stata"),
)  # fmt: skip


def refused(name: str) -> DataError:
    """Return the refusal of a recognised kind of file."""
    return DataError(
        f"The file is {name}; {READABLE}. Save the table as CSV where it was made, and choose "
        "that.",
        code="E_FORMAT",
    )


def refusal(data: bytes, start: str) -> DataError | None:
    """Refuse a text that another program reads; None if it may be a table.

    Args:
        data: The file.
        start: Its beginning, decoded, without blanks before it.
    """
    if data.lstrip(b"\xef\xbb\xbf \r\n").startswith(_LFS):
        return DataError(
            "The file is a Git LFS pointer: it names a large file and does not hold it. Fetch the "
            "real file (git lfs pull), and choose that.",
            code="E_FORMAT",
        )
    if len(data) < 4096 and _ANNEX.fullmatch(data):
        return DataError(
            "The file is a git-annex pointer: it names a large file and does not hold it. Fetch "
            "the real file (git annex get), and choose that.",
            code="E_FORMAT",
        )
    start = start.replace("\r\n", "\n")
    if _is_arff(data, start):
        return refused("an ARFF file of Weka")
    found = list(_SQL.finditer(start))
    ended = ";" in start or re.search(r"^go\s*$", start, re.IGNORECASE | re.MULTILINE)
    if found and ended and (found[0].start() < 3 or len(found) > 1):
        return refused("an SQL dump of a database")
    return next((refused(name) for pattern, name in _NAMED if pattern.match(start)), None)


def _is_arff(data: bytes, start: str) -> bool:
    """Tell an ARFF file, whose comments may be long."""
    if not start.startswith("%"):
        return _ARFF.match(start) is not None
    text = data[: 1 << 17].decode("utf-8-sig", "replace")
    lines = (line for line in text.splitlines() if line.strip())
    first = next((line for line in lines if not line.lstrip().startswith("%")), "")
    return _ARFF.match(first) is not None
