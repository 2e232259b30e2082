import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from calibrant import DenseDepthNet, Normal, QuantileCalibrator, load, metrics, save
from experiments.kuleshov2018.scenes import scenes

torch = pytest.importorskip("torch")

from calibrant.forecasters import dense_blocks  # noqa: E402
from calibrant.forecasters.depth import passed  # noqa: E402
from calibrant.forecasters.mlp import start_mlp  # noqa: E402

TINY = {"stem": 6, "growth": 4, "layers": 2, "halvings": 2}
SIZE = (12, 18)


@pytest.fixture(scope="module")
def rooms():
    return scenes(110, SIZE, seed=3)


@pytest.fixture(scope="module")
def fitted(rooms):
    images, depth = rooms
    return DenseDepthNet(**TINY, n_passes=4, max_epochs=9, learning_rate=0.01).fit(images[:60], depth[:60])


def start(sizes, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return start_mlp(dense_blocks.dense_shapes(sizes, 3 + dense_blocks.PLACE), generator), generator


def literal(parameters, image, sizes, factors):
    """One image through the net of modules of torch, one layer after the other; ``factors`` are the dropout masks."""
    factors = iter(factors)

    def conv(name, x):
        weight, bias = parameters[f"weight_{name}"][0], parameters[f"bias_{name}"][0, 0]
        channels = x.shape[0]
        side = {1: 1, 9: 3}[weight.shape[0] // channels]
        layer = torch.nn.Conv2d(channels, weight.shape[1], side, padding=side // 2)
        with torch.no_grad():
            for out in range(weight.shape[1]):
                for c in range(channels):
                    for i in range(side):
                        for j in range(side):
                            layer.weight[out, c, i, j] = weight[(c * side + i) * side + j, out]
            layer.bias.copy_(bias)
            return layer(x[None])[0]

    def ready(x):
        return torch.relu((x - x.mean()) / torch.sqrt(x.var(correction=0) + 1e-5))

    def block(name, x):
        for layer in range(sizes.layers):
            x = torch.cat([x, conv(f"{name}_{layer}", ready(x)) * next(factors)])
        return x

    h, w, _ = image.shape
    rows, columns = np.meshgrid(np.linspace(-1, 1, h), np.linspace(-1, 1, w), indexing="ij")
    x = torch.cat([image.permute(2, 0, 1), torch.as_tensor(np.stack([rows, columns]), dtype=torch.float32)])
    x, skips = conv("stem", x), []
    for level in range(sizes.halvings):
        skips.append(block(f"down{level}", x))
        x = torch.nn.MaxPool2d(2, ceil_mode=True)(conv(f"pool{level}", ready(skips[-1]))[None])[0]
    x = block("middle", x)
    for level in range(sizes.halvings)[::-1]:
        x = torch.nn.Upsample(size=skips[level].shape[1:])(x[None])[0]
        x = block(f"up{level}", torch.cat([skips[level], conv(f"rise{level}", x)]))
    return conv("head", ready(x)).permute(1, 2, 0)


def test_passes_at_once_are_a_loop_over_passes_and_images_with_the_same_masks(rng, monkeypatch):
    sizes = dense_blocks.Sizes(4, 3, 2, 1)
    parameters, generator = start(sizes)
    images = torch.as_tensor(rng.normal(size=(2, 7, 6, 3)), dtype=torch.float32)
    seen, draw = [], dense_blocks.drop

    def remembered(*arguments):
        seen.append(draw(*arguments))
        return seen[-1]

    monkeypatch.setattr(dense_blocks, "drop", remembered)
    made = passed(parameters, images, sizes, (0.4, generator), 3)
    assert len(seen) == 6 and all(set(mask.unique().tolist()) <= {0.0, np.float32(1 / 0.6)} for mask in seen)
    for i in range(2):
        each = np.stack([literal(parameters, images[i], sizes, [mask[s * 2 + i] for mask in seen]) for s in range(3)])
        m, variances = each[..., 0].astype(float), np.exp(each[..., 1].astype(float))
        assert_allclose(made[i, ..., 0], m.mean(axis=0), atol=1e-5)
        total = (m**2).mean(axis=0) - m.mean(axis=0) ** 2 + variances.mean(axis=0)
        assert_allclose(made[i, ..., 1], total, rtol=1e-4)


def test_one_pass_is_without_dropout(rng):
    sizes = dense_blocks.Sizes(4, 3, 1, 1)
    parameters, generator = start(sizes)
    images = torch.as_tensor(rng.normal(size=(1, 6, 6, 3)), dtype=torch.float32)
    made = passed(parameters, images, sizes, (0.4, generator), 1)
    expected = literal(parameters, images[0], sizes, [1.0] * 3).detach()
    assert_allclose(made[0, ..., 0], expected[..., 0], atol=1e-5)
    assert_allclose(made[0, ..., 1], expected[..., 1].exp(), rtol=1e-5)


def test_rows_are_pixels_in_the_order_of_ravel(fitted, rooms):
    images, _ = rooms
    law = fitted.predict_dist(images[80:83])
    assert isinstance(law, Normal) and len(law) == 3 * SIZE[0] * SIZE[1]
    mean, deviation = fitted.moments(images[80:83])
    assert mean.dtype == deviation.dtype == np.float32 and mean.shape == (3, *SIZE)
    assert_allclose(mean.ravel(), law.loc, rtol=1e-6)
    alone = DenseDepthNet(**TINY, n_passes=1, max_epochs=1).fit(images[:8], images[:8, ..., 0])
    whole = alone.predict_dist(images[:3]).loc.reshape(3, *SIZE)
    assert_allclose(alone.predict(images[2:3])[0], whole[2], atol=1e-5)


def test_depth_is_learned(fitted, rooms):
    images, depth = rooms
    truth = depth[80:].ravel()
    law = fitted.predict_dist(images[80:])
    constant = Normal(np.full(truth.shape, depth[:80].mean()), depth[:80].std())
    assert fitted.score(images[80:], depth[80:]) > 0.1
    assert np.mean((law.mean() - truth) ** 2) < 0.9 * np.var(truth)
    assert metrics.nll(truth, law) < metrics.nll(truth, constant) - 0.05


def test_an_overconfident_net_is_calibrated_by_pixels_of_other_images_a_few_at_a_time(rooms):
    images, depth = rooms
    settings = {**TINY, "dropout": 0.0, "n_passes": 1, "validation_fraction": 0.0, "max_epochs": 40}
    net = DenseDepthNet(**settings, learning_rate=0.01).fit(images[:12], depth[:12])
    cal = QuantileCalibrator()
    for part in (slice(12, 30), slice(30, 60)):
        cal.partial_fit(net.predict_dist(images[part]), depth[part].ravel())
    truth, raw = depth[60:].ravel(), net.predict_dist(images[60:])
    low, high = raw.interval(0.9).T
    assert np.mean((low <= truth) & (truth <= high)) < 0.8
    before, after = (metrics.calibration_error(truth, law) for law in (raw, cal.transform(raw)))
    assert after < 0.5 * before


def test_pixels_without_depth_take_no_part(rooms):
    images, depth = rooms
    few = {**TINY, "max_epochs": 2, "validation_fraction": 0.25}
    holes = depth[:8].astype(float)
    holes[:, :4] = np.nan
    other = DenseDepthNet(**few).fit(images[:8], holes)
    assert_allclose(other.target_.mean[0], np.nanmean(holes))
    assert np.isfinite(other.loss_curve_).all() and np.isfinite(other.score(images[:8], holes))


def test_the_same_seed_gives_the_same_net_whatever_holds_the_numbers(rooms):
    images, depth = rooms
    few = {**TINY, "max_epochs": 2, "random_state": 5}
    one = DenseDepthNet(**few).fit(images[:6], depth[:6])
    two = DenseDepthNet(**few).fit(torch.as_tensor(images[:6]), depth[:6].astype(float).tolist())
    assert_array_equal(one.loss_curve_, two.loss_curve_)
    assert_array_equal(one.predict(images[:2]), two.predict(images[:2]))
    other = DenseDepthNet(**{**few, "random_state": 6}).fit(images[:6], depth[:6])
    assert not np.array_equal(one.loss_curve_, other.loss_curve_)


def test_it_is_saved_without_pickle(fitted, rooms, tmp_path):
    save(fitted, tmp_path / "depth.calibrant")
    again = load(tmp_path / "depth.calibrant")
    assert_array_equal(again.predict(rooms[0][:2]), fitted.predict(rooms[0][:2]))
    assert again.get_params() == fitted.get_params()


def test_wrong_arguments_are_told(fitted, rooms):
    images, depth = rooms
    with pytest.raises(ValueError, match=r"`X` must be images \(n, h, w, channels\); got shape \(12, 18, 3\)"):
        fitted.predict_dist(images[0])
    with pytest.raises(ValueError, match="`X` must have 3 channels, as in fit; got 2"):
        fitted.predict_dist(images[:1, ..., :2])
    with pytest.raises(ValueError, match=r"`y` must be \(2, 12, 18\), a number a pixel; got shape \(2, 12, 17\)"):
        DenseDepthNet().fit(images[:2], depth[:2, :, 1:])
    with pytest.raises(ValueError, match="`y` must be known in some pixel; it is missing in all"):
        DenseDepthNet().fit(images[:2], np.full((2, *SIZE), np.nan))
    broken = images[:2].copy()
    broken[1, 0, 0, 0] = np.nan
    with pytest.raises(ValueError, match=r"`X` must be finite; 1 of .* first X\[1, 0, 0, 0\] = nan"):
        DenseDepthNet().fit(broken, depth[:2])
    with pytest.raises(ValueError, match="`growth` must be a whole number of at least 1; got 0"):
        DenseDepthNet(growth=0).fit(images[:2], depth[:2])


@pytest.mark.parametrize(("name", "value"), [("n_channels_", 4), ("growth", 5), ("n_passes", 0), ("halvings", -1)])
def test_a_file_that_does_not_fit_together_is_refused(fitted, tmp_path, name, value):
    net = copy.copy(fitted)
    setattr(net, name, value)
    save(net, tmp_path / "forged.calibrant")
    with pytest.raises(ValueError, match="holds no sound calibrator"):
        load(tmp_path / "forged.calibrant")
