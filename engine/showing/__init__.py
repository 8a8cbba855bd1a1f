"""Figures, frames and sentences: what pages and notebooks draw of released and true values.

Nothing here knows a session or a page.
"""
