"""Which account a release is charged to, and what its table has spent so far."""

from __future__ import annotations

import os
from pathlib import Path

import streamlit as st

import engine
from engine.releasing.account import LEAST_SECRET, Account, TableAccount
from pages.parts.drawing import text
from pages.parts.releasing.asked import Asked

FILE, SECRET = "AIM_GREM_ACCOUNT", "AIM_GREM_SECRET"
"""Set in the environment before the server starts."""
FOLDER = "release-account"


def where() -> str:
    """The account's file: what the operator set, or one in a folder where the app was started."""
    return os.environ.get(FILE) or str(Path.cwd() / FOLDER / "account.db")


def table_account(asked: Asked) -> TableAccount | None:
    """The account of the table; None as long as it is not clear, and the page says why."""
    st.subheader("3 · The account", divider="gray")
    st.caption(
        "All releases of a table add up, whoever makes them: an account keeps what they have cost, "
        f"on this computer. The operator chooses its file ({FILE} in the environment); otherwise "
        f"it is in the folder {FOLDER} where the app was started."
    )
    account = _account()
    if account is None:
        return None
    left, right = st.columns(2)
    name = left.text_input(
        "The table's name, the same for all its versions", asked.name, key="release_name",
        persist_state="session",
    )  # fmt: skip
    secret = os.environ.get(SECRET, "")
    if not secret:
        secret = right.text_input(
            "The custodian's secret", type="password", key="release_secret",
            help="With the name it identifies the table in the account. It is written nowhere.",
        )  # fmt: skip
    if not name or len(secret) < LEAST_SECRET:
        st.info(
            f"A name and a secret of at least {LEAST_SECRET} characters are needed. Take the "
            "secret from a password manager, and keep it there.",
            icon=":material/key:",
        )
        return None
    found = _table(account, name, secret)
    if found is not None:
        _budget(found, asked)
    return found


def _account() -> Account | None:
    place = where()
    try:
        return Account(place)
    except engine.AccountError as error:
        if Path(place).exists() or "://" in place:
            st.error(text.plain(error, longest=600), icon=":material/error:")
            return None
    st.info(
        "There is no account yet. If this is the first release ever, make one; if there is one "
        "elsewhere, have the operator set its path: what was spent must not be forgotten.",
        icon=":material/account_balance:",
    )
    if st.button("Make an account", key="release_make_account"):
        try:
            Path(place).parent.mkdir(parents=True, exist_ok=True)
            Account.create(place)
        except (OSError, engine.AccountError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            st.error(text.plain(reason, longest=600), icon=":material/error:")
            return None
        st.rerun()
    return None


def _table(account: Account, name: str, secret: str) -> TableAccount | None:
    try:
        return account.table(name, secret=secret)
    except engine.AccountError as error:
        refused = error
    if any(known.name == name for known in account.tables()):
        st.warning(
            "The account knows a table of this name with another secret. Is the secret right?",
            icon=":material/key_off:",
        )
    else:
        st.caption(text.plain(refused, longest=600))
    left, right = st.columns(2, vertical_alignment="bottom")
    epsilon = left.number_input(
        "Most that all its releases may cost a person, as ε at δ = 1e-9", value=2.0, step=0.5,
        format="%g", key="release_total", persist_state="session",
    )  # fmt: skip
    if right.button("Open an account for this table", key="release_open_table"):
        try:
            account.table(
                name, secret=secret, total=engine.rho_from(epsilon=epsilon or 0, delta=1e-9)
            )
        except engine.EngineError as error:
            st.error(text.plain(error, longest=600), icon=":material/error:")
            return None
        st.rerun()
    return None


def _budget(found: TableAccount, asked: Asked) -> None:
    """What was spent, and what this release would take."""
    spent, total = float(found.spent), float(found.total)
    st.progress(
        min(1.0, spent / total),
        text=f"So far ρ = {spent:.4g} of {total:.4g}; this release takes up to {asked.rho:.4g}.",
    )
    if asked.rho > float(found.left):
        st.error(
            f"Only ρ = {float(found.left):.4g} is left, so this release would be refused. Ask for "
            "a smaller ε, or have the custodian set another total.",
            icon=":material/block:",
        )
