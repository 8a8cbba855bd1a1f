"""Check a bundle of released marginals: python verify.py BUNDLE (a zip archive, or its folder).

Nothing of the engine is used, only Python. Derived again: that charges add up and prove the
promise, the domain's hash, each measurement's precision from its charge, that noise was added to
whole numbers, residual estimates from measurements, and the marginals' files from the residuals.
"""

import csv
import hashlib
import json
import math
import sys
import zipfile
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

CELLS, CLOSE = 1000, 1e-9  # checked of each marginal; relative, for sums in another order
Attrs = tuple[int, ...]


def files_of(path: str) -> dict[str, str]:
    """All text files of the archive or folder by name."""
    if Path(path).is_dir():
        found = {p.relative_to(path).as_posix(): p for p in Path(path).rglob("*") if p.is_file()}
        return {name: p.read_text("utf-8") for name, p in sorted(found.items())}
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name).decode("utf-8") for name in sorted(archive.namelist())}


def require(true: bool, what: str) -> None:
    """Stop with a sentence unless it is so."""
    if not true:
        sys.exit(f"WRONG: {what}")


def close(a: float, b: float, scale: float = 0.0) -> bool:
    """Whether two numbers agree up to rounding."""
    return abs(a - b) <= CLOSE * max(abs(a), abs(b), scale)


def subsets(attrs: Attrs) -> list[Attrs]:
    """All subsets, small ones first."""
    return [s for k in range(len(attrs) + 1) for s in combinations(attrs, k)]


def flat(values: Any) -> list[float]:
    """All numbers of nested lists in order."""
    return [n for inner in values for n in flat(inner)] if isinstance(values, list) else [values]


def epsilon_of(rho: float, delta: float) -> float:
    """The epsilon that rho-zCDP gives at this delta (Canonne, Kamath, Steinke 2020)."""

    def at(u: float) -> float:
        a = math.exp(u)
        return (1 + a) * rho - math.log1p(1 / a) - (math.log1p(a) + math.log(delta)) / a

    low, high = -20.0, 40.0
    for _ in range(8):  # every order proves an epsilon; the best is found by narrowing down
        step = (high - low) / 50
        best = min(range(51), key=lambda k: at(low + k * step))
        low, high = low + (best - 1) * step, low + (best + 1) * step
    return max(0.0, at((low + high) / 2))


def check_domain(release: Any) -> str:
    """The hash is of the domain, which was declared; the noise was no demonstration's."""
    text = json.dumps(release["domain"], sort_keys=True, ensure_ascii=False)
    found = hashlib.sha256(text.encode()).hexdigest()
    require(found == release["domain_sha256"], "the domain has another hash")
    sources = [entry.get("source") for entry in release["domain"]["attributes"]]
    require("data" not in sources, "the domain was read from the records")
    require(not release["rehearsal"] and not release["demonstration"], "it is a demonstration")
    return f"domain {found[:12]} of {len(sources)} attributes"


def check_ledger(release: Any, account: Any) -> str:
    """Charges add up, stay below the total, and prove the promise."""
    ledger, rows = release["ledger"], release["domain"].get("rows_per_person", 1)
    costs = [Fraction(entry["rho"]) for entry in ledger["entries"]]
    spent, person = sum(costs, Fraction(0)), sum(costs, Fraction(0)) * rows**2
    require(all(cost >= 0 for cost in costs), "a charge is negative")
    require(spent == Fraction(ledger["spent"]), "the charges are not what the ledger says is spent")
    require(spent <= Fraction(ledger["total"]), "more was spent than the total")
    require(person == Fraction(account["rho_of_a_person"]), "the account has another cost")
    require(person <= Fraction(account["spent"]), "the account has less than this release")
    require(Fraction(account["spent"]) <= Fraction(account["total"]), "the table is overspent")
    proved = epsilon_of(float(person), release["delta"])
    require(release["epsilon"] >= proved * (1 - 1e-9), f"the charges prove epsilon {proved} only")
    return f"{len(costs)} charges: rho {float(person):.6g} for a person, epsilon {proved:.6g}"


def paid_by(charge: Any, ahead: list[Any], sizes: list[int]) -> Iterator[tuple[Any, int]]:
    """Take what a charge paid for off the list, each with the denominator of its lattice."""
    attrs, rho = tuple(charge["attrs"]), Fraction(charge["rho"])
    cells = math.prod(sizes[i] for i in attrs)
    if ahead and tuple(ahead[0]["attrs"]) == attrs:  # one residual
        cost = Fraction(math.prod(sizes[i] - 1 for i in attrs), cells) / 2
        paid = cost * Fraction(ahead[0]["precision"]) <= rho
        require(paid, f"the precision of {attrs} is not paid for")
        yield ahead.pop(0), cells
        return
    for tau in subsets(attrs):  # a whole marginal is worth all residuals within
        if all(sizes[i] > 1 for i in tau):
            there = bool(ahead) and tuple(ahead[0]["attrs"]) == tau
            require(there, f"a measurement of {tau} is missing")
            worth = 2 * rho * math.prod(sizes[i] for i in tau) / cells
            paid = Fraction(ahead[0]["precision"]) <= worth
            require(paid, f"the precision of {tau} is not paid for")
            yield ahead.pop(0), 1


def check_trace(release: Any, trace: Any, sizes: list[int]) -> dict[Attrs, list[Any]]:
    """Charges are the ledger's, and pay for the precisions; returns (precision, values) by set."""
    measured: dict[Attrs, list[Any]] = {}
    charges = [charge for event in trace["events"] for charge in event.get("charges", [])]
    require(charges == release["ledger"]["entries"], "the rounds were charged otherwise")
    for event in trace["events"]:
        ahead = list(event.get("measurements", []))
        for charge in event.get("charges", []):
            for item, scale in paid_by(charge, ahead, sizes) if charge["what"] == "measure" else ():
                values = flat(item["values"])
                whole = all(round(v * scale) / scale == v or abs(v * scale) > 2**50 for v in values)
                require(whole, f"noise on {item['attrs']} was not added to whole numbers")
                measured.setdefault(tuple(item["attrs"]), []).append((item["precision"], values))
        require(not ahead, "something was measured that nothing was charged for")
    return measured


def check_residuals(release: Any, measured: dict[Attrs, list[Any]]) -> str:
    """Every residual estimate is the precision-weighted mean of its measurements."""
    found = {tuple(item["attrs"]): item for item in release["residuals"]}
    require(found.keys() == measured.keys(), "other residuals were measured than are released")
    for attrs, parts in measured.items():
        total = math.fsum(precision for precision, _ in parts)
        require(close(total, found[attrs]["precision"]), f"the precision of {attrs} is another")
        said, scale = flat(found[attrs]["values"]), max([abs(v) for _, vs in parts for v in vs])
        for k, value in enumerate(said):
            mean = math.fsum(p * v[k] for p, v in parts) / total
            require(close(mean, value, scale), f"the estimate of {attrs} does not follow")
    return f"{len(measured)} residuals from {sum(map(len, measured.values()))} measurements"


def centred(values: list[float], smaller: list[int]) -> list[float]:
    """Along each axis: a zero slice in front, then the mean subtracted. Flat lists."""
    for axis, kept in enumerate(smaller):
        after, out = math.prod(smaller[axis + 1 :]), list[float]()
        for block in range(math.prod(n + 1 for n in smaller[:axis])):
            rows = [values[(block * kept + j) * after :][:after] for j in range(kept)]
            mean = [sum(row[a] for row in rows) / (kept + 1) for a in range(after)]
            for row in [[0.0] * after, *rows]:
                out += [value - m for value, m in zip(row, mean, strict=True)]
        values = out
    return values


def check_marginals(files: dict[str, str], release: Any, sizes: list[int]) -> str:
    """The marginals' files hold what the residuals say, in some cells of each."""
    tables = {
        tuple(r["attrs"]): centred(flat(r["values"]), [sizes[i] - 1 for i in r["attrs"]])
        for r in release["residuals"]
    }
    names = [name for name in files if name.startswith("marginals/")]
    for name, (attrs, _) in zip(names, release["workload"], strict=True):
        counts = [float(row[len(attrs)]) for row in csv.reader(files[name].splitlines()[1:])]
        require(len(counts) == math.prod(sizes[i] for i in attrs), f"{name} has other cells")
        for k in range(0, len(counts), max(1, len(counts) // CELLS)):
            at, rest, total = {}, k, 0.0
            for i in reversed(attrs):
                rest, at[i] = divmod(rest, sizes[i])
            for tau in subsets(tuple(attrs)):
                if tau in tables:
                    place = 0
                    for i in tau:
                        place = place * sizes[i] + at[i]
                    total += tables[tau][place] / math.prod(sizes[i] for i in attrs if i not in tau)
            right = close(total, counts[k], max(map(abs, counts)))
            require(right, f"{name}: row {k + 1} does not follow")
    return f"{len(names)} marginals agree with the residuals"


def main(path: str) -> None:
    """Check everything; prints what was found, or stops at the first thing that is wrong."""
    files = files_of(path)
    names = ("release", "account", "trace", "settings")
    release, account, trace, settings = (json.loads(files[f"{name}.json"]) for name in names)
    found = [check_domain(release), check_ledger(release, account)]
    found.append(check_residuals(release, check_trace(release, trace, account["sizes"])))
    if release["completion"] is None and settings["postprocess"] == "none":
        found.append(check_marginals(files, release, account["sizes"]))
    else:
        found.append("the marginals' files are completed or post-processed, and not derived again")
    print("\n".join(["GOOD", *found]))


if __name__ == "__main__":
    main(sys.argv[1])
