"""How pages show things: figures, forms, messages, code; larger words for a lecture."""
