"""From released beliefs to answers: complete tables, consistency, non-negativity, the release.

Nothing here may see an exact type: every function is post-processing and free.
"""
