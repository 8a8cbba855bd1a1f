"""The Release page: what is asked, the account, the release under way, what may be said of it.

Nothing here shows a record, or anything computed from one but a private release.
"""
