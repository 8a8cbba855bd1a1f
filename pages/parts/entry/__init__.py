"""A table of one's own: the file, how it is read, its attributes declared, its size."""
