"""What a visitor's session holds: the study, the run made with it, tables, long work."""
