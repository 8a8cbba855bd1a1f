"""The forms of Setup: which tables are asked for, and how much may be spent."""
