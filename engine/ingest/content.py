"""What kind of file some bytes are, told by their content and never by their name."""

from __future__ import annotations

import io
import json
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator

from engine.errors import DataError
from engine.ingest.foreign import READABLE, refusal, refused
from engine.ingest.limits import Limits, megabytes

# The first bytes of files that hold no table we read, and what to call them.
_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"\xfd7zXZ\x00", "an xz archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (b"\x04\x22\x4d\x18", "an LZ4 archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\x1f\x9d", "a compressed (.Z) file"),
    (b"%PDF-", "a PDF document"),
    (b"\x89PNG\r\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"BM\x00", "a bitmap image"),
    (b"II*\x00", "a TIFF image"),
    (b"MM\x00*", "a TIFF image"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    (b"CDF\x01", "a NetCDF file"),
    (b"CDF\x02", "a NetCDF file"),
    (b"ARROW1\x00\x00", "an Arrow (Feather) file"),
    (b"FEA1", "a Feather file"),
    (b"ORC\x0a", "an ORC file"),
    (b"ORC\x08", "an ORC file"),
    (b"Obj\x01", "an Avro file"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"RDX2\n", "an R data file"),
    (b"RDX3\n", "an R data file"),
    (b"X\n\x00\x00\x00", "an R data file"),
    (b"\x00\x01\x00\x00Standard Jet DB", "an Access database"),
    (b"\x00\x01\x00\x00Standard ACE DB", "an Access database"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90\x00", "a program"),
    (b"{\\rtf", "a rich-text document"),
    (b"MATLAB 5.0 MAT-file", "a MATLAB file"),
)
# What zipfile raises on a damaged or a locked archive. DataError is a ValueError: it comes first.
_ZIP_FAULTS = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    OSError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    struct.error,
)
_SAS = b"\xc2\xea\x81\x60\xb3\x14\x11\xcf\xbd\x92\x08\x00\x09\xc7\x31\x8c"
_STATA = tuple(bytes([version]) for version in (105, 108, 110, 111, 113, 114, 115, 117, 118))
_HTML = re.compile(r"<(!doctype\s+html|html|head|body|table|script|div)\b", re.IGNORECASE)
_YAML = re.compile(r"%YAML\b|---\s*\n\s*[\w\"'-]+\s*:|.*!!python/", re.DOTALL)
_JSON_OBJECT = re.compile(r"\{\s*(\"([^\"\\]|\\.)*\"\s*:|\}\s*$)")
_JSON_LIST = re.compile(r"\[\s*([\[{\"\]\-\d]|true|false|null)")


def kind_of(data: bytes) -> str:
    """Say what the bytes are: ``gzip``, ``excel``, ``parquet``, ``survey`` or ``text``.

    Raises:
        DataError: If they are something else that is recognised (``E_FORMAT``, by name), or nothing
            at all (``E_EMPTY``).
    """
    if not data[: 1 << 16].strip(b"\x00\t\n\x0b\x0c\r \xef\xbb\xbf\xff\xfe\x1a") and not data.strip(
        b"\x00\t\n\x0b\x0c\r \xef\xbb\xbf\xff\xfe\x1a"
    ):
        raise empty()
    if data[:2] == b"\x1f\x8b":
        return "gzip"
    if data[:4] == b"PAR1":
        return "parquet"
    if data[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        return _zip_kind(data)
    if data[:8] == b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1":
        return _compound_kind(data)
    if survey_name(data):
        return "survey"
    name = _binary_name(data) or _markup_name(data)
    if name:
        raise refused(name)
    no_table = refusal(data, _beginning(data))
    if no_table is not None:
        raise no_table
    return "text"


def survey_name(data: bytes) -> str:
    """Name the statistical package's file that the bytes are; "" if they are none."""
    if data[:4] in (b"$FL2", b"$FL3"):
        return "an SPSS file"
    if b"SPSS PORT FILE" in data[:200] or b"SPSSPORT" in data[:600].replace(b"\r\n", b""):
        return "an SPSS portable file"
    if data.startswith(b"<stata_dta>") or (
        data[:1] in _STATA and data[1:2] in (b"\x01", b"\x02") and data[2:4] == b"\x01\x00"
    ):
        return "a Stata file"
    if data.startswith((b"HEADER RECORD*******LIBRARY", b"HEADER RECORD*******LIBV8")):
        return "a SAS transport file"
    return "a SAS file" if data[:32].find(_SAS) >= 0 else ""


def empty() -> DataError:
    """Return the refusal of a file without any content."""
    return DataError(
        "The file holds nothing but blank space; a table needs at least a line of column names. "
        "Choose another file, or start from one of the examples.",
        code="E_EMPTY",
    )


def too_large(size: int | None, limits: Limits, *, unpacked: bool = False) -> DataError:
    """Return the refusal of a file beyond the size limit."""
    found = "unpacks to more" if size is None else f"is {megabytes(size)}"
    whole = "The archive" if unpacked else "The file"
    return DataError(
        f"{whole} {found}; at most {megabytes(limits.file)} can be read. Keep only the columns "
        "that "
        "are needed, or take a part of the rows.",
        code="E_TOO_LARGE",
    )


# -- archives -----------------------------------------------------------------------------------


def gunzip(data: bytes, limits: Limits) -> bytes:
    """Unpack gzip bytes, never beyond the size limit.

    The size is counted first and nothing kept, so a bomb costs no memory.

    Raises:
        DataError: If more than the limit comes out (``E_TOO_LARGE``), or the archive is broken
            (``E_FORMAT``).
    """
    whole = bytearray(sum(map(len, _inflated(data, limits))))
    at = 0
    for block in _inflated(data, limits):
        whole[at : at + len(block)] = block
        at += len(block)
    return bytes(whole)


def _inflated(data: bytes, limits: Limits) -> Iterator[bytes]:
    total, rest = 0, memoryview(data)
    while rest:
        member = zlib.decompressobj(wbits=31)
        fed = 0
        while not member.eof:
            piece = member.unconsumed_tail or bytes(rest[fed : fed + (1 << 16)])
            if not member.unconsumed_tail:
                fed += len(piece)
            try:
                block = member.decompress(piece, 1 << 20)
            except zlib.error:
                raise _broken("gzip") from None
            if not piece and not block and not member.eof:
                raise _broken("gzip")
            total += len(block)
            if total > limits.file:
                raise too_large(None, limits, unpacked=True)
            yield block
        rest = rest[fed - len(member.unused_data) :]
        # Padding after the last member is allowed by every reader; other bytes are not.
        if bytes(rest[:2]) != b"\x1f\x8b":
            if bytes(rest).strip(b"\x00"):
                raise _broken("gzip")
            return


def _broken(kind: str) -> DataError:
    return DataError(
        f"The {kind} file is damaged or cut off; it cannot be unpacked whole. Copy or save it "
        "again.",
        code="E_FORMAT",
    )


def check_zip(data: bytes, limits: Limits) -> None:
    """Unpack every part of a zip once, keeping nothing, and refuse a bomb.

    Raises:
        DataError: If the parts together exceed the limit (``E_TOO_LARGE``; eight times the file
            limit, as the XML of a sheet is far longer than its text), or one is damaged
            (``E_FORMAT``).
    """
    limit, total = 8 * limits.file, 0
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for part in archive.infolist():
                with archive.open(part) as stream:
                    while block := stream.read(1 << 20):
                        total += len(block)
                        if total > limit:
                            raise too_large(None, limits, unpacked=True)
    except DataError:
        raise
    except _ZIP_FAULTS:
        raise DataError(
            "The Excel file is damaged or protected by a password; it cannot be opened. Save it "
            "again without a password.",
            code="E_FORMAT",
        ) from None


def _zip_kind(data: bytes) -> str:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
            kind = archive.read("mimetype")[:64] if "mimetype" in names[:1] else b""
    except _ZIP_FAULTS:
        raise refused("a damaged zip archive") from None
    if "xl/workbook.xml" in names or "xl/workbook.bin" in names:
        return "excel"
    if kind.startswith(b"application/vnd.oasis.opendocument.spreadsheet"):
        return "excel"
    if kind.startswith(b"application/vnd.oasis.opendocument"):
        raise refused("an OpenDocument text or drawing")
    if any(name.startswith("word/") for name in names):
        raise refused("a Word document")
    if any(name.startswith("ppt/") for name in names):
        raise refused("a PowerPoint presentation")
    if names and all(name.endswith(".npy") for name in names):
        raise refused("a NumPy archive")
    raise DataError(
        f"The file is a zip archive; {READABLE}, and gzip. Unpack it first, and choose the table "
        "inside.",
        code="E_FORMAT",
    )


def _compound_kind(data: bytes) -> str:
    # The directory of an OLE file names its streams in UTF-16; old Excel keeps its book in one.
    if any(name.encode("utf-16-le") in data for name in ("Workbook", "Book")):
        return "excel"
    if "EncryptedPackage".encode("utf-16-le") in data:
        raise refused("an Office document protected by a password")
    raise refused("an old Office document")


# -- other content ------------------------------------------------------------------------------


def _binary_name(data: bytes) -> str | None:
    for signature, name in _SIGNATURES:
        if data.startswith(signature):
            return name
    if data[257:262] == b"ustar":
        return "a tar archive"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "a WebP image"
    if data[:2] == b"BM" and data[6:10] == b"\0\0\0\0":
        return "a bitmap image"
    if _is_dbase(data):
        return "a dBase file"
    if _is_pickle(data):
        return "a Python pickle (never opened: it could run code)"
    return None


def _is_dbase(data: bytes) -> bool:
    # Version, a date, then the lengths of the header (32 bytes a field and one) and of a record.
    head = data[:32]
    if len(head) < 32 or head[0] not in (0x03, 0x83, 0x8B, 0x30, 0xF5):
        return False
    size = int.from_bytes(head[8:10], "little")
    return (
        1 <= head[2] <= 12 and 1 <= head[3] <= 31 and size % 32 in (1, 8) and b"\r" in data[:size]
    )


def _is_pickle(data: bytes) -> bool:
    # Protocol 2 on begins with \x80 and its number and ends with a stop; 0 and 1 are text-like.
    if data[:1] == b"\x80" and data[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        return True
    return data.rstrip(b"\n").endswith(b".") and (
        data.startswith((b"(dp0", b"(lp0", b"ccopy_reg\n", b"c__builtin__\n", b"cposix\n"))
    )


def _markup_name(data: bytes) -> str | None:
    start = _beginning(data)
    if start.startswith("<"):
        if _HTML.match(start) or _HTML.search(start[:2000]):
            return "a web page (HTML), as some programs save under the name .xls"
        if start.startswith(("<?xml", "<!--")) or re.match(r"<[A-Za-z][\w:.-]*[\s/>]", start):
            return "an XML file"
    if start[:1] in "{[" and _is_json(data, start):
        return "a JSON file"
    if _YAML.match(start):
        return "a YAML file"
    return None


def _beginning(data: bytes) -> str:
    head = data[:4096]
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        text = head.decode("utf-16", errors="replace")
    else:
        text = head.decode("utf-8-sig", errors="replace")
    return text.lstrip("\ufeff \t\r\n")


def _is_json(data: bytes, start: str) -> bool:
    pattern = _JSON_OBJECT if start[0] == "{" else _JSON_LIST
    if not pattern.match(start):
        return False
    # One whole document, or one on each line; anything longer is judged by its beginning.
    first = start.splitlines()[0].rstrip(",")
    for text in (first, start):
        try:
            json.loads(text)
        except (ValueError, RecursionError):
            continue
        return True
    return len(data) > 4096 or start[0] == "{"
