"""What the cells of the sales say: a line a store, the paper's numbers beside them, and the claims."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..scoreboard import headline

WAYS = ("none", "paper", "tail", "weekly")
CLAIMED = "weekly"
LOW, HIGH = 0.86, 0.94  # the share of sales in 90 % bands that counts as 90 %
PAPER = "the paper's MAPE is 17.3-21.8 %; its 90 % bands miss most sales before, and hold about 90 % after"


def by_store(name: str, spans: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Each store's measures over all of its test days; calibration errors and the rest are means weighted by days."""
    for store in spans[0]:
        parts = [span[store] for span in spans if span[store]["n"]]
        if not parts:
            continue
        n = np.array([part["n"] for part in parts])
        row: dict[str, Any] = {"set": name, "store": store, "n": int(n.sum())}
        row["by_span"] = [{way: part[way]["covered"] for way in WAYS} for part in parts]
        for way in WAYS:
            keys = parts[0][way]
            row[way] = {key: float(np.average([part[way][key] for part in parts], weights=n)) for key in keys}
        yield row


def verdict(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The claims, each with PASS or FAIL: of weekly maps, in every store."""
    for rate in sorted({row["rate"] for row in rows}, reverse=True):
        mine = [row for row in rows if row["rate"] == rate]
        shares = np.array([row[CLAIMED]["covered"] for row in mine])
        text = f"dropout {rate}: after calibration 90 % bands hold {LOW}-{HIGH} of the sales of every store"
        yield f"{'PASS' if inside(shares).all() else 'FAIL'}  {text}: {_told(shares)}"
        for way in WAYS:
            spans = [span[way] for row in mine for span in row["by_span"]]
            yield f"      {way}: stores {_told([row[way]['covered'] for row in mine])}; single spans {_told(spans)}"


def headlines(rows: Sequence[dict[str, Any]]) -> list[dict[str, str]]:
    """Shares of sales in the 90 % bands, least and most of the stores."""
    first = max(row["rate"] for row in rows)
    shares = {way: [row[way]["covered"] for row in rows if row["rate"] == first] for way in WAYS}
    told = {way: f"{min(each):.2f} to {max(each):.2f}" for way, each in shares.items()}
    stores = len(shares[CLAIMED])
    return [
        headline(
            f"§4.4, daily sales: share in 90 % bands, least and most of {stores} stores",
            "misses most → about 0.90",
            f"{told['none']} → {told['paper']}",
            f"{told['none']} → {told[CLAIMED]}, by weekly maps of the past",
            bool(inside(np.array(shares[CLAIMED])).all()),
        )
    ]


def inside(shares: Any) -> Any:
    """Which shares count as 90 %."""
    return (np.asarray(shares) >= LOW) & (np.asarray(shares) <= HIGH)


def _told(shares: Any) -> str:
    return f"{np.count_nonzero(inside(shares))} of {len(shares)}, {np.min(shares):.3f} to {np.max(shares):.3f}"


def page(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Markdown: one table a net."""
    yield "# Kuleshov et al. (2018), §4.4: daily sales, the day ahead, by store"
    yield ""
    yield "none: as they come; paper: isotonic maps of training days; tail: maps of the half year before the test;"
    yield f"weekly: these, learned anew every week from the past. Of the paper: {PAPER}."
    for rate in sorted({row["rate"] for row in rows}, reverse=True):
        yield f"\n## Dropout {rate}\n"
        yield (
            "| set | store | sales | 90 % holds: none | paper | tail | weekly | calibration error: none | paper | tail "
            "| weekly | MAPE: none | weekly | CRPS: none | weekly |"
        )
        yield "|---|---|---:|" + "---:|" * 12
        yield from (_line(row) for row in rows if row["rate"] == rate)


def _line(row: dict[str, Any]) -> str:
    ends = ("none", CLAIMED)
    cells = [
        row["set"], row["store"], str(row["n"]), *(f"{row[way]['covered']:.3f}" for way in WAYS),
        *(f"{row[way]['calibration']:.4f}" for way in WAYS), *(f"{row[way]['mape']:.3f}" for way in ends),
        *(f"{row[way]['crps']:.2f}" for way in ends),
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"
