"""The frame of every page: menu, strip, addresses, style, what the host allows."""
