from __future__ import annotations

import io
import json
import zipfile

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import BayesianRidge

from calibrant import (
    BinningCalibrator,
    CalibratedRegressor,
    Chain,
    DensityCalibrator,
    GPBetaCalibrator,
    GPCCalibrator,
    GroupedCalibrator,
    IsotonicCalibrator,
    Normal,
    PairwiseCalibrator,
    PointCalibrator,
    QuantileCalibrator,
    ResidualCalibrator,
    ScaleCalibrator,
    StackCalibrator,
    VennAbersCalibrator,
    load,
    save,
)
from calibrant.maps import AffineMap
from calibrant.store import describe
from calibrant.store.archive import _digest, read
from calibrant.store.packing import unpacked
from tests.common.examples import fit_example, transform_example
from tests.common.test_calibrators import CALIBRATORS

SCALES = [ScaleCalibrator(), QuantileCalibrator()]
pytestmark = pytest.mark.filterwarnings("ignore:.*probabilistic calibration.*:UserWarning")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    mu, sigma = rng.normal(0, 2, 200), np.exp(rng.normal(0, 0.5, 200))
    return mu, sigma, mu + 0.3 + 2 * sigma * rng.standard_normal(200)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "shop.calibrant"


def forged(path, change):
    """Write the file again with its text changed, and a digest to match."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    text = json.loads(members.pop("calibrator.json"))
    change(text, members)
    arrays = [members[f"{i}.npy"] for i in range(len(members))]
    text["digest"] = _digest({**text, "digest": None}, arrays)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("calibrator.json", json.dumps(text))
        for name, member in members.items():
            archive.writestr(name, member)


# ---- round trips ----
@pytest.mark.parametrize("name", CALIBRATORS)
def test_the_same_bits(name, data, path):
    mu, sigma, y = data
    calibrator = fit_example(CALIBRATORS[name], Normal(mu, sigma), y)
    save(calibrator, path)
    again = load(path)
    assert type(again) is type(calibrator) and repr(again) == repr(calibrator)
    before, after = (transform_example(each, Normal(mu, sigma)) for each in (calibrator, again))
    np.testing.assert_array_equal(after.quantiles([0.01, 0.5, 0.9]), before.quantiles([0.01, 0.5, 0.9]))
    if not before.has_atoms:
        np.testing.assert_array_equal(after.logpdf(y), before.logpdf(y))
    np.testing.assert_array_equal(after.cdf(y), before.cdf(y))


def test_groups_keep_their_labels(data, path):
    mu, sigma, y = data
    for groups in (np.arange(200) % 3, np.array(["a", "b"])[np.arange(200) % 2]):
        calibrator = GroupedCalibrator(ScaleCalibrator()).fit(Normal(mu, sigma), y, groups=groups)
        save(calibrator, path)
        after = load(path).transform(Normal(mu, sigma), groups=groups)
        np.testing.assert_array_equal(after.std(), calibrator.transform(Normal(mu, sigma), groups=groups).std())


def test_after_use_too(data, path):
    mu, sigma, y = data
    calibrator = QuantileCalibrator("ecdf").fit(Normal(mu, sigma), y)
    calibrator.transform(Normal(mu, sigma)).crps(y)  # fills tables that are not saved
    save(calibrator, path)
    np.testing.assert_array_equal(load(path).map_.knots, calibrator.map_.knots)
    assert path.stat().st_size < 8000


def test_what_is_known_of_it(data, path):
    mu, sigma, y = data
    save(QuantileCalibrator().fit(Normal(mu, sigma), y), path, metadata={"target": "sales", "nll": [1.0, 0.5]})
    known = describe(path)
    assert known["method"] == "QuantileCalibrator" and known["rows"] == 200
    assert known["metadata"] == {"target": "sales", "nll": [1.0, 0.5]}


@pytest.mark.parametrize(
    "calibrator",
    [DensityCalibrator(n_thresholds=9), GPCCalibrator(8, n_basis=10, n_grid=32), GPBetaCalibrator(4, base_map=None)],
)
def test_files_without_parameters_that_were_added_since(calibrator, data, path):
    mu, sigma, y = data
    save(clone(calibrator).fit(Normal(mu, sigma), y), path)
    now = load(path)
    added = type(calibrator)._later
    forged(path, lambda text, _: [text["state"]["state"].pop(name) for name in added])
    then = load(path)
    assert then.get_params() == clone(calibrator).get_params() and added
    np.testing.assert_array_equal(then.transform(Normal(mu, sigma)).cdf(y), now.transform(Normal(mu, sigma)).cdf(y))


def test_pairs_of_files_without_coupling_are_coupled_as_then(path, rng):
    p, y = rng.dirichlet(np.ones(4), 200), rng.integers(0, 4, 200)
    then = PairwiseCalibrator(coupling="likelihood").fit(p, y)
    save(then, path)
    forged(path, lambda text, _: text["state"]["state"].pop("coupling"))
    assert load(path).coupling == "likelihood"
    np.testing.assert_array_equal(load(path).transform(p), then.transform(p))


# ---- writing ----
def test_what_cannot_be_saved(data, path):
    mu, _, y = data
    model = CalibratedRegressor(BayesianRidge(), cv=3).fit(mu[:, None], y)
    with pytest.raises(TypeError, match=r"Save its \.calibrator_"):
        save(model, path)
    save(model.calibrator_, path)
    with pytest.raises(NotFittedError):
        save(QuantileCalibrator(), path)
    for other in (BayesianRidge(), QuantileCalibrator, "text", None):
        with pytest.raises(TypeError, match="must be a fitted calibrator of this library"):
            save(other, path)
    assert type(load(path)) is QuantileCalibrator  # still the last good one


def test_exactly_the_path_given_whole_or_not_at_all(data, tmp_path, monkeypatch):
    mu, sigma, y = data
    calibrator = QuantileCalibrator().fit(Normal(mu, sigma), y)
    save(calibrator, tmp_path / "no_suffix")
    save(calibrator, str(tmp_path / "no_suffix"))
    assert [item.name for item in tmp_path.iterdir()] == ["no_suffix"]
    whole = (tmp_path / "no_suffix").read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        save(calibrator, tmp_path / "no_suffix")
    assert (tmp_path / "no_suffix").read_bytes() == whole
    assert [item.name for item in tmp_path.iterdir()] == ["no_suffix"]
    with pytest.raises(OSError, match="No such file"):
        save(calibrator, tmp_path / "missing" / "file")


# ---- reading what cannot be trusted ----
def test_no_calibrator_files(tmp_path, data):
    for name, content in {"empty": b"", "text": b"hello", "zip": zipped({"a.txt": b"x"})}.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ValueError, match="is no calibrator file, or damaged"):
            load(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "missing")
    with pytest.raises(IsADirectoryError):
        load(tmp_path)


def zipped(members, compression=zipfile.ZIP_STORED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def test_bombs_and_liars(data, path):
    path.write_bytes(zipped({"calibrator.json": b"{}", "0.npy": bytes(10**7)}, zipfile.ZIP_DEFLATED))
    with pytest.raises(ValueError, match="too many or compressed"):
        load(path)
    mu, sigma, y = data
    save(QuantileCalibrator().fit(Normal(mu, sigma), y), path)

    def promise(text, members):
        head = io.BytesIO()
        np.lib.format.write_array_header_1_0(head, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)})
        members["0.npy"] = head.getvalue() + bytes(80)

    forged(path, promise)
    with pytest.raises(ValueError, match="an array is not as long as it says"):
        load(path)

    def objects(text, members):
        buffer = io.BytesIO()
        np.save(buffer, np.array([{}], dtype=object), allow_pickle=True)
        members["0.npy"] = buffer.getvalue()

    forged(path, objects)
    with pytest.raises(ValueError, match="an array is not as long as it says"):
        load(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.update(version=3), "has format version 3; this library .* reads 1 and 2"),
        (lambda text: text.update(version=2), "its arrays are not listed"),
        (lambda text: text.update(version=True), "has format version True; this library"),
        (lambda text: text.update(version=1.0), "has format version 1.0; this library"),
        (lambda text: text.update(rows="many"), "damaged: its `rows` is 'many'"),
        (lambda text: text.pop("metadata"), "damaged: its `metadata` is None"),
        (lambda text: text["state"]["state"].update(transform=None), "QuantileCalibrator has no 'transform'"),
        (lambda text: text["state"]["state"].update(_transform=None), "QuantileCalibrator has no '_transform'"),
        (lambda text: text["state"]["state"].update(other=1), "QuantileCalibrator has no 'other'"),
        (lambda text: text["state"]["state"].update(other_=1), "QuantileCalibrator has no 'other_'"),
        (lambda text: text["state"]["state"].update(_other={"list": []}), "QuantileCalibrator has no '_other'"),
        (lambda text: text["state"]["state"].update(atoms=text["state"]["state"]["map_"]), "array 0 is used twice"),
        (lambda text: text["metadata"].update(x=json.loads("[" * 300 + "]" * 300)), "too deep in one another"),
        (lambda text: text["metadata"].update(x=[0] * 1_100_000), "its text has too many parts"),
        (lambda text: text["metadata"].update(x=[{"class": 0}] * 61_000), "its text has too many parts"),
        (
            lambda text: text["state"]["state"].update(map_={"array": "x\n\x1b" * 1000}),
            r"array 'x\\n\\x1b.{1,60} is not",
        ),
        (lambda text: text["state"].update({"class": "a\nb"}), r"'a\\nb' is no part of a calibrator"),
        (lambda text: text["state"].update(other=1), "a part must have a class and a state"),
        (lambda text: text["state"]["state"]["map_"]["state"].update(other=1), "unexpected keyword argument 'other'"),
        (lambda text: text.update(state=text["state"]["state"]["map_"]), "it holds no calibrator"),
        (lambda text: text.update(format="other"), "of another kind"),
        (lambda text: text["state"].update({"class": "os.system"}), "'os.system' is no part of a calibrator"),
        (lambda text: text["state"].update({"class": "maps.SplineMap"}), "holds no sound calibrator"),
        (lambda text: text.update(state=3), "it holds no calibrator"),
        (lambda text: text["state"]["state"].pop("map"), "QuantileCalibrator needs map"),
        (lambda text: text["state"]["state"].pop("n_rows_"), "not fitted"),
        (lambda text: text["state"]["state"].update(map_=None), "holds no sound calibrator"),
        (lambda text: text["state"]["state"].update(map_={"array": 99}), "array 99 is not there"),
    ],
)
def test_forged_texts(data, path, change, message):
    mu, sigma, y = data
    save(QuantileCalibrator().fit(Normal(mu, sigma), y), path)
    forged(path, lambda text, _: change(text))
    with pytest.raises(ValueError, match=message) as raised:
        load(path)
    assert str(raised.value).isprintable() and len(str(raised.value)) < 500


@pytest.mark.parametrize("map", ["spline", "ecdf", "isotonic", "step", "kde"])
@pytest.mark.parametrize("bad", [np.nan, "unsorted"])
def test_knots_that_are_none(data, path, map, bad):
    mu, sigma, y = data
    save(QuantileCalibrator(map).fit(Normal(mu, sigma), y), path)
    knots = read(path)[0]["state"]["state"]["map_"]["state"]["knots"]["array"]

    def spoil(text, members):
        values = np.load(io.BytesIO(members[f"{knots}.npy"])).copy()
        values[2] = values[-1] + 1 if bad == "unsorted" else bad
        buffer = io.BytesIO()
        np.save(buffer, values)
        members[f"{knots}.npy"] = buffer.getvalue()

    forged(path, spoil)
    with pytest.raises(ValueError, match="holds no sound calibrator"):
        load(path)


def put(calibrator, way, change):
    """Change what lies at the end of a way of attributes and keys."""
    *before, last = way
    for step in before:
        calibrator = getattr(calibrator, step)
    if isinstance(calibrator, dict):
        calibrator[last] = change(calibrator[last])
    else:
        object.__setattr__(calibrator, last, change(getattr(calibrator, last)))


@pytest.mark.parametrize(
    ("calibrator", "way", "change", "message"),
    [
        (
            PointCalibrator("isotonic"),
            ["curve_", "knots"],
            lambda v: v[::-1].copy(),
            "BentLine.knots must not decrease",
        ),
        (PointCalibrator(), ["curve_", "values"], lambda v: v * np.inf, "BentLine.values must be finite"),
        (PointCalibrator(), ["curve_", "slopes"], lambda v: (np.nan, 1.0), "BentLine.slopes must be finite"),
        (PointCalibrator(), ["curve_", "slopes"], lambda v: (1.0, 1.0, 1.0), "a value for each knot, and two slopes"),
        (StackCalibrator(SCALES), ["weights_", "base"], lambda v: -0.5, "must be shares that add up to 1"),
        (StackCalibrator(SCALES), ["weights_", "base"], lambda v: v + 0.5, "must be shares that add up to 1"),
        (GPBetaCalibrator(4), ["_posterior", "mean"], lambda v: v[:, :-1], "a posterior of its 4 inducing points"),
        (GPBetaCalibrator(4), ["_posterior", "cover"], lambda v: v * np.inf, "Posterior.cover has NaN|must be finite"),
        (GPBetaCalibrator(4), ["_inducing"], lambda v: v + np.inf, "GPBetaCalibrator._inducing must be finite"),
        (GPBetaCalibrator(4), ["_hyperparameters", "shift"], lambda v: v[:2], "hyperparameters of three latents"),
        (ScaleCalibrator("bins", n_bins=4), ["edges_"], lambda v: v[::-1].copy(), "ScaleCalibrator.edges_ must not"),
        (ScaleCalibrator("bins", n_bins=4), ["factors_"], lambda v: -v, "factors_ must be positive, one a bin"),
        (DensityCalibrator(n_thresholds=9), ["thresholds_"], lambda v: v[::-1].copy(), "thresholds_ must not decrease"),
    ],
)
def test_what_was_learned_is_asked_whether_it_can_be(data, path, calibrator, way, change, message):
    mu, sigma, y = data
    fitted = clone(calibrator).fit(Normal(mu, sigma), y)
    save(fitted, path)
    assert type(load(path)) is type(fitted)
    put(fitted, way, change)
    save(fitted, path)
    with pytest.raises(ValueError, match=f"holds no sound calibrator: .*({message})"):
        load(path)


@pytest.mark.parametrize("calibrator", [BinningCalibrator(5), IsotonicCalibrator(), VennAbersCalibrator()])
def test_curves_that_give_no_probabilities(calibrator, path, rng):
    p = rng.random(200)
    fitted = clone(calibrator).fit(p, (rng.random(200) < p).astype(int))
    curve = fitted.curves_[0]
    for name in set(vars(curve)) - {"knots", "edges"}:
        object.__setattr__(curve, name, 3 * getattr(curve, name))
    save(fitted, path)
    with pytest.raises(ValueError, match="must give probabilities"):
        load(path)
    fitted.curves_ = [AffineMap()]
    save(fitted, path)
    with pytest.raises(ValueError, match=r"curves_ must be curves of probabilities"):
        load(path)


def test_points_after_points(data, path):
    mu, _, y = data
    chain = Chain([PointCalibrator(), ResidualCalibrator()]).fit(mu, y)
    save(chain, path)
    np.testing.assert_array_equal(load(path).transform(mu).median(), chain.transform(mu).median())


def test_the_digest_is_checked_before_anything_is_told(data, path):
    mu, sigma, y = data
    for old, new in ((b'"rows": 200', b'"rows": 999'), (b'"method": "Q', b'"method": "R')):
        save(QuantileCalibrator().fit(Normal(mu, sigma), y), path)
        with zipfile.ZipFile(path) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        members["calibrator.json"] = members["calibrator.json"].replace(old, new)
        path.write_bytes(zipped(members))
        with pytest.raises(ValueError, match="the digest differs"):
            describe(path)


def test_many_arrays_are_packed(path, rng):
    """Two thousand groups of two rows, learned from summaries as the command line does, in a megabyte."""
    n = 4_000
    mu, groups = rng.normal(size=n), np.arange(n) // 2
    law, y = Normal(mu, 1.0), mu + 2 * rng.standard_normal(n)
    calibrator = GroupedCalibrator(QuantileCalibrator()).partial_fit(law, y, groups=groups)
    save(calibrator, path)
    again = load(path)
    assert path.stat().st_size < 1.2 * 2**20 and describe(path)["version"] == 2
    assert len(again.summary_.groups) == 2_000 and again.summary_.n_rows == n
    for group in (0, 77, 1_999):
        one, two = (c.summary_.groups[group].grid for c in (calibrator, again))
        assert all(np.array_equal(a, b) for a, b in zip(vars(one).values(), vars(two).values(), strict=True))
    np.testing.assert_array_equal(
        again.transform(law, groups=groups).cdf(y), calibrator.transform(law, groups=groups).cdf(y)
    )


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (None, "not listed"),
        ([[0, [1]]] * 500_001, "not listed, or too many"),
        ([0], "of no member"),
        ([[3, [1]]], "of no member"),
        ([[True, [1]]], "of no member"),
        ([[0, [-1]]], "no such shape"),
        ([[0, [1024, 1024]]], "no such shape"),
        ([[0, [0, 1024, 1024]]], "no such shape"),
        ([[0, [1] * 9]], "no such shape"),
        ([[0, [3]], [0, [3]]], "not as long as it says"),
        ([[1, [2]]], "not as long as it says"),
    ],
)
def test_an_index_of_arrays_that_is_none(index, message):
    with pytest.raises(ValueError, match=message):
        unpacked([np.zeros(5), np.zeros((2, 2))], index)


def test_mutated_files(data, path):
    mu, sigma, y = data
    calibrator = Chain([ScaleCalibrator(), QuantileCalibrator()]).fit(Normal(mu, sigma), y)
    save(calibrator, path)
    whole, rng = path.read_bytes(), np.random.default_rng(0)
    expected = calibrator.transform(Normal(mu, sigma)).cdf(y)
    for _ in range(400):
        content = bytearray(whole)
        how = rng.integers(3)
        if how == 0:
            for place in rng.integers(len(content), size=rng.integers(1, 4)):
                content[place] ^= 1 << rng.integers(8)
        elif how == 1:
            content = content[: rng.integers(len(content))]
        else:
            start = rng.integers(len(content))
            content[start : start + rng.integers(1, 40)] = rng.bytes(rng.integers(0, 40))
        path.write_bytes(content)
        try:
            again = load(path)
        except ValueError:
            continue
        np.testing.assert_array_equal(again.transform(Normal(mu, sigma)).cdf(y), expected)
