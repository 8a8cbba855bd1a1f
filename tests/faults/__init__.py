"""Planted faults: each changes a few characters so that a user is harmed, and a test must see it.

    python -m tests.faults                      every fault (up to twenty minutes on two cores)
    python -m tests.faults --part privacy       one part
    python -m tests.faults --tenth 7            every tenth, drawn with this seed: for each push
    python -m tests.faults --only omission      those whose name holds this word
    python -m tests.faults --list               what there is

Every fault is applied to a copy of the tree, and the tests chosen for it are run there. What
survives is printed, and the command then ends with 1: a fault that no test sees is a test to write.
The chosen tests are run without any fault first, since a test that fails anyway catches nothing.
"""
