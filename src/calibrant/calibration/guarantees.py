"""What is promised of intervals and sets by ranks, in words."""

from __future__ import annotations

from collections.abc import Sequence

GIVEN, LEARNED = "given", "learned"  # how the ratio of densities came about
WITHIN = {
    None: "",
    "groups": ", within each group",
    "width": ", within each range of predicted widths",
    "class": ", within each class",
}


def interval_guarantee(
    rows: Sequence[float],
    *,
    by: str | None = None,
    score: str = "absolute",
    random: bool = False,
    ratio: str | None = None,
) -> str:
    """The promise of intervals from groups of that many rows kept aside.

    >>> print(interval_guarantee([19.0]))
    An interval of coverage c holds the outcome with a probability of at least c, and of at most c + 0.05 if no two
    scores are equal, whatever the law, if new rows are exchangeable with the 19 kept aside. Above c = 0.95 it is
    infinite.
    """
    fewest, signed = min(rows), score == "signed"
    promise = _promise(fewest, 2 if signed else 1, random, ratio)
    parts = [
        f"An interval of coverage c holds the outcome with a probability of {promise}{WITHIN[by]}, whatever the law, "
        f"if new rows {_like(rows, ratio)}."
    ]
    if signed:
        parts.append("Either end is missed with a probability of at most (1 - c)/2.")
    if score == "density":
        parts.append("Wide forecasts are held less often than narrow ones, so that the mean width is least.")
    if ratio is not None:
        parts.append("It is infinite for rows that weigh more than 1 - c of all.")
    else:
        last = (fewest - 1 if signed else fewest) / (fewest + 1)
        parts.append(f"Above c = {max(last, 0.0):.3g} it is {_beyond('infinite', rows, random)}.")
    if by == "groups":
        parts.append("Of groups without rows it is infinite.")
    return " ".join(parts)


def set_guarantee(rows: Sequence[float], *, by: str | None = None, first_are_equal: bool = False) -> str:
    """The promise of sets of classes, whose scores may be equal for labels that are the likeliest class.

    >>> print(set_guarantee([50.0, 20.0], by="class"))
    A set of coverage c holds the label with a probability of at least c, and of at most c + 0.048 if no two scores are
    equal, within each class, whatever the law, if new rows are exchangeable with the 70 of the fit. Above c = 0.952 it
    is of all classes where rows are fewest.
    """
    fewest = min(rows)
    return (
        "A set of coverage c holds the label with a probability of "
        f"{_promise(fewest, 1, False, None, first_are_equal=first_are_equal)}{WITHIN[by]}, "
        f"whatever the law, if new rows are exchangeable with the {sum(rows):g} of the fit. Above c = "
        f"{fewest / (fewest + 1):.3g} it is {_beyond('of all classes', rows, False)}."
        f"{' Of groups without rows it is of all classes.' if by == 'groups' else ''}"
    )


def _beyond(what: str, rows: Sequence[float], random: bool) -> str:
    where = " where rows are fewest" if len(set(rows)) > 1 else ""
    return f"{what}{where}{', and just below that at random' if random else ''}"


def _promise(fewest: float, ranks: int, random: bool, ratio: str | None, *, first_are_equal: bool = False) -> str:
    if random:
        return "c (more if scores are equal)"
    if ratio is not None:
        return "at least c"
    but = ", or what the likeliest class has if that is more, if no two other" if first_are_equal else " if no two"
    return f"at least c, and of at most c + {ranks / (fewest + 1):.2g}{but} scores are equal"


def _like(rows: Sequence[float], ratio: str | None) -> str:
    kept = f"{sum(rows):g}"
    if ratio is None:
        return f"are exchangeable with the {kept} kept aside"
    how = "the ratio given" if ratio == GIVEN else "the ratio learned, and as far as that is right"
    return f"differ from the {kept} kept aside in their features only, and these by {how}"
