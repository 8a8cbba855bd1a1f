"""The pages, run without a browser."""
