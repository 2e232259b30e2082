"""Every input check, one function each. Errors name the argument, the rule, how many break it and which first."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
_FLOAT = np.dtype(np.float64)
_CLOSE = (8,)  # strides of numbers that follow each other
MANY = 65_536  # numbers that are not read twice
_FEW = 100  # numbers that are looked at one by one

MOST_EACH = 1e3  # rows that one point may stand for, on average, in fits
COPIES, FEW_OUTCOMES = 3.0, 3.0  # rows that a vast weight counts as, where a forecast has so few outcomes
_ENOUGH, _ENOUGH_EACH = (
    6e3,
    30.0,
)  # rows in all, and at least for each point, that vast weights count as, where it has more
_MOST_ROWS = 1e15  # beyond, a float cannot tell one row more


def to_array(values: Any, name: str) -> Array:
    """Float64 array of numbers of any library, masked ones NaN; never a copy of what is float64 already."""
    if type(values) is np.ndarray and values.dtype is _FLOAT:
        return values
    _refuse_other_kinds(values, name)
    try:
        array = plain_array(values)
    except ValueError as reason:
        raise ValueError(f"`{name}` must be an array of numbers; its rows have different lengths.") from reason
    if array.dtype.kind == "c":
        raise TypeError(f"`{name}` must be real numbers, not complex.")
    if array.dtype.kind in "biuf":
        return cast(Array, np.asarray(array, dtype=np.float64))
    numbers = [np.nan if value is None else value for value in array.ravel().tolist()]
    wrong = next((value for value in numbers if isinstance(value, str) or not hasattr(value, "__float__")), None)
    if wrong is not None or array.dtype.kind not in "OUS":
        wrong = array.dtype if wrong is None else wrong
        raise TypeError(f"`{name}` must be numbers; got {type(wrong).__name__} {wrong!r}.")
    return np.array([float(value) for value in numbers]).reshape(array.shape)


def is_column(values: Any) -> bool:
    """Whether these are plain float64 numbers in one dimension, which need no reading."""
    return type(values) is np.ndarray and values.dtype is _FLOAT and values.ndim == 1


def plain_array(values: Any) -> NDArray[Any]:
    """Array of numbers or labels from lists, NumPy, pandas, polars or tensors; masked ones are missing: NaN, NaT, None.

    >>> plain_array(np.ma.array([1, 1000000], mask=[False, True]))
    array([ 1., nan])
    """
    if hasattr(values, "detach"):  # a torch tensor, perhaps with gradients, on a device, or of a type NumPy lacks
        values = values.detach().cpu()
        values = (values.double() if values.is_floating_point() else values).numpy()
    elif hasattr(values, "to_numpy") and not isinstance(values, np.ndarray):
        values = values.to_numpy()
    elif isinstance(values, (list, tuple)) and values and _is_array(values[0]):
        values = [plain_array(value) for value in values]
    return _filled(values) if isinstance(values, np.ma.MaskedArray) else np.asarray(values)


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) or hasattr(value, "detach")


def _filled(values: Any) -> NDArray[Any]:
    """Masked entries as missing ones; whole numbers, which know none, become floats."""
    kind = values.dtype.kind
    if not np.ma.is_masked(values):
        return np.asarray(values.data)
    if kind in "mM":
        return np.asarray(values.filled(np.array("NaT", dtype=values.dtype)))
    if kind in "biufc":
        return np.asarray(values.astype(np.float64 if kind in "biu" else values.dtype).filled(np.nan))
    return np.asarray(np.where(np.ma.getmaskarray(values), None, values.data.astype(object)))


def _refuse_other_kinds(values: Any, name: str) -> None:
    if values is None:
        raise TypeError(f"`{name}` must be numbers; got None.")
    if hasattr(values, "to_normal"):
        kind = type(values).__name__
        raise TypeError(f"`{name}` must be numbers; got forecasts ({kind}). Arguments in the wrong order?")


def own_array(values: Any, name: str) -> Array:
    """Float64 array that nobody else can write to, read-only: a copy where somebody could, else what is there.

    >>> a = np.zeros(2)
    >>> own = own_array(a, "loc")
    >>> a[:] = 99
    >>> own, own_array(own, "loc") is own
    (array([0., 0.]), True)
    """
    if type(values) is np.ndarray and values.dtype is _FLOAT and values.flags.writeable:  # as nearly always
        array = values.copy()
    else:
        array = to_array(values, name)
        if (array is values or not _is_fresh(values)) and _can_be_written(array):
            array = array.copy()
    array.flags.writeable = False
    return array


def _is_fresh(values: Any) -> bool:
    """Whether the float64 array of these numbers is a new one."""
    return isinstance(values, (list, tuple)) or (isinstance(values, np.ndarray) and values.dtype != np.float64)


def _can_be_written(array: Any) -> bool:
    """Whether an array, or one that it is a view of, can be written to."""
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return True
        array = array.base
    return False


def index_of(*values: Any) -> Any:
    """The index of the first pandas object among the values, or None."""
    for value in values:
        kind = type(value)
        if kind is not np.ndarray and kind.__module__.partition(".")[0] == "pandas" and hasattr(value, "index"):
            return value.index
    return None


def column_names(values: Any) -> list[Any] | None:
    """Names of the columns of a pandas, polars or pyarrow table, or None."""
    names = getattr(values, "columns", None)
    if not hasattr(values, "iloc"):  # pyarrow keeps the names apart
        names = getattr(values, "column_names", names)
    return None if names is None else list(names)


def complain(name: str, rule: str, array: NDArray[Any], bad: NDArray[np.bool_], hint: str = "") -> None:
    """Raise ValueError if any entry is bad, telling how many and which is first."""
    count = int(np.count_nonzero(bad))
    if not count:
        return
    where = tuple(int(i) for i in np.argwhere(bad)[0])
    place = f"{name}[{', '.join(map(str, where))}]" if where else name
    verb = "is" if count == 1 else "are"
    tail = f" {hint}" if hint else ""
    raise ValueError(
        f"`{name}` must be {rule}; {count} of {array.size} values {verb} not, first {place} = {array[where]}.{tail}"
    )


def finite(array: Array, name: str, hint: str = "") -> Array:
    """All entries finite."""
    if not is_finite(array):
        complain(name, "finite", array, ~np.isfinite(array), hint)
    return array


def is_finite(array: Array) -> bool:
    """Whether all entries are finite; many, and those of a table's column, are read once unless they are vast."""
    flat = array
    if flat.strides != _CLOSE or flat.size > MANY:
        flat = _each_once(array) if array.ndim == 1 else array.ravel("K")
        with np.errstate(over="ignore", invalid="ignore"):
            if math.isfinite(np.add.reduce(flat)):
                return True
    return flat.size == 0 or (flat.item(flat.argmax()) < math.inf and flat.item(flat.argmin()) > -math.inf)


def _each_once(array: Array) -> Array:
    """The numbers of a column; one for all rows, which `constant` and broadcasting make, just once."""
    return array[:1] if array.strides == (0,) else array


def positive(array: Array, name: str, hint: str = "") -> Array:
    """All entries finite and > 0."""
    finite(array, name)
    each = _each_once(array)
    if each.size and not each.item(each.argmin()) > 0:
        complain(name, "positive", array, ~(array > 0), hint)
    return array


def column(values: Any, name: str, rows: int | None = None) -> Array:
    """A finite 1-D array, of the given length where one is given."""
    array = finite(to_array(values, name), name)
    if array.ndim == 2 and 1 in array.shape[1:]:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"`{name}` must be 1-dimensional; got shape {array.shape}.")
    if rows is not None:
        same_length(array, name, rows)
    return array


def by_row(values: Any, name: str, rows: int) -> Array:
    """One number a forecast, not NaN, from a column or from a number that serves all.

    >>> by_row(2, "price", 3)
    array([2., 2., 2.])
    """
    array = to_array(values, name)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.shape not in ((), (rows,)):
        raise ValueError(f"`{name}` must be a scalar or ({rows},) for {rows} forecasts; got shape {array.shape}.")
    complain(name, "a number", array, np.isnan(array))
    return np.broadcast_to(array, (rows,))


def parameters(values: dict[str, Any]) -> tuple[dict[str, Array], Any]:
    """Read-only columns of one length from columns and scalars, and the index of the first pandas object among them."""
    columns, shapes = {}, set()
    for name, value in values.items():
        columns[name] = column = own_array(value, name)
        shapes.add(column.shape)
    index = index_of(*values.values())
    if len(shapes) == 1 and column.ndim == 1:
        return columns, index
    columns = {k: c[:, 0] if c.ndim == 2 and c.shape[1] == 1 else c for k, c in columns.items()}
    for name, value in columns.items():
        if value.ndim > 1:
            raise ValueError(f"`{name}` must be a scalar or 1-dimensional; got shape {value.shape}.")
    lengths = {c.shape[0] for c in columns.values() if c.ndim}
    if len(lengths) > 1:
        shown = ", ".join(f"{name} {c.shape[0]}" for name, c in columns.items() if c.ndim)
        raise ValueError(f"parameters must have one length; got {shown}.")
    n = lengths.pop() if lengths else 1
    whole = {name: c if c.ndim else np.broadcast_to(c, (n,)) for name, c in columns.items()}
    return whole, index


def same_length(array: Array, name: str, rows: int) -> None:
    """As many entries as forecasts."""
    if len(array) != rows:
        hint = " Means and standard deviations? Give them as a tuple (mean, std)." if rows == 2 else ""
        raise ValueError(f"`{name}` must have one entry per forecast; got {len(array)} for {rows} forecasts.{hint}")


def outcomes(values: Any, rows: int) -> tuple[Array, NDArray[np.bool_] | None]:
    """Outcomes and the mask of rows to keep (None: all); missing ones are dropped, with a warning that counts them."""
    y = to_array(values, "y")
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1:
        raise ValueError(f"`y` must be 1-dimensional; got shape {y.shape}.")
    same_length(y, "y", rows)
    if is_finite(y):  # nothing is missing
        return nonempty(y, "y"), None
    complain("y", "finite", y, np.isinf(y))
    missing = np.isnan(y)
    if not missing.any():
        return y, None
    warnings.warn(f"{int(missing.sum())} of {len(y)} rows have no outcome (NaN) and are left out.", stacklevel=3)
    return nonempty(y[~missing], "y", "Every outcome is missing."), ~missing


def nonempty(array: Array, name: str, hint: str = "") -> Array:
    """At least one row."""
    if len(array) == 0:
        raise ValueError(f"`{name}` must have at least one row; it is empty.{' ' + hint if hint else ''}")
    return array


def sample_weights(values: Any, rows: int) -> Array | None:
    """Frequency weights: finite, non-negative, not all zero; None stays None."""
    if values is None:
        return None
    weights = column(values, "sample_weight", rows)
    complain("sample_weight", "non-negative", weights, weights < 0)
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not total > 0:
        raise ValueError("`sample_weight` must not be all zero.")
    if total > _MOST_ROWS:
        raise ValueError(
            f"`sample_weight` must add up to a number of rows, {_MOST_ROWS:g} at most; the sum is {total:g}. "
            "Weights are frequencies: weight 2 is the row twice."
        )
    return weights


def believed(weights: Array, most: float = MOST_EACH, *, outcomes: float = np.inf, copies: float = COPIES) -> Array:
    r"""Weights for a fit: scaled down where a row stands for more than ``most`` others on average.

    Rows tell no more of a law than that, and maps that try to follow each of them take long to fit. How many copies of
    a row are believed then depends on how many different ``outcomes`` d a forecast has on average, for counts that were
    put together have many: c up to three, else :math:`c\,(d/3)^3`; c is ``copies``. More than ``most``, than 30 of each
    and than 6 000 in all are never needed.

    >>> believed(np.array([1e14, 3e14])), believed(np.array([1.0, 3.0])), believed(np.full(2, 1e12), outcomes=1)
    (array([ 500., 1500.]), array([1., 3.]), array([3., 3.]))
    """
    mean = float(weights.mean())
    if mean <= most:
        return weights
    told = copies * max(outcomes / FEW_OUTCOMES, 1.0) ** 3
    return weights * (min(told, max(_ENOUGH / len(weights), _ENOUGH_EACH), most) / mean)


def probabilities(values: Any, name: str, *, open_ends: bool = True) -> Array:
    """Numbers in (0, 1), or in [0, 1] where the ends are allowed."""
    if type(values) is float and 0 < values < 1:
        return np.array([values])
    array = np.atleast_1d(to_array(values, name))
    if array.size <= _FEW and all(0 < value < 1 for value in array.ravel().tolist()):  # as nearly always
        return array
    if open_ends:
        complain(name, "strictly between 0 and 1", array, ~((array > 0) & (array < 1)), "Percent? Divide by 100.")
    else:
        complain(name, "between 0 and 1", array, ~((array >= 0) & (array <= 1)), "Percent? Divide by 100.")
    return array


def probability(value: Any, name: str) -> float:
    """One number in (0, 1)."""
    if type(value) is float and 0 < value < 1:
        return value
    values = probabilities(value, name)
    if np.ndim(value) or len(values) != 1:
        raise ValueError(f"`{name}` must be one number; got {value!r}.")
    return float(values[0])


def interval_levels(value: Any, name: str) -> tuple[float, float]:
    """Lower and upper level of an interval: a number is the coverage of the central one, a pair are the levels.

    >>> interval_levels(0.5, "coverage"), interval_levels((0.0, 0.75), "coverage")
    ((0.25, 0.75), (0.0, 0.75))
    """
    if np.ndim(value) == 0:
        half = 0.5 * probability(value, name)
        return 0.5 - half, 0.5 + half
    levels = probabilities(value, name, open_ends=False)
    if levels.shape != (2,) or not levels[0] < levels[1]:
        raise ValueError(f"`{name}` must be two levels that rise, (0.05, 0.5) say; got {value!r}.")
    return float(levels[0]), float(levels[1])


def count(value: Any, name: str, least: int = 1) -> int:
    """A whole number that is large enough."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"`{name}` must be a whole number of at least {least}; got {value!r}.")
    return int(value)


def number(value: Any, name: str, *, above: float = -np.inf, least: float = -np.inf, below: float = np.inf) -> float:
    """One finite number within bounds; ``above`` and ``below`` are not reached, ``least`` may be.

    >>> number(0.5, "dropout", least=0, below=1)
    0.5
    """
    real = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if real and above < value < below and value >= least and np.isfinite(value):
        return float(value)
    rules = [("above", above), ("of at least", least), ("below", below)]
    told = " and ".join(f"{word} {bound:g}" for word, bound in rules if np.isfinite(bound))
    raise ValueError(f"`{name}` must be a number{' ' + told if told else ''}; got {value!r}.")


def choices(**given: tuple[Any, Iterable[Any]]) -> None:
    """Members of short lists, each given with its list."""
    for name, (value, listed) in given.items():
        one_of(value, name, tuple(listed))


def one_of(value: Any, name: str, choices: Sequence[Any]) -> None:
    """A member of a short list."""
    if value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"`{name}` must be one of {listed}; got {value!r}.")
