"""The real thing: exact noise, an account that survives, a bundle that can be checked.

Nothing here knows a demonstration: no true value, no error, no seed. ``PROOFS.md`` says why each
draw costs what is charged for it.
"""
