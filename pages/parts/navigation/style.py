"""Looks and keys that Streamlit has no option for: a style sheet and a key handler, once a page."""

from __future__ import annotations

import streamlit as st

_BACKGROUND = {"light": "#FFFFFF", "dark": "#10151C"}
_FRONT = {"light": "#FFFFFF", "dark": "#10151C"}  # on what has the primary colour
_QUIET = {"light": "#4A5462", "dark": "#B4BDC9"}  # captions: at least 4.5 : 1
_SHEET = """<style>
[data-testid="stMain"]:focus, [data-testid="stMain"]:focus-visible { outline: none !important;
  box-shadow: none !important; }
[data-testid="stCaptionContainer"], [data-testid="stCaptionContainer"] p { color: QUIET !important;
  opacity: 1; }
[data-testid="stExpander"] summary, [data-testid="stExpander"] summary * { opacity: 1 !important; }
[data-testid="stExpander"] summary p { color: QUIET; }
[data-testid="stBaseButton-primary"], [data-testid="stBaseButton-primary"] p,
[data-testid="stMultiSelect"] [data-baseweb="tag"], [data-testid="stMultiSelect"] span[title] {
  color: FRONT; }
[data-testid="stHeading"] h2 { font-size: 1.5rem; padding: 0.6rem 0 0.4rem; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
  white-space: nowrap; margin: 0; }
[data-testid="stMainBlockContainer"] { padding-top: 4.2rem; }
[data-testid="stMainBlockContainer"] > [data-testid="stVerticalBlock"] { gap: 0.6rem; }
[data-testid="stElementContainer"]:has(> [data-testid="stHtml"] > script),
[data-testid="stElementContainer"]:has(> [data-testid="stHtml"] > .unseen) { position: absolute; }
[class*="st-key-banner_"] [data-testid="stMarkdownContainer"],
[class*="st-key-why_"] [data-testid="stMarkdownContainer"] { margin-bottom: 0; }
[class*="st-key-banner_"] { border-radius: 6px; padding: 0.2rem 0.7rem; }
[class*="st-key-banner_"] p { font-size: 0.875rem; margin: 0; }
.st-key-banner_private { background: #E69F0026; border-left: 4px solid #E69F00; }
.st-key-banner_released { background: #009E7326; border-left: 4px solid #009E73; }
[class*="st-key-why_"] { border-left: 4px solid #56B4E9; padding-left: 0.8rem; }
[class*="st-key-why_"] p { font-size: 18px; line-height: 1.35; margin: 0; }
@media (prefers-reduced-motion: no-preference) {
  .st-key-why_odd { animation: anew_odd 0.9s ease-out; }
  .st-key-why_even { animation: anew_even 0.9s ease-out; }
}
@keyframes anew_odd { from { background: #56B4E966; } to { background: transparent; } }
@keyframes anew_even { from { background: #56B4E966; } to { background: transparent; } }
.spent { display: flex; height: 18px; border-radius: 4px; overflow: hidden; background: #80808038; }
.spent i { display: block; height: 100%; box-sizing: border-box; border-right: 1px solid BACK; }
.spent .select { background: #E69F00; } .spent .measure { background: #1F82C4; }
.spent .past { opacity: 0.5; }
.said { display: flex; flex-wrap: wrap; gap: 0 1.2rem; font-size: 0.8rem; color: QUIET; }
.said b { font-weight: 600; } .said .key::before { content: "■ "; }
.said .select::before { color: #E69F00; } .said .measure::before { color: #1F82C4; }
.said .known::before { color: #9A9A9A; }
.said .error::before { color: #56B4E9; } .said .score::before { content: "● "; color: #D55E00; }
.st-key-cockpit { gap: 0.6rem; }
.st-key-player { row-gap: 0.3rem; }
[class*="st-key-ask_again_"] { display: none; }
@media (max-width: 640px) {
  .st-key-player { position: fixed; bottom: 0; left: 0; right: 0; z-index: 1000; padding: 0.5rem;
    background: BACK; border-top: 1px solid #80808066; gap: 0.35rem; }
  .st-key-player button { padding: 0.25rem 0.5rem; }
  .st-key-player .st-key-first, .st-key-player .st-key-last { display: none; }
  [data-testid="stMainBlockContainer"] { padding-bottom: 11rem; }
}
</style>"""
_KEYS = """<script>
(() => {
  if (window.explorerKeys) return;
  window.explorerKeys = true;
  const buttons = { next: ["next", "tour_next", "learn_next"],
    back: ["back", "tour_back", "learn_back"], play: ["play"], first: ["first"], last: ["last"] };
  const keys = { " ": "play", p: "play", ArrowRight: "next", n: "next", ArrowLeft: "back",
    b: "back", f: "first", l: "last" };
  const found = what => buttons[what].map(key => document.querySelector(`.st-key-${key} button`))
    .find(button => button);
  const idle = () => {
    const app = document.querySelector('[data-testid="stApp"]');
    return !app || app.getAttribute("data-test-script-state") === "notRunning";
  };
  let waiting = [], timer = null, space = false;
  const later = ms => {
    if (timer === null) timer = setTimeout(() => { timer = null; go(); }, ms);
  };
  const go = () => {
    if (!waiting.length) return;
    if (!idle()) return later(25);
    const button = found(waiting.shift());
    if (button && !button.disabled) button.click(); else waiting = [];
    later(50);
  };
  const ask = what => { waiting.push(what); if (timer === null) go(); };
  const writes = at => at.isContentEditable || /^(TEXTAREA|SELECT)$/.test(at.tagName) ||
    (at.tagName === "INPUT" && !/^(checkbox|radio|range|button)$/.test(at.type)) ||
    at.closest('[role="listbox"], [role="menu"], [role="dialog"]');
  const own = ["first", "back", "play", "next", "last", "round"].map(k => `.st-key-${k}`).join();
  document.addEventListener("keydown", event => {
    const what = keys[event.key], at = event.target;
    if (!what || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    if (!(at instanceof Element) || writes(at) || !found(what)) return;
    const steered = !at.closest(own);
    if (steered && event.key === " " && at.closest("button, a, summary, input, [role]")) return;
    if (steered && event.key.startsWith("Arrow") &&
        at.closest('[role="slider"], [role="tab"], [role="radio"], [role="radiogroup"], input'))
      return;
    event.preventDefault();
    event.stopPropagation();
    space = event.key === " ";
    if (!event.repeat || what === "next" || what === "back") ask(what);
  }, true);
  document.addEventListener("keyup", event => {
    if (event.key === " " && space) { space = false; event.preventDefault(); }
  }, true);
  // live.py: a page that goes on by itself has a button out of sight, with its pace in its key.
  let asked = 0;
  setInterval(() => {
    const at = document.querySelector('[class*="st-key-ask_again_"]');
    if (!at) { asked = 0; return; }
    const pace = Number(/st-key-ask_again_(\\d+)/.exec(at.className)[1]), now = Date.now();
    if (!asked) asked = now;
    if (idle() && !waiting.length && now - asked >= pace) {
      asked = now;
      at.querySelector("button").click();
    }
  }, 50);
  // A click while the round before is being drawn would be lost: it waits for its turn.
  document.addEventListener("click", event => {
    if (!event.isTrusted || (idle() && !waiting.length)) return;
    const what = ["next", "back"].find(key => event.target.closest(`.st-key-${key} button`));
    if (!what) return;
    event.preventDefault();
    event.stopPropagation();
    ask(what);
  }, true);
})();
</script>"""


def draw() -> None:
    """Put the style sheet and the key handler on the page."""
    theme = "dark" if st.context.theme.type == "dark" else "light"
    sheet = _SHEET.replace("QUIET", _QUIET[theme]).replace("BACK", _BACKGROUND[theme])
    sheet = sheet.replace("FRONT", _FRONT[theme])
    st.html(sheet)
    st.html(_KEYS, unsafe_allow_javascript=True)


def unseen_title(title: str) -> None:
    """Name a page for who cannot see it, where its picture needs the room."""
    st.html(f'<h1 class="unseen">{title}</h1>')
