"""python -m experiments.segments [--draws 20]: a hidden segment of 5 % is found first, and none where nothing is wrong.

10 000 rows, eight numbers and two categories. In the segment, which has two conditions, outcomes spread twice as wide
as forecast, or events come half as often. Calibrated with the features, 90 % intervals of other rows of the segment
cover 90 % within 5 points, and within 3 where the segments that were found get a scale of their own first.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from calibrant import (
    BoostedCalibrator,
    Chain,
    GroupedCalibrator,
    Normal,
    ScaleCalibrator,
    Segments,
    find_segments,
    metrics,
)
from experiments.cells import claim

ROWS, NUMBERS = 10_000, 8
ABOVE = 0.8416  # the upper fifth of a normal law
ALIKE = 0.8  # of the rows of two segments, for them to be the same
WANTED, ALLOWED = 0.9, 0.05  # shares of the draws
COVERED, OFF, OWN_OFF = 0.9, 0.05, 0.03


class Draw(NamedTuple):
    """Features, who is in the hidden segment, and what was found."""

    features: pd.DataFrame
    hidden: np.ndarray
    found: Segments

    @property
    def is_first(self) -> bool:
        """Whether the first segment that was found is the hidden one, by its features and by its rows."""
        if not len(self.found):
            return False
        first, names = self.found[0].contains(self.features), {each.name for each in self.found[0].conditions}
        return names == {"x0", "region"} and (first & self.hidden).sum() >= ALIKE * (first | self.hidden).sum()


def features(rng: np.random.Generator, rows: int) -> tuple[pd.DataFrame, np.ndarray]:
    """A frame, and the rows of the hidden segment, one in twenty."""
    frame = pd.DataFrame({f"x{k}": rng.normal(size=rows) for k in range(NUMBERS)})
    frame["region"] = rng.choice(["north", "south", "east", "west"], rows)
    frame["shop"] = rng.choice(list("abcdefgh"), rows)
    return frame, ((frame["x0"] > ABOVE) & (frame["region"] == "north")).to_numpy()


def of_laws(seed: int, wrong: bool, rows: int = ROWS) -> Draw:
    """Normal forecasts, too narrow by half in the hidden segment."""
    rng = np.random.default_rng(seed)
    frame, hidden = features(rng, rows)
    mean = rng.normal(size=rows)
    y = mean + np.where(hidden & wrong, 2.0, 1.0) * rng.normal(size=rows)
    return Draw(frame, hidden, find_segments(y, Normal(mean, 1.0), frame, random_state=seed))


def of_classes(seed: int, wrong: bool, rows: int = ROWS) -> Draw:
    """Probabilities of an event, twice too high in the hidden segment."""
    rng = np.random.default_rng(seed)
    frame, hidden = features(rng, rows)
    p = rng.beta(2, 3, rows)
    y = rng.random(rows) < np.where(hidden & wrong, 0.5 * p, p)
    return Draw(frame, hidden, find_segments(y, p, frame, random_state=seed))


def covered(seed: int) -> tuple[float, float, float]:
    """Shares of outcomes in 90 % intervals of the hidden segment: as forecast, boosted, with scales of their own."""
    rng = np.random.default_rng(seed)
    frame, hidden = features(rng, 2 * ROWS)
    mean = rng.normal(size=2 * ROWS)
    y = mean + np.where(hidden, 2.0, 1.0) * rng.normal(size=2 * ROWS)
    old, new = slice(None, ROWS), np.flatnonzero(hidden[ROWS:]) + ROWS
    law, other = Normal(mean[old], 1.0), Normal(mean[new], 1.0)
    found = find_segments(y[old], law, frame[old], random_state=seed)
    boosted = BoostedCalibrator().fit(law, y[old], X=frame[old])
    own = Chain([GroupedCalibrator(ScaleCalibrator()), BoostedCalibrator()])
    own.fit(law, y[old], X=frame[old], groups=found.labels(frame[old]))
    rows = frame.iloc[new]
    made = [other, boosted.transform(other, X=rows), own.transform(other, X=rows, groups=found.labels(rows))]
    one, two, three = (float(metrics.coverage(y[new], each, coverage=COVERED)) for each in made)
    return one, two, three


def verdict(draws: int) -> Iterator[str]:
    """A line for each claim."""
    before, boosted, own = np.mean([covered(seed) for seed in range(draws)], axis=0)
    text = f"90 % intervals of the hidden segment cover {before:.3f}, with features"
    yield claim(abs(boosted - COVERED) <= OFF, f"{text} {boosted:.3f}")
    yield claim(abs(own - COVERED) <= OWN_OFF, f"{text} and a scale of their own {own:.3f}")
    kinds: dict[str, Callable[[int, bool], Draw]] = {"laws": of_laws, "classes": of_classes}
    for name, draw in kinds.items():
        first = sum(draw(seed, True).is_first for seed in range(draws))
        yield claim(first >= WANTED * draws, f"{name}: the hidden segment is found first in {first} of {draws} draws")
        shown = sum(len(draw(seed, False).found) > 0 for seed in range(draws))
        yield claim(shown <= ALLOWED * draws, f"{name}: with nothing wrong, {shown} of {draws} draws show a segment")


def main() -> int:
    """Print the claims; the exit status says whether all hold."""
    parser = argparse.ArgumentParser(prog="python -m experiments.segments", description=__doc__)
    parser.add_argument("--draws", type=int, default=20)
    lines = []
    for line in verdict(parser.parse_args().draws):
        print(line, flush=True)
        lines.append(line)
    return int(any(line.startswith("FAIL") for line in lines))


if __name__ == "__main__":
    raise SystemExit(main())
