"""Which rows of a person are kept where a person may have several."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from engine.coding import canonical
from engine.errors import DataError
from engine.ingest.preview import Preview
from engine.types import IntArray

BoolArray: TypeAlias = NDArray[np.bool_]
Order: TypeAlias = Callable[[int], NDArray[np.intp]]


def random_order(number: int) -> NDArray[np.intp]:
    """Return 0 .. number - 1 in a random order, from the operating system's entropy."""
    order: NDArray[np.intp] = np.argsort(np.frombuffer(os.urandom(8 * number), np.uint64))
    return order


def kept_rows(
    preview: Preview, person: str, most: int, *, order: Order | None, seed: int
) -> BoolArray:
    """Tell which rows stay: at most so many of each person.

    Without an order, they are the rows with the smallest BLAKE2 hashes of the seed, the person and
    the row's place among the rows of that person. What others do then changes nobody's choice, so
    that one person more or less is one person's rows more or less.

    Raises:
        DataError: If there is no such column (``E_COLUMN``), or one of its cells is empty
            (``E_MISSING``).
    """
    coded = preview.texts(preview.column(person)).combine_chunks().dictionary_encode()
    names = [canonical(text) for text in coded.dictionary.to_pylist()]
    places: dict[str, int] = {}
    same = np.array([places.setdefault(name, len(places)) for name in names], np.int64)
    if "" in places:
        raise DataError(
            f"Column {person!r} says whose row it is, and some of its cells are empty; every row "
            "needs one. Fill them in, or choose another column.",
            code="E_MISSING",
        )
    if not len(coded):
        return np.zeros(0, dtype=np.bool_)
    who: IntArray = same[np.asarray(coded.indices, dtype=np.int64)]
    if order is not None:
        return _first_of_each(who, order(len(who)), most)
    return _first_of_each(who, _hashed_order(who, list(places), most, seed), most)


def _hashed_order(who: IntArray, names: list[str], most: int, seed: int) -> NDArray[np.intp]:
    key = hashlib.blake2b(str(seed).encode(), digest_size=16).digest()
    counts = np.bincount(who, minlength=len(names))
    grouped = np.argsort(who, kind="stable")
    ranks = np.zeros(len(who), np.uint64)
    at = 0
    for person, number in enumerate(counts.tolist()):
        if number > most:  # the others keep all they have
            begun = hashlib.blake2b(names[person].encode(), key=key, digest_size=8)
            for place in range(number):
                mine = begun.copy()
                mine.update(b"\0%d" % place)
                ranks[grouped[at + place]] = int.from_bytes(mine.digest(), "big")
        at += number
    return np.argsort(ranks, kind="stable")


def _first_of_each(who: IntArray, shuffled: NDArray[np.intp], most: int) -> BoolArray:
    by_person = shuffled[np.argsort(who[shuffled], kind="stable")]
    grouped = who[by_person]
    starts = np.r_[0, np.flatnonzero(np.diff(grouped)) + 1]
    sizes = np.diff(np.r_[starts, len(grouped)])
    rank = np.arange(len(grouped)) - np.repeat(starts, sizes)
    keep = np.zeros(len(who), dtype=np.bool_)
    keep[by_person[rank < most]] = True
    return keep
