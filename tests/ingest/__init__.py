"""Reading any table."""
