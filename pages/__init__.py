"""The pages of the explorer: one script for each question a user has."""
