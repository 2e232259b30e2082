"""GP-Beta by the paper's optimiser: where it begins, what it learns, and the table of it."""

from __future__ import annotations

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from calibrant import GPBetaCalibrator, Normal  # noqa: E402
from experiments.song2019.adam import __main__ as command  # noqa: E402
from experiments.song2019.adam.model import MOST, Unit, _start, gains, latents, learned, log_ratio  # noqa: E402


def _problem(rng, n=300):
    mean = rng.normal(size=n)
    return mean, np.full(n, 1.0), mean + np.where(mean > 0, 2.0, 0.5) * rng.normal(size=n)


def test_the_ratio_is_that_of_the_library(rng):
    from calibrant.regression.gp_beta.likelihood import log_ratio as ours

    w, q = rng.normal(size=(50, 3)), rng.uniform(size=50)
    theirs = log_ratio(torch.tensor(w), torch.tensor(np.log(q)), torch.tensor(np.log1p(-q)))
    np.testing.assert_allclose(theirs.numpy(), ours(w.T, np.log(q), np.log1p(-q))[0], rtol=1e-10)


def test_it_begins_near_the_identity(rng):
    mean, std, y = _problem(rng)
    rows = Unit.of(mean, std).rows(mean, std, y)
    data = torch.tensor(np.stack(rows))[None].float()
    start = _start(data, torch.tensor([300.0]), 8)
    middle, root = latents(start, data[:, :2])
    assert float(middle.detach().abs().max()) == 0 and float(root.detach().norm(dim=(2, 3)).max()) < 0.4
    assert abs(gains({k: v.detach() for k, v in start.items()}, 0, rows, 0).mean()) < 0.1  # tails are a little heavier


def test_problems_side_by_side_learn_what_the_library_learns(rng):
    problems = [_problem(rng), _problem(rng)]
    units = [Unit.of(mean, std) for mean, std, _ in problems]
    rows = [unit.rows(*problem) for unit, problem in zip(units, problems, strict=True)]
    end = learned(rows, 8, "cpu", seed=0, most=2000)
    fresh = _problem(rng, 2000)
    for at, (mean, std, y) in enumerate(problems):
        law = GPBetaCalibrator(8, kernel="embedding", inducing="learned", base_map=None).fit(Normal(mean, std), y)
        new = Normal(fresh[0], fresh[1])
        best = np.mean(law.transform(new).logpdf(fresh[2]) - new.logpdf(fresh[2]))
        assert gains(end, at, units[at].rows(*fresh), 0).mean() == pytest.approx(best, abs=0.05) and best > 0.15


def test_the_command_stops_where_the_model_says():
    assert command._options([]).steps == MOST


def test_the_quick_run(tmp_path):
    assert command.main(["--quick", "--jobs", "1", "--out", str(tmp_path)]) == 0
    cells = json.loads((tmp_path / "adam-quick.cells.json").read_text())
    assert list(cells) == [f"diabetes/OLS/{split}/{name}" for name in ("none", "GPB 8") for split in (0, 1)]
    assert command.main(["--quick", "--done", "--out", str(tmp_path)]) == 0
