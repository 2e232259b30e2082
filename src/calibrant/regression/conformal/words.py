"""What is promised of intervals, in words."""

from __future__ import annotations

from collections.abc import Sequence

GIVEN, LEARNED = "given", "learned"  # how the ratio of densities came about


def guarantee(rows: Sequence[float], score: str, *, by: str | None, random: bool, ratio: str | None) -> str:
    """The promise of intervals from groups of that many rows kept aside.

    >>> print(guarantee([19.0], "absolute", by=None, random=False, ratio=None))
    An interval of coverage c holds the outcome with a probability of at least c, and of at most c + 0.05 if no two
    scores are equal, whatever the law, if new rows are exchangeable with the 19 kept aside. Above c = 0.95 it is
    infinite.
    """
    fewest = min(rows)
    within = {None: "", "groups": ", within each group", "width": ", within each range of predicted widths"}[by]
    parts = [
        f"An interval of coverage c holds the outcome with a probability of {_promise(fewest, score, random, ratio)}"
        f"{within}, whatever the law, if new rows {_like(rows, ratio)}."
    ]
    if score == "signed":
        parts.append("Either end is missed with a probability of at most (1 - c)/2.")
    if ratio is None and not random:
        last = (fewest - 1) / (fewest + 1) if score == "signed" else fewest / (fewest + 1)
        where = " where rows are fewest" if len(set(rows)) > 1 else ""
        parts.append(f"Above c = {max(last, 0.0):.3g} it is infinite{where}.")
    elif ratio is None:
        parts.append("It may be infinite where rows are few.")
    else:
        parts.append("It is infinite for rows that weigh more than 1 - c of all.")
    if by == "groups":
        parts.append("Of groups without rows it is infinite.")
    return " ".join(parts)


def _promise(fewest: float, score: str, random: bool, ratio: str | None) -> str:
    if random:
        return "c (more if scores are equal)"
    if ratio is not None:
        return "at least c"
    more = (2 if score == "signed" else 1) / (fewest + 1)
    return f"at least c, and of at most c + {more:.2g} if no two scores are equal"


def _like(rows: Sequence[float], ratio: str | None) -> str:
    kept = f"{sum(rows):g}"
    if ratio is None:
        return f"are exchangeable with the {kept} kept aside"
    how = "the ratio given" if ratio == GIVEN else "the ratio learned, and as far as that is right"
    return f"differ from the {kept} kept aside in their features only, and these by {how}"
