"""The templates of the report (``report``), filled by Jinja2, which escapes what goes in."""

from engine.exporting.markup import filling

STYLE = """
:root{color-scheme:light dark;--ink:#1c2430;--soft:#5b6675;--line:#d5dae1;--card:#f5f7fa;
--page:#fff;--blue:#1f82c4;--orange:#e69f00;--warn:#8a3b00;--warnbg:#fff3e2;--red:#d55e00}
@media(prefers-color-scheme:dark){:root{--ink:#e8ecf1;--soft:#9aa6b5;--line:#33404f;--card:#1b232e;
--page:#10151c;--warn:#ffc98a;--warnbg:#33240f}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:920px;padding:28px 18px 60px;background:var(--page);color:var(--ink);
font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
.scroll td:not(.n){min-width:11rem}.rounds td:first-child{min-width:2.5rem!important}
th{white-space:nowrap}
h1{font-size:1.7rem;line-height:1.2;margin:0 0 .6rem}h2{font-size:1.2rem;margin:2.2rem 0 .5rem}
p,figcaption{margin:.4rem 0}figcaption,small{color:var(--soft);font-size:.9rem}
.stamp{background:var(--warnbg);color:var(--warn);border-left:4px solid var(--red);
padding:.7rem .9rem;border-radius:4px;margin:1rem 0;font-weight:600}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.9rem}
th,td{text-align:left;padding:.35rem .6rem;border-bottom:1px solid var(--line);vertical-align:top}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.facts th{width:26%;min-width:7rem;font-weight:500;color:var(--soft)}
figure{margin:0;background:var(--card);border-radius:8px;padding:12px}
.grid{display:grid;align-items:start;grid-template-columns:repeat(auto-fill,minmax(min(100%,400px),1fr));gap:14px}
svg{display:block;width:100%;height:auto}svg text{fill:var(--ink);font-size:13px}
svg .soft{fill:var(--soft)}svg .bar{fill:var(--blue)}svg .pick{fill:var(--orange)}
svg .left{fill:none;stroke:var(--soft)}svg .gap{stroke:var(--card)}
svg .rule{stroke:var(--ink);stroke-width:1.6}svg .true{fill:var(--red)}
summary{cursor:pointer;color:var(--soft)}
"""
TEMPLATES = {
    "page": """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width,initial-scale=1"><link rel="icon" href="data:,">
<title>{{ title }}</title><style>{{ style }}</style></head><body>
<h1>{{ title }}</h1>{% for stamp in stamps %}<p class="stamp">{{ stamp }}</p>{% endfor %}
{% for section in sections %}{{ section }}
{% endfor %}</body></html>
""",
    "table": """\
{% macro line(tag, cells) -%}
<tr>{% for cell in cells -%}
<{{ tag }}{% if loop.index > words %} class="n"{% endif %}>{{ cell }}</{{ tag }}>
{%- endfor %}</tr>
{%- endmacro -%}
<div class="scroll"><table class="{{ kind }}">{{ line("th", header) }}
{%- for row in rows %}{{ line("td", row) }}{% endfor %}</table></div>""",
    "facts": """\
<h2>Settings</h2><table class="facts">
{%- for name, value in rows %}<tr><th>{{ name }}</th><td>{{ value }}</td></tr>{% endfor -%}
</table>""",
    "hash": "{{ source }}; sha256 <code>{{ hash }}</code>",
    "budget": """\
<h2>Privacy budget</h2><figure>{{ drawing }}<figcaption>{{ sentence }}</figcaption></figure>""",
    "rounds": """\
<h2>Rounds</h2>{{ table }}
<p><small>The last two are L1 distances in records, from released values only.</small>""",
    "gallery": """\
<h2>{{ title }}</h2>{% if note %}<p><small>{{ note }}</small></p>{% endif -%}
<div class="grid">{% for one in drawn %}{{ one }}{% endfor %}</div>""",
    "figure": "<figure>{{ drawing }}<figcaption>{{ name }}</figcaption></figure>",
    "titled": "<h2>{{ title }}</h2>{{ body }}",
    "index": """\
<h2>Every marginal</h2>{% if note %}<p><small>{{ note }}</small></p>{% endif -%}
<details><summary>{{ count }} rows</summary>{{ table }}</details>""",
    "svg": """\
<svg viewBox="0 0 {{ width }} {{ height }}" role="img" aria-label="{{ title }}">
{%- for shape in shapes -%}
<{{ shape.tag }}{{ shape.where|xmlattr }}>
{%- if shape.tip %}<title>{{ shape.tip }}</title>{% endif %}{{ shape.text }}</{{ shape.tag }}>
{%- endfor -%}</svg>""",
}
filled = filling(TEMPLATES)
"""Fills one of them."""
