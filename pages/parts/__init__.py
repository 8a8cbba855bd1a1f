"""Streamlit helpers that several pages share."""
