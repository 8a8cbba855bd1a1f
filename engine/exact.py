"""What holds exact values of the records: neither printed, pickled, copied nor compared.

A value that was computed from the records without noise may be shown on a demonstration's screen
by whoever asks for it by name. It never gets out by the way: in a log, a pickle, a cache or a copy,
or because two of them were compared.
"""

from __future__ import annotations

from typing import Any, NoReturn, Self


class _OfTheClass:
    """Fields that a class tells, and no object of it: ``asdict`` and ``astuple`` refuse those."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self._fields = fields

    def __get__(self, instance: object, owner: type) -> dict[str, Any]:
        if instance is not None:
            raise TypeError(
                f"The fields of a {owner.__name__} are private and are not listed. Ask for one by "
                "its name; changed() makes another value."
            )
        return self._fields


class Exact:
    """Base of every type that holds an exact value: counts, records, errors, scores.

    A data class that is one is declared with ``slots=True``, ``eq=False`` and ``repr=False``: what
    it holds is not compared, only whether it is the same object, nor listed by
    ``dataclasses.asdict``. ``tests/test_exact.py`` walks all of them.
    """

    __slots__ = ()

    def __init_subclass__(cls, **options: Any) -> None:
        # A data class with slots is made twice, and knows its fields the second time.
        super().__init_subclass__(**options)
        fields = cls.__dict__.get("__dataclass_fields__")
        if fields is not None:
            setattr(cls, "__dataclass_fields__", _OfTheClass(fields))  # noqa: B010

    def changed(self, **changes: Any) -> Self:
        """Return a data class's value with some fields of another value."""
        names: tuple[str, ...] = type(self).__match_args__  # type: ignore[attr-defined]
        return type(self)(**({name: getattr(self, name) for name in names} | changes))

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
