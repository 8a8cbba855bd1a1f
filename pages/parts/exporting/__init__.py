"""The Export page's parts: a look at what a file holds."""
