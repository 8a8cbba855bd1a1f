"""Complete mechanisms: each a state and four calls, start, step, done and release."""
