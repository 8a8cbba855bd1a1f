"""A disk that damages, fills up or refuses: the account is refused, or says at least the truth.

``sqlite`` checks little of what it reads. What counts is under the chain of hashes; what does not
count may be damaged, and nothing less is said for it.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import pytest

import engine
from engine.errors import AccountError
from engine.releasing import store
from engine.releasing.account import Account, TableAccount
from tests.releasing import kills, syscalls
from tests.releasing.test_account import (
    SECRET,
    check_never_too_little,
    drawn,
    in_children,
    released,
)

PAGE = 4096


class StopError(Exception):
    """The machine stops."""


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> TableAccount:
    """An account with two releases, and a third half done."""
    path = tmp_path_factory.mktemp("used") / "account.db"
    account = Account.create(path).table("people", secret=SECRET, total=1000)
    for _ in range(2):
        released(account, epsilon=0.3)
    events: list[object] = []

    def stops(_: float, event: object) -> None:
        events.append(event)
        if len([e for e in events if e is not None]) == 3:
            raise StopError

    with pytest.raises(StopError):
        released(account, epsilon=0.3, progress=stops)
    assert len(account.unfinished) == 1
    return account


def outcome(path: Path, name: str, least: Fraction) -> str:
    """What comes of opening it, of a release, of going on; anything but an error is a fault."""
    try:
        account = Account(path).table("people", secret=SECRET)
        assert account.spent >= least
    except AccountError:
        return "refused"
    told = ""
    for epsilon, mechanism, resume in (
        (0.01, engine.EqualSplit(), None), (0.3, engine.AimGrem(finish="rounds"), name),
    ):  # fmt: skip
        try:
            released(account, epsilon=epsilon, mechanism=mechanism, resume=resume)
            told += "went on "
        except AccountError:
            told += "refused later "
    try:
        assert account.spent >= least
    except AccountError:
        told += "refused"
    return told


def zeroed(content: bytes, page: int) -> bytes:
    """A page that was never written."""
    return content[: page * PAGE] + bytes(PAGE) + content[(page + 1) * PAGE :]


def flipped(content: bytes, page: int) -> bytes:
    """A bit that turned, at another place of each page."""
    at = page * PAGE + (1237 * page + 700) % PAGE
    return content[:at] + bytes([content[at] ^ 16]) + content[at + 1 :]


def cut(content: bytes, page: int) -> bytes:
    """The end is missing, from the midst of a page on."""
    return content[: page * PAGE + PAGE // 2]


@pytest.mark.parametrize("damage", [zeroed, flipped, cut])
def test_damage_to_any_page_is_refused_or_takes_nothing_from_what_was_spent(
    used: TableAccount,
    damage: Callable[[bytes, int], bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(store, "_WAIT", 0.1)
    assert used.account.path is not None
    content, (name,), spent = used.account.path.read_bytes(), used.unfinished, used.spent
    pages = len(content) // PAGE
    assert pages >= 8
    found = Counter()
    for page in range(pages):
        path = tmp_path / f"{page}.db"
        path.write_bytes(damage(content, page))
        found[outcome(path, name, spent)] += 1
    assert found["refused"] >= pages // 4, found
    if damage is cut:
        assert found["refused"] == pages


def test_a_journal_that_is_damaged_takes_nothing_back_that_was_drawn_for(tmp_path: Path) -> None:
    """After a kill SQLite rolls back by the journal: whole, torn, or gone."""
    syscalls.require()
    account, log = kills.fresh()
    syscalls.happening("unlink:signal=KILL:when=2", kills.one_release(account, log))
    assert account.account.path is not None
    content = account.account.path.read_bytes()
    journal = Path(f"{account.account.path}-journal").read_bytes()
    assert len(journal) > 512
    for k, torn in enumerate(
        (journal, b"", journal[: len(journal) // 2], bytes(28) + journal[28:],
         journal[:600] + bytes(64) + journal[664:])
    ):  # fmt: skip
        path = tmp_path / f"{k}.db"
        path.write_bytes(content)
        Path(f"{path}-journal").write_bytes(torn)
        try:
            assert Account(path).table("people", secret=SECRET).spent >= drawn(log)
        except AccountError:
            assert torn is not journal, "what SQLite left is whole"


@pytest.mark.parametrize("room", [0, 3, 6])
def test_a_release_that_finds_no_room_on_the_disk_stops_before_it_draws_unpaid(room: int) -> None:
    """The limit of the operating system on a file's size, in kilobytes beyond what is there."""
    account, log = kills.fresh()
    assert account.account.path is not None
    most = account.account.path.stat().st_size + 1024 * room

    def work(_: int) -> int:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        return kills.one_release(account, log)()

    assert in_children(1, work) == [kills.REFUSED]
    check_never_too_little(account, log)


@pytest.fixture
def others_folder() -> Iterator[Path]:
    """A folder that another user can enter."""
    folder = Path(tempfile.mkdtemp())
    yield folder
    folder.chmod(0o700)
    shutil.rmtree(folder)


@pytest.mark.parametrize(
    ("folder_mode", "file_mode"), [(0o555, 0o666), (0o777, 0o444), (0o555, 0o444)]
)
def test_a_folder_or_file_that_may_only_be_read_gives_no_release_and_a_plain_message(
    others_folder: Path, folder_mode: int, file_mode: int
) -> None:
    path, told = others_folder / "account.db", Path(tempfile.mkdtemp()) / "told"
    account = Account.create(path).table("people", secret=SECRET, total=1)
    released(account, epsilon=0.1)  # everything is imported
    before = account.account.entries()
    told.touch()
    told.parent.chmod(0o755)
    told.chmod(0o666)
    path.chmod(file_mode)
    others_folder.chmod(folder_mode)

    def work(_: int) -> int:
        if os.geteuid() == 0:  # who may do anything has no folder that is only read
            os.seteuid(65534)
        try:
            released(account, epsilon=0.1)
        except AccountError as error:
            told.write_text(str(error))
            return kills.REFUSED
        return 0

    assert in_children(1, work) == [kills.REFUSED]
    said = told.read_text()
    assert "cannot be used" in said
    assert "nothing was drawn" in said
    assert "can be written to" in said
    assert account.account.entries() == before


def test_two_processes_race_for_the_last_budget_and_one_of_them_draws(tmp_path: Path) -> None:
    """Whole releases at once, with room for one: what is drawn never exceeds what counts."""
    rho = Fraction(engine.rho_from(epsilon=0.5, delta=1e-9))
    account = Account.create(tmp_path / "account.db").table(
        "people", secret=SECRET, total=rho * Fraction(3, 2)
    )

    def work(k: int) -> int:
        from tests.releasing.test_account import spends_into

        spends_into(tmp_path / f"log{k}")
        try:
            released(account, epsilon=0.5, mechanism=engine.EqualSplit())
        except engine.BudgetError:
            return kills.REFUSED
        return 0

    assert sorted(in_children(4, work)) == [0, *[kills.REFUSED] * 3]
    all_drawn = sum((drawn(tmp_path / f"log{k}") for k in range(4)), Fraction(0))
    assert 0 < all_drawn <= account.spent <= rho
