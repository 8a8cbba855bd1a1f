"""The command line: one module for each command, and what several of them ask for.

A command reads its inputs, calls the engine and writes what may leave. It computes nothing itself,
and no module of the engine imports it but ``engine.__main__``.
"""
