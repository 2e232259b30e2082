"""The bases of Song et al. (2019): what the first author's code trains, and the choice among settings."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel

from experiments.cells import read_result
from experiments.data import load
from experiments.song2019.bases import __main__ as command
from experiments.song2019.table1.forecasts import paper_base
from experiments.song2019.table1.net import DECAY, AdadeltaNet, _Adadelta, _parts
from experiments.song2019.table1.paper import PAPER
from experiments.song2019.table1.process import CodeProcess


def _net(rng, features=3):
    """A net that was not trained, in double precision."""
    shapes = [(features, 128), (128, 128), (128, 1)]
    net = AdadeltaNet()
    net.layers_ = [(0.1 * rng.normal(size=shape), 0.1 * rng.normal(size=shape[1])) for shape in shapes]
    return net


def test_the_net_goes_down_the_slope_of_its_loss(rng):
    net, x, y = _net(rng), rng.normal(size=(20, 3)), rng.normal(size=20)

    def passed():
        hidden = net._hidden(x, np.random.default_rng(7))
        return hidden, hidden[-1] @ net.layers_[-1][0][:, 0] + net.layers_[-1][1] - y

    def loss():
        return np.mean(passed()[1] ** 2) + DECAY * sum(np.sum(weight**2) for weight, _ in net.layers_)

    hidden, error = passed()
    slopes = [tuple(np.zeros_like(part) for part in layer) for layer in net.layers_]
    net._slopes(hidden, error * 2 / 20, slopes)
    for layer, part in itertools.product(range(3), range(2)):
        numbers, slope = net.layers_[layer][part].reshape(-1), slopes[layer][part].reshape(-1)
        for at in rng.integers(len(numbers), size=5):
            before, found = numbers[at], []
            for step in (1e-6, -1e-6):
                numbers[at] = before + step
                found.append(loss())
            numbers[at] = before
            assert slope[at] == pytest.approx((found[0] - found[1]) / 2e-6, rel=1e-3, abs=1e-8)


def test_half_the_units_are_dropped_and_the_others_doubled(rng):
    net, x = _net(rng), rng.normal(size=(500, 3))
    _, first, _ = net._hidden(x, np.random.default_rng(0))
    plain = np.maximum(x @ net.layers_[0][0] + net.layers_[0][1], 0)
    kept = first > 0
    np.testing.assert_allclose(first[kept], 2 * plain[kept], rtol=1e-6)
    assert kept.sum() / (plain > 0).sum() == pytest.approx(0.5, abs=0.01)


def test_the_steps_are_those_of_torch(rng):
    torch = pytest.importorskip("torch")
    flat, _ = _parts([2, 3, 1])
    flat[:] = rng.normal(size=len(flat))
    theirs = torch.tensor(flat.copy(), requires_grad=True)
    ours, other = _Adadelta(flat, [2, 3, 1], 0.7), torch.optim.Adadelta([theirs], lr=0.7, rho=0.95, eps=1e-7)
    for _ in range(20):
        slope = rng.normal(size=len(flat)).astype(np.float32)
        ours.slopes[:] = slope
        theirs.grad = torch.tensor(slope)
        ours.step()
        other.step()
        np.testing.assert_allclose(flat, theirs.detach().numpy(), rtol=2e-3, atol=1e-6)


def test_the_net_learns_ends_by_itself_and_repeats_itself(rng):
    x = rng.uniform(-1, 1, size=(120, 2))
    y = 20 + 5 * x[:, 0]
    net = AdadeltaNet(patience=60, seed=3).fit(x, y)
    mean = net.predict(x)
    assert np.mean((mean - y) ** 2) < 0.3 * y.var() and 60 < net.n_epochs_ < 20_000
    np.testing.assert_array_equal(net.predict(x), mean)
    np.testing.assert_array_equal(AdadeltaNet(patience=60, seed=3).fit(x, y).predict(x), mean)
    more = AdadeltaNet(most_epochs=2, rows=1000).fit(x, y).predict(x, return_std=True)[1]
    less = AdadeltaNet(most_epochs=2).fit(x, y).predict(x, return_std=True)[1]  # 120 rows are forecast
    np.testing.assert_allclose(more**2 - less**2, 2 * (1000 - 120) * DECAY / 0.5, rtol=1e-6)


def test_the_process_finds_the_top_that_restarts_find():
    data = load("diabetes")
    X, y = data.X[:100], data.y[:100]
    kernel = np.std(y) * RBF(1.0) + WhiteKernel(1)
    restarted = GaussianProcessRegressor(kernel, alpha=0.01, n_restarts_optimizer=8, random_state=0).fit(X, y)
    climbed = CodeProcess().fit(X, y)
    found = climbed.process_.log_marginal_likelihood_value_
    assert found >= restarted.log_marginal_likelihood_value_ - 0.01
    assert climbed.predict(X, return_std=True)[1].shape == (100,) and climbed.predict(X).shape == (100,)


def test_bases_of_the_table():
    assert isinstance(paper_base("NN", 4, None, most_epochs=2).model, AdadeltaNet)
    assert paper_base("NN", 4, None).model.seed == 4 and isinstance(paper_base("GPR", 0, None).model, CodeProcess)
    assert repr(paper_base("OLS", 0, None).model).count("LinearRegression") == 1


def test_the_nearest_setting_is_chosen_where_it_was_run_on_all_sets(tmp_path, capsys):
    printed = {name: each["NLL"].base for name, each in PAPER["GPR"].items()}
    cells = {}
    for name, nll in printed.items():
        for split, factor in ((10, 1.1), (11, 1.2), (12, 5.0)):
            cells[f"GPR/raw/one length/{name}/{split}"] = {"": {"NLL": nll * factor, "MSE": 1.0, "pinball": 1.0}}
    (tmp_path / "bases.cells.json").write_text(json.dumps(cells))
    command.main(["--done", "--out", str(tmp_path)])
    assert read_result(tmp_path, "bases")["chosen"] == {"GPR": "raw, one length"}
    assert "| raw, one length | 0.182 |" in capsys.readouterr().out
    cells["GPR/raw/the code's/diabetes/10"] = {"": {"NLL": 2 * printed["diabetes"], "MSE": 1.0, "pinball": 1.0}}
    (tmp_path / "bases.cells.json").write_text(json.dumps(cells))
    command.main(["--done", "--out", str(tmp_path)])
    assert read_result(tmp_path, "bases")["chosen"] == {"GPR": None}  # it may be nearer yet
    assert "| raw, the code's | ≥ 0.139 |" in capsys.readouterr().out


def test_a_cell_has_both_noises(monkeypatch):
    monkeypatch.setitem(command.MODELS["NN"], "few", lambda X, y, seed: AdadeltaNet(1.0, len(y), most_epochs=2))
    found = command.cell("NN", "standardised", "few", "diabetes", 10, None)
    assert list(found) == list(command.ROWS["NN"]) and found["N forecast"]["MSE"] == found["N learned from"]["MSE"]
    assert found["N forecast"]["NLL"] > found["N learned from"]["NLL"]


def test_the_quick_run_needs_no_data(tmp_path, capsys):
    pytest.importorskip("torch")
    assert command.main(["--quick", "--jobs", "1", "--out", str(tmp_path)]) == 0
    assert "| standardised, the code's | ≥" in capsys.readouterr().out and not list(tmp_path.glob("bases.*"))
