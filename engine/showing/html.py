"""Small pieces of HTML with a badge that says who may see them, made by Jinja2.

Jinja2 escapes every text that is not marked as HTML already (``Markup``), so none a user wrote can
get through. Styles stand inline, since front ends strip style sheets from notebooks they do not
trust.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from markupsafe import Markup
from markupsafe import escape as escaped

from engine.exporting.markup import filling
from engine.showing.badges import MARKS
from engine.showing.badges import NOT_PRIVATE as NOT_PRIVATE
from engine.showing.badges import PUBLIC as PUBLIC
from engine.showing.badges import RELEASED as RELEASED

RECORDS = "private records (they stay in the kernel)"
KINDS = {**MARKS, RECORDS: MARKS[NOT_PRIVATE]}
"""The mark of each badge."""
# Each dark enough for white text.
_COLOURS = {RELEASED: "#007A59", PUBLIC: "#1B6CA8", NOT_PRIVATE: "#B34E00", RECORDS: "#B34E00"}
_LONGEST = 60
_TEMPLATES = {
    "badge": """
<span style="background:{{ colour }};color:#fff;border-radius:9px;padding:1px 9px;
font-size:12px;white-space:nowrap">{{ mark }} {{ kind }}</span>""",
    "box": """
<div style="font-family:system-ui,sans-serif;font-size:14px;line-height:1.45;
padding:6px 0;max-width:980px"><b>{{ title }}</b> {{ badge }}
{%- for part in parts if part %}<div style="margin-top:5px">{{ part }}</div>{% endfor %}</div>""",
    "table": """
{%- macro cells(tag, row, style) %}
{%- for cell in row -%}
<{{ tag }} style="text-align:{{ sides[loop.index0] }};padding:2px 14px 2px 0;vertical-align:top;
{{- style }}">{{ cell }}</{{ tag }}>
{%- endfor %}{% endmacro -%}
<div style="overflow-x:auto"><table style="border-collapse:collapse;font-size:13px;margin:2px 0">
<thead><tr>
{{- cells("th", header, "border-bottom:1px solid rgba(128,128,128,.35);font-weight:600") -}}
</tr></thead><tbody>{% for row in rows %}<tr>{{ cells("td", row, "") }}</tr>{% endfor %}</tbody>
</table></div>""",
    "facts": """
{%- for name, value in facts.items() -%}
{{ name.replace("_", " ") }} <b>{{ value }}</b>{{ " · " if not loop.last }}{% endfor %}""",
    "warning": """
<div style="border-left:4px solid #E69F00;padding:3px 10px;background:rgba(230,159,0,.12)">
{{- text }}</div>""",
    "bar": """
<span style="display:inline-block;height:{{ height }}px;vertical-align:middle;
background:{{ colour }};width:{{ width }}px"></span>""",
}


_filled = filling(_TEMPLATES)


def _made(name: str, /, **values: Any) -> Markup:
    return Markup(_filled(name, **values).strip())  # it is HTML, without the ends of its lines


def escape(text: object, *, longest: int = _LONGEST) -> Markup:
    """Make a text harmless in HTML: escaped, on one line, shortened.

    >>> str(escape("<b>5 & 6</b>"))
    '&lt;b&gt;5 &amp; 6&lt;/b&gt;'
    """
    line = " ".join(str(text).split()) or "(no name)"
    line = line if len(line) <= longest else line[: longest - 1] + "…"
    # Notebooks typeset formulas in HTML too, but none whose signs stand in a tag of their own.
    alone = (Markup("<span>{}</span>").format(c) if c in "$\\" else escaped(c) for c in line)
    return Markup("").join(alone)


def line(pattern: str, *values: object) -> Markup:
    """Return fixed HTML with values at its braces; those that are no HTML yet are escaped."""
    return Markup(pattern).format(*values)  # a pattern is written in this package


def badge(kind: str) -> Markup:
    """Return the badge: shape, colour and words say the same."""
    return _made("badge", colour=_COLOURS[kind], mark=KINDS[kind], kind=kind)


def box(title: str, kind: str, *parts: str) -> Markup:
    """Return a result: its name and badge, and what there is to say; empty parts are left out."""
    return _made("box", title=title, badge=badge(kind), parts=parts)


def table(header: Sequence[str], rows: Iterable[Sequence[str]], *, align: str) -> Markup:
    """Return a table.

    Args:
        header: One text a column.
        rows: As many cells each.
        align: One letter a column, l or r; the last one holds for those after it.
    """
    sides = ["left" if letter == "l" else "right" for letter in align.ljust(len(header), align[-1])]
    return _made("table", header=header, rows=list(rows), sides=sides)


def facts(**values: str) -> Markup:
    """Return names and values on one line."""
    return _made("facts", facts=values)


def warning(*sentences: str) -> Markup:
    """Return sentences that must not be missed; nothing if there are none."""
    if not sentences:
        return Markup("")
    text = Markup(" ").join(escape(sentence, longest=400) for sentence in sentences)
    return _made("warning", text=text)


def bar(share: float, colour: str, *, width: int, height: int) -> Markup:
    """Return a bar as long as a share of so many pixels."""
    length = round(width * min(max(share, 0.0), 1.0), 1)
    return _made("bar", width=length, colour=colour, height=height)


def settings(values: Mapping[str, object]) -> Markup:
    """Return names and values as a table of two columns."""
    rows = [(name, escape(value, longest=120)) for name, value in values.items()]
    return table(("setting", "value"), rows, align="ll") if rows else Markup("")
