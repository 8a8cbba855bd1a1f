"""What holds exact values of the records: neither printed, pickled, copied nor compared.

A value that was computed from the records without noise may be shown on a demonstration's screen
by whoever asks for it by name. It never gets out by the way: in a log, a pickle, a cache or a copy,
or because two of them were compared.
"""

from __future__ import annotations

from typing import NoReturn


class Exact:
    """Base of every type that holds an exact value: counts, records, errors, scores.

    A data class that is one is declared with ``eq=False`` and ``repr=False``: what it holds is not
    compared, only whether it is the same object. ``tests/test_exact.py`` walks all of them.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(private)"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(
            f"{type(self).__name__} is private and cannot be pickled or copied: exact values do "
            "not leave the process. Pickle the state, the events or the release instead."
        )

    def __reduce__(self) -> NoReturn:
        self.__reduce_ex__(2)

    def __copy__(self) -> NoReturn:
        self.__reduce_ex__(2)

    def __deepcopy__(self, memo: object) -> NoReturn:
        self.__reduce_ex__(2)
