"""The app in a headless browser."""
