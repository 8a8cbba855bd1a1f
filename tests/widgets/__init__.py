"""The explorer in notebooks."""
