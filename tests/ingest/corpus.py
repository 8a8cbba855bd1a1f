# ruff: noqa: E501 - one case a line reads best, however long
"""Small odd files, each with the table or the refusal it must give.

``rows`` are all the rows; ``count`` and ``first`` are for longer ones. ``warns`` holds every warning
code, exactly: a warning too many is noise, one too few is silence.
"""

# Over 400 lines: a table of cases.

from __future__ import annotations

import codecs
import datetime as dt
import gzip
import io
import json
import lzma
import pickle
import sqlite3
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import xlsxwriter

from engine import ingest


@dataclass(frozen=True)
class Case:
    """One file: its content, what a person chose, and what must come of it."""

    name: str
    data: bytes | Callable[[], bytes]
    labels: Sequence[str] | None = None
    rows: Sequence[Sequence[str]] | None = None
    count: int | None = None
    first: Sequence[str] | None = None
    last: Sequence[str] | None = None
    warns: frozenset[str] | set[str] = frozenset()
    chosen: Mapping[str, Any] = field(default_factory=dict)
    choices: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None
    says: str = ""

    def content(self) -> bytes:
        return self.data() if callable(self.data) else self.data


ABC = ["a", "b", "c"]
PLAIN = [["1", "2", "3"], ["4", "5", "6"]]


def workbook(*sheets: tuple[str, Sequence[Sequence[object]]], top: int = 0, left: int = 0) -> bytes:
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(
        buffer, {"in_memory": True, "default_date_format": "yyyy-mm-dd"}
    ) as book:
        for name, rows in sheets:
            sheet = book.add_worksheet(name)
            for i, row in enumerate(rows):
                for j, cell in enumerate(row):
                    if cell is not None:
                        sheet.write(i + top, j + left, cell)
    return buffer.getvalue()


def parquet(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


def arrow(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    feather.write_feather(table, sink, compression="uncompressed")
    return sink.getvalue()


def zipped(*names: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, "a,b\n1,2\n")
    return buffer.getvalue()


def database() -> bytes:
    with sqlite3.connect(":memory:") as connection:
        connection.execute("create table t (a int)")
        content = connection.serialize()
    connection.close()
    return content


def bomb(size: int = 1 << 28) -> bytes:
    """A gzip file of a quarter of a megabyte that unpacks to a quarter of a gigabyte."""
    line = b"a,b\n" * (1 << 16)
    packer = zlib.compressobj(9, wbits=31)
    parts = [packer.compress(line) for _ in range(size // len(line))]
    return b"".join([*parts, packer.flush()])


def workbook_bomb() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/workbook.xml", "<workbook/>")
        with archive.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as part:
            for _ in range(20):
                part.write(b"<c/>" * (1 << 18))
    return buffer.getvalue()


def lines(*texts: str, end: str = "\n") -> bytes:
    return (end.join(texts) + end).encode()


UMLAUTS = "name,stadt\nJürgen,Köln\nRené,Zürich\n"
UMLAUT_ROWS = [["Jürgen", "Köln"], ["René", "Zürich"]]
RUSSIAN = "имя,город\nИван,Москва\nМария,Казань\nПётр,Самара\n"
JAPANESE = "名前,都市\n太郎,東京\n花子,大阪\n次郎,名古屋\nさくら,京都\nたろう,とうきょう\n"
CHINESE = "姓名,城市\n张伟,北京\n王芳,上海\n李娜,广州\n刘洋,深圳\n"
GREEK = "όνομα,πόλη\nΓιώργος,Αθήνα\nΜαρία,Πάτρα\nΕλένη,Βόλος\n"

TEXTS = [
    # -- plain and relatives
    Case("plain comma", b"a,b,c\n1,2,3\n4,5,6\n", ABC, PLAIN),
    Case("no newline at the end", b"a,b,c\n1,2,3\n4,5,6", ABC, PLAIN),
    Case("windows line ends", b"a,b,c\r\n1,2,3\r\n4,5,6\r\n", ABC, PLAIN),
    Case("old macintosh line ends", b"a,b,c\r1,2,3\r4,5,6\r", ABC, PLAIN),
    Case("mixed line ends", b"a,b,c\r\n1,2,3\n4,5,6\r", ABC, PLAIN),
    Case("doubled carriage returns", b"a,b,c\r\r\n1,2,3\r\r\n4,5,6\r\r\n", ABC, PLAIN),
    Case("doubled carriage returns, one column", b"a\r\r\nx\r\r\ny\r\r\n", ["a"], [["x"], ["y"]]),
    Case("old end-of-file sign", b"a,b,c\n1,2,3\n4,5,6\n\x1a", ABC, PLAIN),
    Case("semicolons", b"a;b;c\n1;2;3\n4;5;6\n", ABC, PLAIN, choices={"separator": ";"}),
    Case("tabs", b"a\tb\tc\n1\t2\t3\n4\t5\t6\n", ABC, PLAIN, choices={"separator": "\t"}),
    Case("pipes", b"a|b|c\n1|2|3\n4|5|6\n", ABC, PLAIN, warns={"W_SEPARATOR"}),
    Case("carets", b"a^b^c\n1^2^3\n4^5^6\n", ABC, PLAIN, warns={"W_SEPARATOR"}),
    Case("unit separators", b"a\x1fb\x1fc\n1\x1f2\x1f3\n4\x1f5\x1f6\n", ABC, PLAIN, warns={"W_SEPARATOR"}),
    Case("spaces", b"a b c\n1 2 3\n4 5 6\n", ABC, PLAIN, warns={"W_SEPARATOR"}),
    Case("blank after each comma", b"a, b, c\n1, 2, 3\n4, 5, 6\n", ABC, PLAIN),
    Case("quoted after a blank", b'a, b\n1, "x, y"\n2, "z"\n', ["a", "b"], [["1", "x, y"], ["2", "z"]]),
    Case("excel's separator line", b"sep=;\na;b\n1;2\n3;4\n", ["a", "b"], [["1", "2"], ["3", "4"]],
         warns={"W_SEP_LINE"}, choices={"separator": ";", "header_line": 2}),
    Case("separator line for pipes", b"sep=|\r\na|b\r\n1|x;y;z\r\n", ["a", "b"], [["1", "x;y;z"]],
         warns={"W_SEP_LINE"}),
    Case("quoted separator line", b'"sep=,"\na,b\n1,2\n', ["a", "b"], [["1", "2"]], warns={"W_SEP_LINE"}),
    Case("decimal comma with semicolons", b"a;b\n1,5;2,5\n3,5;4,5\n", ["a", "b"],
         [["1,5", "2,5"], ["3,5", "4,5"]], warns={"W_DECIMAL_COMMA"},
         choices={"separator": ";", "decimal": ","}),
    Case("decimal comma, quoted, comma separated", b'a,b\n"1,5",x\n"2,75",y\n', ["a", "b"],
         [["1,5", "x"], ["2,75", "y"]], warns={"W_DECIMAL_COMMA"}, choices={"decimal": ","}),
    Case("thousands in quotes", b'name,pay\nx,"1,234.50"\ny,"12,000.00"\n', ["name", "pay"],
         [["x", "1,234.50"], ["y", "12,000.00"]], choices={"decimal": "."}),
    Case("thousands without a point", b'name,pay\nx,"1,234"\ny,"12,000"\n', ["name", "pay"],
         [["x", "1,234"], ["y", "12,000"]], choices={"decimal": "."}),
    Case("german thousands", b"name;lohn\nx;1.234,50\ny;12.000,00\n", ["name", "lohn"],
         [["x", "1.234,50"], ["y", "12.000,00"]], warns={"W_DECIMAL_COMMA"}, choices={"decimal": ","}),
    Case("commas in text, semicolon separated", b"name;city\nSmith, J;Paris, France\nDoe, A;Rome, Italy\n",
         ["name", "city"], [["Smith, J", "Paris, France"], ["Doe, A", "Rome, Italy"]]),
    Case("commas in text, tab separated", b"name\tcity\nSmith, J\tParis\nDoe, A\tRome\n",
         ["name", "city"], [["Smith, J", "Paris"], ["Doe, A", "Rome"]]),
    Case("semicolons in text, comma separated", b'id,tags\n1,a;b;c\n2,d;e;f\n3,g\n', ["id", "tags"],
         [["1", "a;b;c"], ["2", "d;e;f"], ["3", "g"]]),
    Case("one column", b"city\nOslo\nRome\nOslo\n", ["city"], [["Oslo"], ["Rome"], ["Oslo"]],
         choices={"separator": ""}),
    Case("one column with commas in text", b"name\nSmith, Jane\nDoe, John\nRoe, Max\n", ["name"],
         [["Smith, Jane"], ["Doe, John"], ["Roe, Max"]]),
    Case("one column of numbers", b"x\n1\n2\n3\n", ["x"], [["1"], ["2"], ["3"]]),
    Case("one column with some commas", b"note\nfine\nwell, so so\nbad, very bad, awful\nok\n", ["note"],
         [["fine"], ["well, so so"], ["bad, very bad, awful"], ["ok"]]),
    Case("one column, blank lines are missing cells", b"x\n1\n\n3\n\n", ["x"], [["1"], [""], ["3"]],
         warns={"W_BLANK_LINES"}),
    Case("one column, quoted empty cells", b'x\n"1"\n""\n"3"\n""\n', ["x"], [["1"], [""], ["3"], [""]]),
    Case("times are no separators", b"start\n12:30\n14:05\n09:15\n", ["start"], [["12:30"], ["14:05"], ["09:15"]]),
    Case("single quotes", b"a,b\n'x, y',1\n'z',2\n", ["a", "b"], [["x, y", "1"], ["z", "2"]],
         choices={"quoting": "'"}),
    Case("apostrophes are no quotes", b"a,b\nO'Hara,1\nD'Arcy,2\n", ["a", "b"], [["O'Hara", "1"], ["D'Arcy", "2"]]),
    Case("backslash escapes", b'a,b\n"say \\"hi\\", you",1\n"x",2\n', ["a", "b"],
         [['say "hi", you', "1"], ["x", "2"]], choices={"escape": "\\"}),
    Case("backslashes in paths", b'a,b\n"C:\\dir\\",1\nx\\y,2\n', ["a", "b"], [["C:\\dir\\", "1"], ["x\\y", "2"]]),
    Case("doubled quotes", b'a,b\n"say ""hi""",1\n"x",2\n', ["a", "b"], [['say "hi"', "1"], ["x", "2"]]),
    Case("inches", b'size,n\n5" pipe,1\n7" pipe,2\n', ["size", "n"], [['5" pipe', "1"], ['7" pipe', "2"]]),
    Case("line breaks in quotes", b'a,b\n"x\ny",1\n"z\r\nw",2\n3,4\n', ["a", "b"],
         [["x\ny", "1"], ["z\r\nw", "2"], ["3", "4"]]),
    Case("all quoted", b'"a","b"\n"1","2"\n"3","4"\n', ["a", "b"], [["1", "2"], ["3", "4"]]),
    Case("stray quote in one line", b'a,b\n"x" y,1\nz,2\n', ["a", "b"], [["x y", "1"], ["z", "2"]],
         warns={"W_QUOTES"}),
    Case("quotes as plain text, chosen", b'a,b\n"x,1\ny",2\n', ["a", "b"], [['"x', "1"], ['y"', "2"]],
         chosen={"quoting": ""}),
    # -- encodings
    Case("utf-8", UMLAUTS.encode(), ["name", "stadt"], UMLAUT_ROWS, choices={"encoding": "utf-8"}),
    Case("utf-8 with a mark", UMLAUTS.encode("utf-8-sig"), ["name", "stadt"], UMLAUT_ROWS),
    Case("mark before a quoted name", codecs.BOM_UTF8 + b'"a","b"\n1,2\n', ["a", "b"], [["1", "2"]]),
    Case("utf-16 with a mark", UMLAUTS.encode("utf-16"), ["name", "stadt"], UMLAUT_ROWS,
         warns={"W_UTF16"}),
    Case("utf-16 big-endian", codecs.BOM_UTF16_BE + UMLAUTS.encode("utf-16-be"), ["name", "stadt"], UMLAUT_ROWS,
         warns={"W_UTF16"}),
    Case("utf-16 without a mark", UMLAUTS.encode("utf-16-le"), ["name", "stadt"], UMLAUT_ROWS,
         warns={"W_ENCODING"}, choices={"encoding": "utf-16-le"}),
    Case("utf-16 big-endian without a mark", UMLAUTS.encode("utf-16-be"), ["name", "stadt"], UMLAUT_ROWS,
         warns={"W_ENCODING"}, choices={"encoding": "utf-16-be"}),
    Case("utf-16 tabs, as Excel's Unicode text", "a\tb\r\n1\tü\r\n".encode("utf-16"), ["a", "b"], [["1", "ü"]],
         warns={"W_UTF16"}),
    Case("utf-32 with a mark", UMLAUTS.encode("utf-32"), ["name", "stadt"], UMLAUT_ROWS),
    Case("cp1252", UMLAUTS.encode("cp1252"), ["name", "stadt"], UMLAUT_ROWS, warns={"W_ENCODING"},
         choices={"encoding": "cp1252"}),
    Case("cp1252 with a euro sign and quotes", "a,b\n“x”,5 €\n–,7 €\n".encode("cp1252"), ["a", "b"],
         [["“x”", "5 €"], ["–", "7 €"]], warns={"W_ENCODING"}),
    Case("latin-1, one accent", b"a,b\ncaf\xe9,1\ntea,2\n", ["a", "b"], [["café", "1"], ["tea", "2"]],
         warns={"W_ENCODING"}),
    Case("latin-1, chosen", UMLAUTS.encode("latin-1"), ["name", "stadt"], UMLAUT_ROWS,
         chosen={"encoding": "latin-1"}),
    Case("accent only after many lines", b"a,b\n" + b"x,1\n" * 5000 + b"caf\xe9,2\n", ["a", "b"], count=5001,
         last=["café", "2"], warns={"W_ENCODING"}),
    Case("cyrillic", RUSSIAN.encode("cp1251"), ["имя", "город"], count=3, first=["Иван", "Москва"],
         warns={"W_ENCODING"}),
    Case("koi8-r", RUSSIAN.encode("koi8-r"), ["имя", "город"], count=3, first=["Иван", "Москва"],
         warns={"W_ENCODING"}),
    Case("shift-jis", JAPANESE.encode("cp932"), ["名前", "都市"], count=5, first=["太郎", "東京"],
         warns={"W_ENCODING"}),
    Case("gb18030", CHINESE.encode("gb18030"), ["姓名", "城市"], count=4, first=["张伟", "北京"],
         warns={"W_ENCODING"}),
    Case("greek", GREEK.encode("cp1253"), ["όνομα", "πόλη"], count=3, first=["Γιώργος", "Αθήνα"],
         warns={"W_ENCODING"}),
    Case("mac roman", UMLAUTS.encode("mac-roman"), ["name", "stadt"], UMLAUT_ROWS, warns={"W_ENCODING"}),
    Case("mostly utf-8 with one bad byte", ("a,b\n" + "é,ü\n" * 30).encode() + b"x\xff,1\n", ["a", "b"],
         count=31, last=["x\ufffd", "1"], warns={"W_BAD_BYTES"}),
    Case("encoding chosen wrongly", "a,b\né,1\n".encode("cp1252"), ["a", "b"], [["\ufffd", "1"]],
         chosen={"encoding": "utf-8"}, warns={"W_BAD_BYTES"}),
    Case("encoding unknown", b"a,b\n1,2\n", chosen={"encoding": "klingon"}, error="E_ENCODING"),
    Case("encoding that is no text", b"a,b\n1,2\n", chosen={"encoding": "zlib"}, error="E_ENCODING"),
    # -- cells stay texts
    Case("codes stay", b"country,zip,v\nNA,01234,1.0\nDE,00501,1\nNone,99999,-0\nnull,1,1e5\n",
         ["country", "zip", "v"],
         [["NA", "01234", "1.0"], ["DE", "00501", "1"], ["None", "99999", "-0"], ["null", "1", "1e5"]],
         warns={"W_MISSING_TOKENS"}),
    Case("booleans stay", b"a,b\nTrue,yes\nFALSE,no\n", ["a", "b"], [["True", "yes"], ["FALSE", "no"]]),
    Case("long numbers stay", b"a,b\n12345678901234567890,1\n98765432109876543210,2\n", ["a", "b"],
         [["12345678901234567890", "1"], ["98765432109876543210", "2"]]),
    Case("infinities stay", b"a,b\ninf,1\n-inf,2\n", ["a", "b"], [["inf", "1"], ["-inf", "2"]],
         warns={"W_INFINITE"}),
    Case("formulas stay", b"a,b\n=1+1,@x\n+3,-4\n", ["a", "b"], [["=1+1", "@x"], ["+3", "-4"]]),
    Case("duplicates are people", b"a,b\n1,2\n1,2\n1,2\n", ["a", "b"], [["1", "2"]] * 3),
    Case("padding is removed and counted", b"a ,b\n x ,1\ny,2 \n", ["a", "b"], [["x", "1"], ["y", "2"]],
         warns={"W_TRIMMED"}),
    Case("padding kept, chosen", b"a,b\n x ,1\ny,2 \n", ["a", "b"], [[" x ", "1"], ["y", "2 "]],
         chosen={"trim": False, "quoting": ""}),
    Case("NUL characters", b"a\0b,c\nx\0y,1\nz,2\n", ["ab", "c"], [["xy", "1"], ["z", "2"]], warns={"W_NUL"}),
    Case("empty cells", b"a,b,c\n1,,3\n,,6\n7,8,\n", ABC, [["1", "", "3"], ["", "", "6"], ["7", "8", ""]]),
    Case("an empty record inside stays", b"a,b\n1,2\n,\n3,4\n", ["a", "b"], [["1", "2"], ["", ""], ["3", "4"]]),
    Case("emoji and right-to-left", "a,b\n😀,שלום\nمرحبا,1\n".encode(), ["a", "b"], [["😀", "שלום"], ["مرحبا", "1"]]),
    Case("markup in cells", b"a,b\n<b>x</b>,$y$\n:smile:,[z](w)\n", ["a", "b"],
         [["<b>x</b>", "$y$"], [":smile:", "[z](w)"]]),
]  # fmt: skip

SHAPES = [
    # -- above the header
    Case("title and blank line", lines("Sales report 2023", "", "id,age,sex", "1,30,f", "2,40,m"),
         ["id", "age", "sex"], [["1", "30", "f"], ["2", "40", "m"]], warns={"W_PREAMBLE"},
         choices={"header_line": 3}),
    Case("title without blank line", lines("Sales report 2023", "id,age,sex", "1,30,f", "2,40,m"),
         ["id", "age", "sex"], [["1", "30", "f"], ["2", "40", "m"]], warns={"W_PREAMBLE"}),
    Case("padded title, as Excel saves it", lines("Sales report,,", "2023,,", ",,", "id,age,sex", "1,30,f", "2,40,m"),
         ["id", "age", "sex"], [["1", "30", "f"], ["2", "40", "m"]], warns={"W_PREAMBLE"}),
    Case("padded title over two columns", lines("Report,", ",", "id,age", "1,30", "2,40"), ["id", "age"],
         [["1", "30"], ["2", "40"]], warns={"W_PREAMBLE"}),
    Case("title with commas", lines("Report, by office, as of May, draft", "", "id,age,sex", "1,30,f", "2,40,m"),
         ["id", "age", "sex"], [["1", "30", "f"], ["2", "40", "m"]], warns={"W_PREAMBLE"}),
    Case("title with as many commas", lines("Generated by office, on Monday", "", "id,age", "1,30", "2,40"),
         ["id", "age"], [["1", "30"], ["2", "40"]], warns={"W_PREAMBLE"}),
    Case("hash comments", lines("# a survey", "# of 2023, with commas, and so on", "id,age", "1,30", "2,40"),
         ["id", "age"], [["1", "30"], ["2", "40"]], warns={"W_PREAMBLE"}, choices={"header_line": 3}),
    Case("hash before the names", lines("#id,age,sex", "1,30,f", "2,40,m"), ["#id", "age", "sex"],
         [["1", "30", "f"], ["2", "40", "m"]]),
    Case("comment, then hash before the names", lines("# made by x", "#id,age,sex", "1,30,f", "2,40,m"),
         ["#id", "age", "sex"], [["1", "30", "f"], ["2", "40", "m"]], warns={"W_PREAMBLE"}),
    Case("key and value lines", lines("Survey;Health", "Date;2023-05-01", "Persons;2", "", "id;age;sex;city",
         "1;30;f;Oslo", "2;40;m;Rome"), ["id", "age", "sex", "city"],
         [["1", "30", "f", "Oslo"], ["2", "40", "m", "Rome"]], warns={"W_PREAMBLE"}),
    Case("many note lines", lines(*[f"note {i}" for i in range(20)], "a,b,c", *["1,2,3"] * 30), ABC,
         count=30, first=["1", "2", "3"], warns={"W_PREAMBLE"}),
    Case("blank lines above", b"\n\na,b,c\n1,2,3\n4,5,6\n", ABC, PLAIN, choices={"header_line": 3}),
    Case("comment between the rows", lines("a,b,c", "1,2,3", "# second half", "4,5,6"), ABC, PLAIN,
         warns={"W_COMMENTS"}),
    Case("header line chosen", lines("x,y,z", "a,b,c", "1,2,3", "4,5,6"), ABC, PLAIN,
         chosen={"header_line": 2}),
    Case("unbalanced quote above the chosen header", lines('"draft', "a,b,c", "1,2,3", "4,5,6"), ABC, PLAIN,
         chosen={"header_line": 2}),
    Case("units below the names", lines("height,weight", "cm,kg", "170,60", "180,70"), ["height", "weight"],
         [["cm", "kg"], ["170", "60"], ["180", "70"]], warns={"W_SECOND_HEADER"}),
    Case("quotes around whole lines", b'"a,b,c"\n"1,2,3"\n"4,5,6"\n', ["a,b,c"], [["1,2,3"], ["4,5,6"]],
         warns={"W_ONE_COLUMN"}),
    Case("columns of fixed width", b"name   age\nAnn    30\nBob    40\n", count=2, warns={"W_ONE_COLUMN"}),
    # -- names
    Case("no header: numbers", b"1,2.5\n2,3.5\n3,4.5\n", ["column 1 (no name)", "column 2 (no name)"],
         [["1", "2.5"], ["2", "3.5"], ["3", "4.5"]], warns={"W_NO_HEADER"}, choices={"header_line": 0}),
    Case("no header: mixed", lines("39,Male,Private", "50,Male,Private", "38,Female,Private", "53,Male,State"),
         ["column 1 (no name)", "column 2 (no name)", "column 3 (no name)"], count=4,
         first=["39", "Male", "Private"], warns={"W_NO_HEADER"}),
    Case("no header: chosen", b"x,y\nu,v\n", ["column 1 (no name)", "column 2 (no name)"],
         [["x", "y"], ["u", "v"]], chosen={"header_line": 0}, warns={"W_NO_HEADER"}),
    Case("header that looks like data, chosen", b"1,2\n3,4\n5,6\n", ["1", "2"], [["3", "4"], ["5", "6"]],
         chosen={"header_line": 1}),
    Case("years as names", b"country,2019,2020,2021\nNO,1.5,2.5,3.5\nIT,4.5,5.5,6.5\n",
         ["country", "2019", "2020", "2021"], count=2, first=["NO", "1.5", "2.5", "3.5"]),
    Case("all texts", b"name,city\nAnn,Oslo\nBob,Rome\n", ["name", "city"], [["Ann", "Oslo"], ["Bob", "Rome"]]),
    Case("duplicate names", b"a,a,b,a\n1,2,3,4\n", ["a", "a (2nd)", "b", "a (3rd)"], [["1", "2", "3", "4"]],
         warns={"W_DUPLICATE_NAMES"}),
    Case("duplicate names that are taken", b"a,a,a (2nd)\n1,2,x\n3,4,y\n", ["a", "a (3rd)", "a (2nd)"],
         [["1", "2", "x"], ["3", "4", "y"]], warns={"W_DUPLICATE_NAMES"}),
    Case("blank name", b"a,b,,d\n1,2,3,4\n5,6,7,8\n", ["a", "b", "column 3 (no name)", "d"],
         [["1", "2", "3", "4"], ["5", "6", "7", "8"]], warns={"W_NO_NAME"}),
    Case("saved index", b",a,b\n0,x,y\n1,z,w\n2,x,w\n", ["column 1 (no name)", "a", "b"],
         [["0", "x", "y"], ["1", "z", "w"], ["2", "x", "w"]], warns={"W_NO_NAME"}),
    Case("pandas' unnamed index", b"Unnamed: 0,a\n0,x\n1,y\n", ["Unnamed: 0", "a"], [["0", "x"], ["1", "y"]],
         warns={"W_UNNAMED"}),
    Case("line break in a name", b'"first\nname",b\nx,1\n', ["first name", "b"], [["x", "1"]],
         warns={"W_NAME_NEWLINE"}),
    Case("composed and decomposed accents", "café,cafe\u0301\n1,2\n".encode(), ["café", "café (2nd)"], [["1", "2"]],
         warns={"W_DUPLICATE_NAMES"}),
    Case("names that look alike", "Age,age,a\u200bge\n1,2,3\n".encode(), ["Age", "age", "a\u200bge"],
         [["1", "2", "3"]], warns={"W_LOOKALIKE_NAMES"}),
    Case("hostile names", b"$x$,:smile:,a.b,<b>,1. a,__proto__,a[0]:Q\n1,2,3,4,5,6,7\n",
         ["$x$", ":smile:", "a.b", "<b>", "1. a", "__proto__", "a[0]:Q"], count=1),
    Case("name of 300 characters", b"a," + b"x" * 300 + b"\n1,2\n", ["a", "x" * 300], [["1", "2"]]),
    # -- rows that do not fit
    Case("short rows are padded", b"a,b,c\n1,2,3\n4,5\n6,7,8\n9\n1,2,3\n", ABC,
         [["1", "2", "3"], ["4", "5", ""], ["6", "7", "8"], ["9", "", ""], ["1", "2", "3"]],
         warns={"W_SHORT_ROWS"}),
    Case("file cut off in the last row", b"a,b,c\n1,2,3\n4,5,6\n7,8", ABC, [*PLAIN, ["7", "8", ""]],
         warns={"W_SHORT_ROWS"}),
    Case("a long row", b"a,b,c\n1,2,3\n4,5,6,7\n8,9,0\n", error="E_CSV_SHAPE", says="line 3"),
    Case("long rows are all named", b"a,b\n1,2\n" + b"1,2,3\n" + b"1,2\n" * 40 + b"1,2,3,4\n1,2\n",
         error="E_CSV_SHAPE", says="lines 3 and 44"),
    Case("long rows left out, chosen", b"a,b,c\n1,2,3\n4,5,6,7\n4,5,6\n", ABC, PLAIN,
         chosen={"long_rows": "skip"}, warns={"W_LONG_ROWS"}),
    Case("long rows kept, chosen", b"a,b,c\n1,2,3\n4,5,6,7\n8,9,0\n", [*ABC, "column 4 (no name)"],
         [["1", "2", "3", ""], ["4", "5", "6", "7"], ["8", "9", "0", ""]], chosen={"long_rows": "widen"},
         warns={"W_LONG_ROWS", "W_NO_NAME"}),
    Case("saved row names", b"a,b\nr1,1,2\nr2,3,4\nr3,5,6\n", ["column 1 (no name)", "a", "b"],
         [["r1", "1", "2"], ["r2", "3", "4"], ["r3", "5", "6"]], warns={"W_ROW_NAMES", "W_NO_NAME"}),
    Case("every row one too long", b"a,b\n1,2,3\n4,5,6\n", ["column 1 (no name)", "a", "b"], PLAIN,
         warns={"W_ROW_NAMES", "W_NO_NAME"}),
    Case("saved row names, R with blanks", b'"a" "b"\n"1" 1.5 2\n"2" 3.5 4\n', ["column 1 (no name)", "a", "b"],
         [["1", "1.5", "2"], ["2", "3.5", "4"]], warns={"W_ROW_NAMES", "W_NO_NAME", "W_SEPARATOR"}),
    Case("separator at every line's end", b"a,b,c\n1,2,3,\n4,5,6,\n", ABC, PLAIN, warns={"W_TRAILING_SEPARATOR"}),
    Case("separator at the header's end only", b"a,b,c,\n1,2,3\n4,5,6\n", ABC, PLAIN),
    Case("separator at the end everywhere", b"a,b,c,\n1,2,3,\n4,5,6,\n", ABC, PLAIN,
         warns={"W_EMPTY_COLUMNS"}),
    Case("blank lines between rows", b"a,b,c\n1,2,3\n\n  \n4,5,6\n", ABC, PLAIN, warns={"W_BLANK_LINES"}),
    Case("blank lines at the end", b"a,b,c\n1,2,3\n4,5,6\n\n\n  \n", ABC, PLAIN),
    Case("unclosed quote", b'id,note\n1,ok\n2,"open\n3,fine\n', error="E_CSV_SHAPE", says="line 3"),
    Case("unclosed quote that meets the next", b'id,note\n1,"open\n2,"def"\n3,ghi\n', error="E_CSV_SHAPE", says="line 2"),
    Case("unclosed quote, far", b'id,note,n\n1,"open,5\n' + b"2,abc,6\n" * 2000, error="E_CSV_SHAPE", says="line 2"),
    Case("unclosed quote beyond a cell's size", b'id,note,n\n1,"open,5\n' + b"2,abc,6\n" * 30000,
         error="E_CSV_SHAPE", says="line 2"),
    Case("a quote that swallows records", b'id,note,n\n1,"abc,5\n2,x,6\n3,y,7\n4,def",8\n5,z,9\n',
         error="E_CSV_SHAPE", says="line 2"),
    Case("unclosed quote in the last line", b'a,b\n1,2\n3,"4', error="E_CSV_SHAPE", says="line 3"),
    # -- below
    Case("total row", lines("item,n,price", "x,1,2.5", "y,2,3.5", "Total,3,6.0"), ["item", "n", "price"],
         [["x", "1", "2.5"], ["y", "2", "3.5"]], warns={"W_FOOTER"}, choices={"last_line": 3}),
    Case("total row with gaps", lines("item,n,price", "x,1,2.5", "y,2,3.5", "Total,,6.0"), ["item", "n", "price"],
         [["x", "1", "2.5"], ["y", "2", "3.5"]], warns={"W_FOOTER"}),
    Case("total kept, chosen", lines("item,n", "x,1", "y,2", "Total,3"), ["item", "n"],
         [["x", "1"], ["y", "2"], ["Total", "3"]], chosen={"last_line": 4}),
    Case("note after a blank line", lines("id,age,sex", "1,30,f", "2,40,m", "", "Source: census, 2023"),
         ["id", "age", "sex"], [["1", "30", "f"], ["2", "40", "m"]], warns={"W_FOOTER"}),
    Case("notes, the long way", lines("id,age,sex", "1,30,f", "2,40,m", "", "Note: numbers, as ever, are, rounded",
         "Source: census"), ["id", "age", "sex"], [["1", "30", "f"], ["2", "40", "m"]], warns={"W_FOOTER"}),
    Case("padded notes, as Excel saves them", lines("id,age,sex", "1,30,f", "2,40,m", ",,", "Source: census,,"),
         ["id", "age", "sex"], [["1", "30", "f"], ["2", "40", "m"]], warns={"W_FOOTER"}),
    Case("row count of a database client", lines("id|age", "1|30", "2|40", "(2 rows)"), ["id", "age"],
         [["1", "30"], ["2", "40"]], warns={"W_FOOTER", "W_SEPARATOR"}),
    Case("empty rows at the end", lines("a,b,c", "1,2,3", "4,5,6", ",,", ",,"), ABC, PLAIN, warns={"W_FOOTER"}),
    Case("last line chosen", lines("a,b,c", "1,2,3", "4,5,6", "x,y,z", "more"), ABC, PLAIN,
         chosen={"last_line": 3}, warns={"W_LAST_LINE"}),
    Case("a person called Total is kept", lines("name,sex", "Total,f", "Meier,m"), ["name", "sex"],
         [["Total", "f"], ["Meier", "m"]]),
    # -- next to nothing
    Case("names only", b"a,b,c\n", ABC, [], warns={"W_HEADER_ONLY"}),
    Case("one row", b"a,b,c\n1,2,3\n", ABC, [["1", "2", "3"]]),
    Case("one row without names", b"1,2,3\n", ["column 1 (no name)", "column 2 (no name)", "column 3 (no name)"],
         [["1", "2", "3"]], warns={"W_NO_HEADER"}),
    Case("one cell", b"a\n", ["a"], [], warns={"W_HEADER_ONLY"}),
    Case("empty", b"", error="E_EMPTY"),
    Case("blank lines only", b"\n\n \r\n\t\n", error="E_EMPTY"),
    Case("a mark only", codecs.BOM_UTF8, error="E_EMPTY"),
    Case("separators only", b",,,\n,,,\n", error="E_EMPTY"),
    Case("an empty column", b"a,b,c\n1,,3\n4,,6\n", ABC, [["1", "", "3"], ["4", "", "6"]], warns={"W_EMPTY_COLUMNS"}),
    Case("a constant column", b"a,b\n1,x\n2,x\n", ["a", "b"], [["1", "x"], ["2", "x"]]),
    Case("counts already", b"sex,n\nf,120\nm,130\n", ["sex", "n"], [["f", "120"], ["m", "130"]],
         warns={"W_COUNTED"}),
    # -- sizes
    Case("ten thousand columns", ",".join(f"v{i}" for i in range(10_000)).encode() + b"\n" + b"1," * 9_999 + b"1\n",
         count=1, warns={"W_MANY_COLUMNS"}),
    Case("too many columns", b"a," * 30_000 + b"a\n", error="E_TOO_LARGE"),
    Case("a line without an end", b"a,b\n1," + b"x" * 2_000_000 + b"\n", error="E_CSV_SHAPE", says="Line 2"),
    Case("a cell beyond its size", b"a,b\n1," + b"x" * 70_000 + b"\n", error="E_CSV_SHAPE", says="line 2"),
    Case("a cell far beyond its size", b"a,b\n1," + b"x" * 200_000 + b"\n", error="E_CSV_SHAPE", says="line 2"),
    Case("a cell that just fits", b"a,b\n1," + b"x" * 65_536 + b"\n2,y\n", ["a", "b"], count=2, last=["2", "y"]),
    Case("too large", lambda: b"a,b\n" + b"1,2\n" * (14 << 20), error="E_TOO_LARGE"),
]  # fmt: skip

BOOK = [["id", "age", "born"], [1, 30, dt.date(1990, 5, 1)], [2, 41.5, dt.date(1980, 1, 31)]]
BOOK_ROWS = [["1", "30", "1990-05-01"], ["2", "41.5", "1980-01-31"]]
FRAME = pa.table(
    {
        "a": [1, 2, None],
        "b": ["x", None, "NA"],
        "c": [1.5, 2.0, float("nan")],
        "d": [True, False, None],
    }
)

FILES = [
    Case("gzip", gzip.compress(b"a,b,c\n1,2,3\n4,5,6\n"), ABC, PLAIN),
    Case("gzip of two members", gzip.compress(b"a,b,c\n1,2,3\n") + gzip.compress(b"4,5,6\n"), ABC, PLAIN),
    Case("gzip of nothing", gzip.compress(b""), error="E_EMPTY"),
    Case("gzip cut off", gzip.compress(b"a,b,c\n1,2,3\n" * 99)[:-12], error="E_FORMAT", says="damaged"),
    Case("gzip with rubbish inside", gzip.compress(b"a,b\n" * 99)[:20] + b"rubbish" * 9, error="E_FORMAT"),
    Case("gzip in gzip", gzip.compress(gzip.compress(b"a,b\n")), error="E_FORMAT"),
    Case("gzip of an image", gzip.compress(b"\x89PNG\r\n\x1a\n" + bytes(99)), error="E_FORMAT", says="PNG"),
    Case("gzip bomb", bomb, error="E_TOO_LARGE"),
    Case("excel named csv", lambda: workbook(("Sheet1", BOOK)), ["id", "age", "born"], BOOK_ROWS,
         choices={"sheet": "Sheet1", "format": "excel"}),
    Case("excel, second sheet chosen", lambda: workbook(("one", [["x"], ["y"]]), ("two", BOOK)), ["id", "age", "born"],
         BOOK_ROWS, chosen={"sheet": "two"}),
    Case("excel, sheet by number", lambda: workbook(("one", [["x"], ["y"]]), ("two", BOOK)), ["id", "age", "born"],
         BOOK_ROWS, chosen={"sheet": 1}),
    Case("excel, several sheets", lambda: workbook(("one", BOOK), ("two", [["x"], ["y"]])), ["id", "age", "born"],
         BOOK_ROWS, warns={"W_SHEETS"}),
    Case("excel, first sheet empty", lambda: workbook(("cover", []), ("data", BOOK)), ["id", "age", "born"],
         BOOK_ROWS, warns={"W_SHEETS"}, choices={"sheet": "data"}),
    Case("excel, unknown sheet", lambda: workbook(("one", BOOK)), chosen={"sheet": "nine"}, error="E_SHEET"),
    Case("excel, title above and note below",
         lambda: workbook(("s", [["Report of May"], [], *BOOK, [], ["Source: office"]])), ["id", "age", "born"],
         BOOK_ROWS, warns={"W_PREAMBLE", "W_FOOTER"}, choices={"header_line": 3}),
    Case("excel, table not in the corner", lambda: workbook(("s", BOOK), top=3, left=2), ["id", "age", "born"],
         BOOK_ROWS, choices={"header_line": 4}),
    Case("excel, types", lambda: workbook(("s", [["t", "b", "f"], ["NA", True, 0.1], ["007", False, 1e20]])),
         ["t", "b", "f"], [["NA", "TRUE", "0.1"], ["007", "FALSE", "1e+20"]], warns={"W_MISSING_TOKENS"}),
    Case("excel, gaps", lambda: workbook(("s", [["a", "b", "c"], [1, None, 3], [None, None, None], [4, 5, None]])),
         ABC, [["1", "", "3"], ["4", "5", ""]], warns={"W_BLANK_LINES"}),
    Case("excel, empty", lambda: workbook(("s", [])), error="E_EMPTY"),
    Case("excel, names only", lambda: workbook(("s", [["a", "b"]])), ["a", "b"], [], warns={"W_HEADER_ONLY"}),
    Case("excel, damaged", lambda: workbook(("s", BOOK))[:-300], error="E_FORMAT"),
    Case("excel bomb", workbook_bomb, error="E_TOO_LARGE", chosen={"limits": ingest.Limits(file=1 << 20)}),
    Case("parquet", lambda: parquet(FRAME), ["a", "b", "c", "d"],
         [["1", "x", "1.5", "true"], ["2", "", "2.0", "false"], ["", "NA", "", ""]], warns={"W_MISSING_TOKENS"}),
    Case("parquet, dates and categories", lambda: parquet(pa.table({
             "day": pa.array([dt.date(2024, 1, 31), None]), "at": pa.array([dt.datetime(2024, 1, 31), None]),
             "kind": pa.array(["x", "y"]).dictionary_encode(), "z": pa.array(["01", "1.0"], pa.large_string())})),
         ["day", "at", "kind", "z"], [["2024-01-31", "2024-01-31", "x", "01"], ["", "", "y", "1.0"]]),
    Case("parquet, lists", lambda: parquet(pa.table({"a": [1, 2], "b": [[1, 2], None]})), ["a", "b"],
         [["1", "[1, 2]"], ["2", ""]], warns={"W_NESTED"}),
    Case("parquet, no rows", lambda: parquet(pa.table({"a": pa.array([], pa.int64())})), ["a"], [],
         warns={"W_HEADER_ONLY"}),
    Case("parquet, equal names", lambda: parquet(pa.Table.from_arrays([pa.array([1]), pa.array(["x"])], ["a", "a"])),
         ["a", "a (2nd)"], [["1", "x"]], warns={"W_DUPLICATE_NAMES"}),
    Case("parquet, damaged", lambda: parquet(FRAME)[:-40], error="E_FORMAT", says="Parquet"),
    Case("parquet, billions declared", lambda: parquet(pa.table({"a": pa.repeat(pa.scalar(1, pa.int8()), 70_000)})),
         chosen={"limits": ingest.Limits(cells=60_000)}, error="E_TOO_LARGE"),
    Case("zip", zipped("a.csv"), error="E_FORMAT", says="zip"),
    Case("word document", zipped("[Content_Types].xml", "word/document.xml"), error="E_FORMAT", says="Word"),
    Case("xz", lzma.compress(b"a,b\n1,2\n"), error="E_FORMAT", says="xz"),
    Case("bzip2", codecs.encode(b"a,b\n1,2\n", "bz2"), error="E_FORMAT", says="bzip2"),
    Case("pickle", pickle.dumps({"a": [1, 2]}), error="E_FORMAT", says="pickle"),
    Case("old pickle", pickle.dumps({"a": [1, 2]}, protocol=0), error="E_FORMAT", says="pickle"),
    Case("json records", json.dumps([{"a": 1, "b": 2}, {"a": 3, "b": 4}]).encode(), error="E_FORMAT", says="JSON"),
    Case("json object", json.dumps({"a": [1, 2]}, indent=1).encode(), error="E_FORMAT", says="JSON"),
    Case("json lines", b'{"a": 1, "b": 2}\n{"a": 3, "b": 4}\n', error="E_FORMAT", says="JSON"),
    Case("json, utf-16", json.dumps([{"a": 1}]).encode("utf-16"), error="E_FORMAT", says="JSON"),
    Case("brackets in a table", b"[a],b\n[1],2\n[3],4\n", ["[a]", "b"], [["[1]", "2"], ["[3]", "4"]]),
    Case("html", b"<!DOCTYPE html><html><table><tr><td>a</td></tr></table></html>", error="E_FORMAT", says="HTML"),
    Case("html table as xls", b"\n<html xmlns:x='urn'><body><table></table></body></html>", error="E_FORMAT", says="HTML"),
    Case("xml", b"<?xml version='1.0'?><rows><row a='1'/></rows>", error="E_FORMAT", says="XML"),
    Case("pdf", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n", error="E_FORMAT", says="PDF"),
    Case("png", b"\x89PNG\r\n\x1a\n" + bytes(range(256)), error="E_FORMAT", says="PNG"),
    Case("jpeg", b"\xff\xd8\xff\xe0\x00\x10JFIF" + bytes(range(256)), error="E_FORMAT", says="JPEG"),
    Case("sqlite", database, error="E_FORMAT", says="SQLite"),
    Case("feather", lambda: arrow(pa.table({"a": [1]})), error="E_FORMAT", says="Feather"),
    Case("stata", b"<stata_dta><header><release>118</release>", error="E_FORMAT", says="Stata"),
    Case("spss", b"$FL2@(#) SPSS DATA FILE", error="E_FORMAT", says="SPSS"),
    Case("yaml with tags", b"!!python/object/apply:os.system ['x']\n", error="E_FORMAT", says="YAML"),
    Case("random bytes", bytes((i * 7919 + i * i // 3) % 256 for i in range(5000)), error="E_FORMAT"),
    Case("a choice that is none", b"a,b\n1,2\n", chosen={"separator": ",,"}, error="E_CHOICE"),
    Case("a header line beyond the end", b"a,b\n1,2\n", chosen={"header_line": 9}, error="E_EMPTY"),
]  # fmt: skip

CASES = [*TEXTS, *SHAPES, *FILES]
