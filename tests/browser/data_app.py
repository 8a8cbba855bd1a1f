"""The Data page in the smallest frame there is."""

import sys
from pathlib import Path

import streamlit as st

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))
st.set_page_config(page_title="Data", layout="wide")


def elsewhere() -> None:
    """Show what the Data page handed over."""
    st.title("Elsewhere")
    st.markdown(f"Table: {'yes' if st.session_state.get('table') is not None else 'no'}")


pages = [
    st.Page(ROOT / "pages" / "data.py", title="Data", default=True),
    st.Page(elsewhere, title="Elsewhere", url_path="elsewhere"),
]
st.navigation(pages, position="top").run()
