"""Columns that say whose row it is: by their names, in several languages, or by their values."""

from __future__ import annotations

import re
from collections.abc import Sequence

from engine.ingest import readings

_WHO = (
    r"record|person|people|patient|patienten|participant|respondent|subject|client|klient|member|"
    r"user|customer|kunden|student|pupil|schüler|employee|personal|worker|household|haushalt|hh|"
    r"family|case|fall|panel|interview|versicherten|teilnehmer|befragten|probanden|nhs|register"
)
_NUMBER = r"id|ids|no|nr|num|number|nummer|code|key|serial\w*|email|e-mail|mail|pseudonym"
_PERSON_NAME = re.compile(
    rf"(^|[\s_.-])((({_WHO})[\s_.-]?({_NUMBER}))|(pid|pidp|uid|uuid|guid|caseid|hhid|hhld|hidp|idno|"
    r"serialno|lfd\.?[\s_.-]?nr|laufende nummer|matricule|identifiant|identificador|identificativo|"
    r"personnummer|personnr|fødselsnummer|cpr|bsn|dni|nif|nir|nino|"
    r"(code|numéro|n[°º]|nº|núm\.?|numero|número)[\s_.-]?(de |du |d')?"
    r"(patient|dossier|expediente|paciente|paziente|cliente|client|matricule|registro|foglio|caso)|"
    r"e-?mail|email address|phone|ssn|iban|pseudonym|pseudonyme|seudónimo))$|"
    r"^(id|respid|record|serial)$|(?<=[a-z])(Id|ID)$",
    re.IGNORECASE,
)
_MAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_HASH = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|"
    r"(?=\w*[0-9])(?=\w*[a-f])(?:[0-9a-f]{16}|[0-9a-f]{24}|[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})",
    re.IGNORECASE,
)


def says_whose_row(label: str, values: Sequence[str]) -> bool:
    """Tell whether a column's name or its values (addresses, hashes) say whose row it is.

    >>> says_whose_row("Fallnummer", ["17"]), says_whose_row("mail", ["a@b.org", "c@d.org"])
    (True, True)
    """
    looked = values[:200]
    marked = sum(_MAIL.fullmatch(v) is not None or _HASH.fullmatch(v) is not None for v in looked)
    if marked >= 0.9 * len(looked):
        return True
    return _PERSON_NAME.search(label.strip()) is not None and not any(
        readings.is_missing_token(value) for value in values
    )
