"""The frame of the explorer: navigation, title, status strip. No computing here."""

import streamlit as st

from pages.parts.drawing import figures, lecture
from pages.parts.navigation import frame, host, links, strip, style

st.set_page_config(
    page_title="AIM+GReM explorer",
    page_icon="🔎",
    layout="wide",
    initial_sidebar_state="collapsed",
)
page = frame.navigation()
host.compile_ahead()
with st.sidebar:
    lecture.toggles()
    st.markdown("**Keys on the Rounds page**")
    st.caption("Space or P play · → or N next · ← or B back · F first · L to the end")
    st.markdown("**Reading the charts**")
    st.caption("● released: may be published.")
    st.caption("▲ not private: computed from the records, never released.")
    st.caption("Every chart says in a sentence what it shows; its numbers are beneath it.")
    st.caption("Light or dark: the menu at the top right.")
figures.without_ways_out()
style.draw()
links.follow(page.url_path)
lecture.style()
strip.draw(page.url_path)
strip.say_refusal()
links.say_notes()
page.run()
links.keep_address(page.url_path)
host.settle()
